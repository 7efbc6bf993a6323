//! Modules: how they are found, loaded and called, and their own processes.

pub(crate) mod codes;
pub mod modules;
pub mod process;
pub mod tpm2_pkcs11;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cryptoki::context::Pkcs11;
use cryptoki::error::{Error as CryptokiError, RvError};
use keymark_bench::{During as _, Error};
use keymark_native::cryptoki::Calls;
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use keymark_shim_protocol::pkcs11::settings::Settings;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::places::library::OwnLibrary;
use crate::places::program;
use crate::sayings;
use crate::user::Pins;

/// A module's file, and what it is to find in its environment when it is initialized, where that is not the
/// user's: configurations and services are told to modules in no other way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleFile {
    pub path: PathBuf,
    pub environment: BTreeMap<String, OsString>,
    /// Text for the module in `pReserved`, where it wants any.
    pub reserved: Option<String>,
}

impl ModuleFile {
    /// Makes one with the user's configuration.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            environment: BTreeMap::new(),
            reserved: None,
        }
    }

    /// The environment of another process that loads the module: of the user's what the module is known to read, and
    /// of a module that is not known all but secrets. PINs stay here.
    pub(crate) fn environment_without(&self, pins: &Pins) -> Vec<(OsString, OsString)> {
        let pins = pins.variables();
        let read = modules::read_by(&self.path);
        let is_passed = |name: &str| match &read {
            Some(read) => read.contains(&name) || is_for_every_module(name),
            None => !names_a_secret(name),
        };
        let kept = std::env::vars_os().filter(|(name, _)| {
            name.to_str().is_some_and(|name| {
                is_passed(name) && !pins.contains(&name) && !self.environment.contains_key(name)
            })
        });
        let own = self
            .environment
            .iter()
            .map(|(name, value)| (name.into(), value.clone()));
        kept.chain(own).collect()
    }
}

/// Prefixes of variables by which modules and the libraries behind them find services: pcscd, the TPM's broker, the
/// user's directories; and keymark its own libraries.
const SERVICES: [&str; 4] = ["PCSCLITE_", "DBUS_", "TSS2_", "XDG_"];
const OWN: [&str; 2] = ["KEYMARK_PCSC_", "KEYMARK_PKCS11_"];

fn is_for_every_module(name: &str) -> bool {
    ["TMPDIR", "LC_ALL", "LANG"].contains(&name)
        || program::BASE.contains(&name)
        || program::SETTINGS.contains(&name)
        || SERVICES
            .iter()
            .chain(&OWN)
            .any(|begin| name.starts_with(begin))
}

/// Returns whether a variable has a secret by its name: `PGPASSWORD`, `GITHUB_TOKEN`; and so does the address of an
/// archive.
fn names_a_secret(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "PASS",
        "SECRET",
        "TOKEN",
        "CREDENTIAL",
        "API_KEY",
        "APIKEY",
        "ACCESS_KEY",
        "PRIVATE_KEY",
        "KEYMARK_ARCHIVE",
    ];
    let name = name.to_ascii_uppercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// A module, initialized. It stays so until the process ends: not all can be initialized again.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) client: Pkcs11,
    pub(crate) calls: Calls,
}

impl Module {
    /// Loads and initializes it, or gives the one that is: a process has one module. One that nobody knows is looked at in
    /// a process of its own first (`process/`).
    pub(crate) fn load(file: &ModuleFile) -> Result<Arc<Self>, Error> {
        static LOADED: Mutex<Option<(ModuleFile, Arc<Module>)>> = Mutex::new(None);
        let mut loaded = LOADED.lock();
        if let Some((known, module)) = &*loaded
            && known == file
        {
            return Ok(Arc::clone(module));
        }
        let module = Arc::new(Self::initialized(file)?);
        *loaded = Some((file.clone(), Arc::clone(&module)));
        Ok(module)
    }

    fn initialized(file: &ModuleFile) -> Result<Self, Error> {
        let path = &file.path;
        let client = Pkcs11::new(path).map_err(|error| not_loaded(path, error))?;
        let calls = Calls::of(path).map_err(|error| no_module(path, &error.to_string()))?;
        initialize(file, &client)?;
        one_instance(path, &calls)?;
        Ok(Self { client, calls })
    }
}

/// Initializes it, by what it is to find.
pub(crate) fn initialize(file: &ModuleFile, client: &Pkcs11) -> Result<(), Error> {
    let arguments =
        keymark_native::cryptoki::arguments(file.reserved.as_deref()).during("C_Initialize")?;
    let _under_way = UnderWay::begin(Call::C_Initialize);
    match client.initialize(arguments) {
        Ok(()) => Ok(()),
        // By this process, through another module that uses it.
        Err(CryptokiError::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => Ok(()),
        Err(error) => Err(modules::explained(&file.path, codes::failed(error))),
    }
}

/// Sessions of the crate's are to be good for the calls that are timed.
pub(crate) fn one_instance(path: &Path, calls: &Calls) -> Result<(), Error> {
    if calls.are_initialized() {
        return Ok(());
    }
    Err(Error::call(
        format!("using {}", path.display()),
        "it is a proxy, which gives each caller a different module",
        "name the module behind it, or the token by its URI: --device pkcs11:token=LABEL",
    ))
}

pub(crate) fn not_loaded(path: &Path, error: CryptokiError) -> Error {
    match codes::returned(&error) {
        // It is a module, and gives out no functions.
        Some(_) => modules::explained(path, codes::failed(error)),
        None => no_module(path, &error.to_string()),
    }
}

const NO_MODULE: &str = include_str!("../../../../../data/pkcs11/loading.txt");

pub(crate) fn no_module(path: &Path, reason: &str) -> Error {
    let name = path.display().to_string();
    let reason = reason
        .trim_start_matches("libloading error (")
        .trim_end_matches(')');
    let reason = reason.strip_prefix(&format!("{name}: ")).unwrap_or(reason);
    let by_name = path.components().count() == 1 && !name.contains('/');
    let said = match path.exists() {
        false => "(absent)",
        true if by_name && reason.contains("cannot open shared") => "(by name)",
        true => reason,
    };
    let mut known = sayings::rows(NO_MODULE);
    let known = known.find(|(words, ..)| said.contains(words));
    let (_, meaning, advice) = known.unwrap_or(("", "%", ""));
    Error::call(
        format!("loading {name}"),
        meaning.replace('%', reason),
        advice,
    )
}

/// Puts keymark's module there, with its settings, under that name. It is a copy: a process that loads two
/// wrapped modules has two libraries, where of a link it would have one.
pub fn wrapped(settings: &Settings, directory: &Path, name: &str) -> Result<PathBuf, Error> {
    let library = OwnLibrary::PKCS11.find()?;
    let module = directory.join(name);
    let settled = Settings::beside(&module);
    fs::copy(&library, &module).during(format_args!("copying {}", library.display()))?;
    settings
        .write(&settled)
        .during(format_args!("writing {}", settled.display()))?;
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_by_their_names() {
        for name in [
            "PGPASSWORD",
            "PGPASSFILE",
            "GITHUB_TOKEN",
            "aws_secret_access_key",
            "KEYMARK_ARCHIVE",
        ] {
            assert!(names_a_secret(name) && !is_for_every_module(name), "{name}");
        }
        for name in [
            "PATH",
            "SOFTHSM2_CONF",
            "NFAST_HOME",
            "ChrystokiConfigurationPath",
        ] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn a_known_module_gets_what_it_reads() {
        let read = |file: &str| modules::read_by(Path::new(file));
        assert_eq!(
            read("/usr/lib/softhsm/libsofthsm2.so"),
            Some(vec!["SOFTHSM2_CONF"])
        );
        assert_eq!(read("/opt/unknown.so"), None);
        assert_eq!(read("pkcs11-spy.so"), None, "it hands calls on");
    }
}
