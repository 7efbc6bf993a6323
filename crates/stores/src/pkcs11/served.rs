//! A token of keymark's own for other programs, as long as keymark keeps it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, StoreIdentity};

use super::access::{KeyWay, ModuleAccess};
use super::device::{OwnDevice, Wanted};
use super::for_programs::is_known_to_programs;
use super::module::ModuleFile;
use super::modules::Places;
use super::own::{OwnKind, OwnToken};
use crate::device::Device as _;
use crate::software::SoftwareStore;
use crate::user::Pin;

/// Keys of a token that imitates no device.
const USUAL: [&str; 2] = ["rsa2048", "nistp256"];

/// The token, its keys and its PIN. All of it is gone with the value.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
pub struct ServedToken {
    device: OwnDevice,
    keys: Vec<ServedKey>,
    pin_file: PathBuf,
    pin: Pin,
    token_uri: String,
    file: ModuleFile,
}

/// One of its keys.
#[derive(Debug, Clone)]
pub struct ServedKey {
    pub algorithm: Algorithm,
    /// RFC 7512, with the file that has the PIN.
    pub uri: String,
}

impl ServedToken {
    /// Makes one with keys of these algorithms, or of all that its device has.
    ///
    /// # Errors
    /// When the software is not here, or a key cannot be written.
    pub fn make(kind: &OwnKind, algorithms: Option<&[Algorithm]>) -> Result<Self, Error> {
        let own = OwnToken::make(kind, &Places::of_user())?;
        let place = own.place_of_programs().ok_or_else(|| {
            let reason = format!("{} takes no keys from outside", kind.name());
            Error::call("serving a token", reason, "softhsm, kryoptic and twins do")
        })?;
        let (pin_file, pin) = (place.join("pin"), own.pin.clone());
        write_pin(&pin_file, &pin)?;
        let device = OwnDevice::of(own, Wanted::ByName);
        let token = device.token()?;
        let algorithms = match algorithms {
            Some(algorithms) => algorithms.to_vec(),
            None => usual(&device, kind),
        };
        let (store, mut keys, mut token_uri) = (SoftwareStore::default(), Vec::new(), None);
        for algorithm in algorithms {
            let key = store.made_for(capability(&device, algorithm)?)?;
            let access = ModuleAccess {
                token: Arc::clone(&token),
                way: KeyWay::Test(key),
            };
            let known = access.for_programs()?;
            token_uri.get_or_insert_with(|| known.token_uri());
            let uri = known.uri(Some(&pin_file));
            keys.push(ServedKey { algorithm, uri });
        }
        let nothing = || Error::call("serving a token", "it would have no key", "");
        Ok(Self {
            file: token.file().clone(),
            token_uri: token_uri.ok_or_else(nothing)?,
            device,
            keys,
            pin_file,
            pin,
        })
    }

    /// What it is.
    #[must_use]
    pub fn identity(&self) -> &StoreIdentity {
        self.device.identity()
    }

    /// What other programs load.
    #[must_use]
    pub fn module(&self) -> &Path {
        &self.file.path
    }

    /// The token, without a key.
    #[must_use]
    pub fn token_uri(&self) -> &str {
        &self.token_uri
    }

    /// Its keys.
    #[must_use]
    pub fn keys(&self) -> &[ServedKey] {
        &self.keys
    }

    /// Its user PIN, which nobody else has.
    #[must_use]
    pub const fn pin(&self) -> &Pin {
        &self.pin
    }

    /// The file with the PIN, which only the user can read.
    #[must_use]
    pub fn pin_file(&self) -> &Path {
        &self.pin_file
    }

    /// What has to stand in the environment of other programs.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let text = |value: &OsString| value.to_string_lossy().into_owned();
        let variables = self.file.environment.iter();
        variables
            .map(|(name, value)| (name.clone(), text(value)))
            .collect()
    }
}

fn usual(device: &OwnDevice, kind: &OwnKind) -> Vec<Algorithm> {
    let of_device = device.capabilities().iter();
    let mut algorithms: Vec<Algorithm> = of_device
        .map(|capability| capability.algorithm)
        .filter(|algorithm| is_known_to_programs(algorithm.family()))
        .filter(|algorithm| kind.profile().is_some() || USUAL.contains(&algorithm.name()))
        .collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    algorithms
}

/// Whatever the device does with such a key.
fn capability(device: &OwnDevice, algorithm: Algorithm) -> Result<Capability, Error> {
    let mut can = device.capabilities().iter();
    let found = can
        .find(|capability| capability.algorithm == algorithm)
        .copied();
    let served = found.filter(|_| is_known_to_programs(algorithm.family()));
    served.ok_or_else(|| {
        crate::store::unsupported(
            device.identity().device.to_string(),
            Capability {
                algorithm,
                operation: Operation::Sign,
            },
        )
    })
}

fn write_pin(file: &Path, pin: &Pin) -> Result<(), Error> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true).mode(0o600);
    options
        .open(file)
        .and_then(|mut to| std::io::Write::write_all(&mut to, pin.expose().as_bytes()))
        .map_err(|error| Error::call(format!("writing {}", file.display()), error, ""))
}
