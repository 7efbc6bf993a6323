//! Where keys are looked for: files, devices, servers.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use keymark_advice::audit::device::Device as Known;
use keymark_advice::audit::{Failure as Unread, Finding, FoundKey, Location, Read};
use keymark_bench::Error;
use keymark_stacks::tls::{Address, Remote};
use keymark_stores::device::{Device, PublicDer, Wish};
use keymark_stores::registry;

use crate::args::AuditArguments;
use crate::exit::Failure;
use crate::{output, user};

/// What was read everywhere.
#[derive(Default)]
pub(super) struct Found {
    /// Keys, with what is known against their devices.
    pub keys: Vec<(FoundKey, Vec<Finding>)>,
    /// What could not be read.
    pub failures: Vec<Unread>,
    /// Files without a key.
    pub others: usize,
}

impl Found {
    /// Adds what a target has; of one that is a device, with its weaknesses.
    fn add(&mut self, read: Read, device: Option<&Known>) {
        let keys = read.keys.into_iter().map(|key| {
            let known = device.map(|device| device.weaknesses(&key.key));
            (key, known.unwrap_or_default())
        });
        self.keys.extend(keys);
        self.failures.extend(read.failures);
        self.others += read.others;
    }
}

pub(super) fn read(arguments: &AuditArguments) -> Result<Found, Failure> {
    let mut found = Found::default();
    let own;
    let targets = if arguments.targets.is_empty() {
        own = of_user()?;
        &own
    } else {
        &arguments.targets
    };
    for target in targets {
        match target.as_str() {
            "-" => found.add(stdin()?, None),
            "card" => devices(&Wish::Inserted, &mut found)?,
            uri if uri.starts_with("pkcs11:") => {
                devices(&Wish::Named(vec![token_alone(uri)]), &mut found)?;
            }
            path if Path::new(path).exists() => {
                let mut read = Read::default();
                read.path(Path::new(path));
                found.add(read, None);
            }
            other => match other.parse::<Address>() {
                Ok(address) => found.add(server(address, arguments)?, None),
                Err(_) => {
                    return Err(Failure::usage(format!(
                        "'{other}' is neither a file or directory nor HOST:PORT, 'card' or a pkcs11: URI"
                    )));
                }
            },
        }
    }
    Ok(found)
}

/// What a user has, where nothing is named.
fn of_user() -> Result<Vec<String>, Failure> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let home = variable("HOME");
    let in_home = |name: &str| home.as_ref().map(|home| home.join(name));
    let gnupg = variable("GNUPGHOME").or_else(|| in_home(".gnupg"));
    let in_gnupg = |name: &str| gnupg.as_ref().map(|gnupg| gnupg.join(name));
    let usual = [
        in_home(".ssh"),
        in_gnupg("pubring.kbx"),
        in_gnupg("pubring.gpg"),
    ];
    let here = usual.into_iter().flatten().filter(|path| path.exists());
    let here: Vec<String> = here.map(|path| path.display().to_string()).collect();
    if here.is_empty() {
        let message = "there is neither ~/.ssh nor a keyring of GnuPG; name what to look at";
        return Err(Failure::nothing_usable(message));
    }
    output::note(&format!("looking at {}", here.join(", ")));
    Ok(here)
}

fn stdin() -> Result<Read, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure::failed(format!("reading stdin: {error}")))?;
    let mut read = Read::default();
    read.bytes("stdin", &bytes);
    Ok(read)
}

/// A token's public keys are seen without a PIN, but a key that is named is looked for with it.
fn token_alone(uri: &str) -> String {
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let of_key = ["object=", "id=", "type="];
    let is_kept = |part: &&str| !of_key.iter().any(|name| part.starts_with(name));
    let path = path.trim_start_matches("pkcs11:").split(';');
    let path: Vec<&str> = path.filter(is_kept).collect();
    let query: Vec<&str> = query
        .split('&')
        .filter(|part| part.starts_with("module-"))
        .collect();
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{}", query.join("&"))
    };
    format!("pkcs11:{}{query}", path.join(";"))
}

/// Nothing is written to a device here, and no PIN is sent.
fn devices(wish: &Wish, found: &mut Found) -> Result<(), Failure> {
    let all = registry::look(wish, &user::of_pinentry()).map_err(Failure::nothing_usable)?;
    for reader in &all.occupied {
        output::warning(&format!(
            "the card in '{reader}' is in use by another program; 'gpgconf --kill scdaemon' makes GnuPG let go of it"
        ));
    }
    if all.devices.is_empty() {
        let reason = all.unseen.map_or_else(
            || "no token was found; 'keymark devices' shows what is here".to_owned(),
            |error| error.to_string(),
        );
        return Err(Failure::nothing_usable(reason));
    }
    for device in &all.devices {
        let read = public_parts(device.as_ref())?;
        let identity = device.identity();
        let known = Known {
            product: identity.product.clone(),
            firmware: identity.versions.get("firmware").cloned(),
        };
        if read.keys.is_empty() {
            output::note(&format!(
                "{} shows no public key without a PIN",
                identity.device
            ));
        }
        found.add(read, Some(&known));
    }
    Ok(())
}

fn public_parts(device: &dyn Device) -> Result<Read, Error> {
    let identity = device.identity();
    let place = Location::of(format!("{} ({})", identity.device, identity.product));
    let mut read = Read::default();
    for part in device.public_parts()? {
        match &part.der {
            PublicDer::Key(der) => read.public_key(&place, &part.name, der),
            PublicDer::Certificate(der) => read.certificate(&place, der),
        }
    }
    Ok(read)
}

/// Asking somebody else's server is for its owner to allow, as it is with a load.
fn server(address: Address, arguments: &AuditArguments) -> Result<Read, Failure> {
    let remote = Remote {
        address,
        server_name: None,
        path: String::new(),
        authority: None,
        weak: Default::default(),
    };
    let addresses = remote.address.resolve().map_err(Failure::nothing_usable)?;
    if !arguments.i_own_this_server && !Remote::is_loopback(&addresses) {
        return Err(Failure::usage(format!(
            "{} is not this machine; confirm with --i-own-this-server that it is yours",
            remote.address
        )));
    }
    let chain = remote.certificates(&addresses);
    let chain = chain.map_err(Failure::nothing_usable)?;
    let place = Location::of(remote.address.to_string());
    let mut read = Read::default();
    chain.iter().for_each(|der| read.certificate(&place, der));
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_uri_the_token_is_kept_and_the_key_is_not() {
        assert_eq!(
            token_alone("pkcs11:token=web;object=key;id=%01;type=private?pin-source=file:/x"),
            "pkcs11:token=web"
        );
        assert_eq!(
            token_alone("pkcs11:object=key?pin-value=1&module-name=softhsm2"),
            "pkcs11:?module-name=softhsm2"
        );
        assert_eq!(token_alone("pkcs11:serial=1"), "pkcs11:serial=1");
    }
}
