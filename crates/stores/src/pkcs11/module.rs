//! Modules that are loaded into this process.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cryptoki::context::Pkcs11;
use cryptoki::error::{Error as CryptokiError, RvError};
use keymark_bench::error::{During as _, Error};
use keymark_native::cryptoki::Calls;
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::{codes, modules};
use crate::sayings;
use crate::user::Pins;

/// A module's file, and what it is to find in its environment when it is initialised, where that is not the
/// user's: configurations and services are told to modules in no other way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModuleFile {
    pub path: PathBuf,
    pub environment: BTreeMap<String, OsString>,
    /// What it is to find in `pReserved`, where it wants anything there.
    pub reserved: Option<String>,
}

impl ModuleFile {
    /// With the user's configuration.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            environment: BTreeMap::new(),
            reserved: None,
        }
    }

    /// The environment of another process that loads the module: modules find their configuration and services by it.
    /// PINs stay here.
    pub(super) fn environment_without(&self, pins: &Pins) -> Vec<(OsString, OsString)> {
        let pins = pins.variables();
        let own = &self.environment;
        let is_ours = |name: &OsString| own.keys().any(|ours| *name == **ours);
        let is_pin = |name: &OsString| pins.iter().any(|pin| *name == **pin);
        let kept = std::env::vars_os().filter(|(name, _)| !is_pin(name) && !is_ours(name));
        let own = own.iter().map(|(name, value)| (name.into(), value.clone()));
        kept.chain(own).collect()
    }
}

/// A module, initialised. It stays so until the process ends: not all can be initialised again.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) client: Pkcs11,
    pub(super) calls: Calls,
}

impl Module {
    /// Loads and initialises it, or gives the one that is. A module that nobody knows is looked at in a
    /// process of its own first (`process/`).
    pub(super) fn load(file: &ModuleFile) -> Result<Arc<Self>, Error> {
        type Loaded = HashMap<PathBuf, (ModuleFile, Arc<Module>)>;
        static LOADED: OnceLock<Mutex<Loaded>> = OnceLock::new();
        let mut loaded = LOADED.get_or_init(Mutex::default).lock();
        let real = file
            .path
            .canonicalize()
            .unwrap_or_else(|_| file.path.clone());
        if let Some((with, module)) = loaded.get(&real) {
            if (&with.environment, &with.reserved) != (&file.environment, &file.reserved) {
                return Err(Error::call(
                    format!("C_Initialize of {}", file.path.display()),
                    "it is in use with another configuration, and a process can have only one",
                    "measure the temporary token and your own of the same library in two runs",
                ));
            }
            return Ok(Arc::clone(module));
        }
        let module = Arc::new(Self::initialized(file)?);
        loaded.insert(real, (file.clone(), Arc::clone(&module)));
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

/// Initialises it, by what it is to find.
pub(super) fn initialize(file: &ModuleFile, client: &Pkcs11) -> Result<(), Error> {
    let arguments =
        keymark_native::cryptoki::arguments(file.reserved.as_deref()).during("C_Initialize")?;
    let _under_way = UnderWay::begin(Call::C_Initialize);
    match client.initialize(arguments) {
        Ok(()) => Ok(()),
        // By this process, through another module that stands on it.
        Err(CryptokiError::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => Ok(()),
        Err(error) => Err(modules::explained(&file.path, codes::failed(error))),
    }
}

/// Sessions of the crate's are to be good for the calls that are timed.
pub(super) fn one_instance(path: &Path, calls: &Calls) -> Result<(), Error> {
    if calls.are_initialized() {
        return Ok(());
    }
    Err(Error::call(
        format!("using {}", path.display()),
        "it is a proxy, which gives each caller a different module",
        "name the module behind it, or the token by its URI: --device pkcs11:token=LABEL",
    ))
}

/// What the loader says, in fewer words.
pub(super) fn not_loaded(path: &Path, error: CryptokiError) -> Error {
    match codes::returned(&error) {
        // It is a module, and gives out no functions.
        Some(_) => modules::explained(path, codes::failed(error)),
        None => no_module(path, &error.to_string()),
    }
}

/// What the loader says of a file that is no module, what that means ('%' is what it says), and what to do.
const NO_MODULE: &str = include_str!("../../../../data/pkcs11/loading.txt");

pub(super) fn no_module(path: &Path, reason: &str) -> Error {
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
