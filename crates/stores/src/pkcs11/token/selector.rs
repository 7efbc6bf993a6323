//! Names of a PKCS#11 device: a module by its file or name, a URI, or a token of
//! keymark's own.

use std::path::{Path, PathBuf};

use keymark_bench::Error;

use crate::pkcs11::module::ModuleFile;
use crate::pkcs11::module::modules::Places;
use crate::pkcs11::temporary::ManagedKind;
use crate::pkcs11_uri::{Pkcs11Uri, SCHEME, UriError};

/// The name of a device, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenSelector {
    Own(ManagedKind),
    /// URI of tokens. A module that is named by its file means every token in it.
    Uri(Box<Pkcs11Uri>),
}

impl TokenSelector {
    /// Understands a name; none: it is no name of a PKCS#11 device.
    pub(crate) fn parse(name: &str, places: &Places) -> Option<Result<Self, Error>> {
        if let Some(own) = ManagedKind::named(name) {
            return Some(Ok(Self::Own(own)));
        }
        if name.starts_with(SCHEME) {
            let uri = name.parse().map(Box::new).map(Self::Uri);
            return Some(uri.map_err(|error| {
                let has_advice = matches!(error, UriError::PinValue | UriError::PinProgram);
                let advice = if has_advice {
                    ""
                } else {
                    "in --device, write a comma as %2C"
                };
                // Not the URI itself: a PIN may be in it.
                Error::call("reading the pkcs11: URI", error, advice)
            }));
        }
        // What begins like a path is one, whatever the file is called.
        if ["/", "./", "../"].iter().any(|path| name.starts_with(path)) {
            return Some(Ok(Self::of_file(name.into())));
        }
        // Of other names those of modules that are there, also by their file's name.
        if let Some(known) = places.named(name) {
            return Some(Ok(Self::of_file(known.file.path)));
        }
        let file = Path::new(name).file_name().and_then(|name| name.to_str());
        let is_library = |file: &str| file.ends_with(".so") || file.contains(".so.");
        file.is_some_and(is_library)
            .then(|| Ok(Self::of_file(name.into())))
    }

    fn of_file(file: PathBuf) -> Self {
        Self::Uri(Box::new(Pkcs11Uri {
            module_path: Some(file),
            ..Pkcs11Uri::default()
        }))
    }
}

/// The modules to look at, as they are to be loaded: what the URI says goes before p11-kit's settings.
pub(crate) fn modules(uri: &Pkcs11Uri, places: &Places) -> Result<Vec<ModuleFile>, Error> {
    let files = match (&uri.module_path, &uri.module_name) {
        (Some(file), _) => vec![places.to_load(file)],
        (None, Some(name)) => {
            let known = places.named(name).map(|module| vec![module.file]);
            known.ok_or_else(|| {
                let reason = format!("no module matches '{name}'");
                let advice = "'keymark devices' lists them; module-path=/PATH names any file";
                Error::call("looking for a PKCS#11 module", reason, advice)
            })?
        }
        (None, None) => {
            let known = places.modules().into_iter();
            known.map(|module| module.file).collect()
        }
    };
    let as_wanted = |known: ModuleFile| ModuleFile {
        reserved: uri.reserved.clone().or(known.reserved),
        ..known
    };
    Ok(files.into_iter().map(as_wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_devices_are_left_to_them() {
        let places = Places {
            registrations: Vec::new(),
            libraries: Vec::new(),
            files: Vec::new(),
        };
        let parsed = |name: &str| TokenSelector::parse(name, &places);
        for other in [
            "software",
            "virtual",
            "0a1b2c3d",
            "twin:./my-card.toml",
            "YubiKey",
            "all",
        ] {
            assert_eq!(parsed(other), None, "{other}");
        }
        for own in ManagedKind::all() {
            let name = own.name();
            assert_eq!(parsed(&name), Some(Ok(TokenSelector::Own(own))));
        }
        // The twin of a card is another family's.
        assert_eq!(parsed("twin:yubikey-4"), None);
        assert!(matches!(
            parsed("twin:nitrokey-hsm"),
            Some(Ok(TokenSelector::Own(ManagedKind::Twin(_))))
        ));
        for file in [
            "/usr/lib/libx.so",
            "libx.so",
            "./libx.so.1",
            "lib/libx.so",
            "/opt/maker/module",
            "./module",
        ] {
            assert_eq!(parsed(file), Some(Ok(TokenSelector::of_file(file.into()))));
        }
        let error = parsed("pkcs11:token=a?pin-value=1234")
            .unwrap()
            .unwrap_err();
        assert!(!error.to_string().contains("1234"), "{error}");
    }
}
