//! A token of keymark's own for other programs, as long as keymark keeps it.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::places::private_dir::PIN_FILE;
use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, During as _, Error, Operation, StoreIdentity};

use super::{ManagedKind, ManagedToken};
use crate::access::Certificate;
use crate::device::{Device as _, Run};
use crate::pkcs11::module::modules::Places;
use crate::pkcs11::module::process::DeviceChoice;
use crate::pkcs11::token::device::TokenDevice;
use crate::pkcs11::token::external_access::is_known_to_programs;
use crate::store::once_each;
use crate::user::Pin;

/// Keys of a token that imitates no device.
const USUAL: [&str; 2] = ["rsa2048", "nistp256"];

/// The token, its keys and its PIN. All of it is gone with the value.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
pub struct ServedToken {
    device: TokenDevice,
    pub keys: Vec<ServedKey>,
    /// The file with the PIN, which only the user can read.
    pub pin_file: PathBuf,
    /// Its user PIN, which nobody else has.
    pub pin: Pin,
    /// The token, without a key.
    pub token_uri: String,
    /// Module that other programs load.
    pub module: PathBuf,
}

/// A key of a served token.
#[derive(Debug, Clone, serde::Serialize)]
pub struct ServedKey {
    pub algorithm: Algorithm,
    /// RFC 7512, with the file that has the PIN.
    pub uri: String,
}

impl ServedToken {
    /// Makes one with keys of these algorithms, or of all that its device has.
    pub fn make(kind: &ManagedKind, algorithms: Option<&[Algorithm]>) -> Result<Self, Error> {
        let (own, place) = ManagedToken::make_to_serve(kind, &Places::of_user())?;
        let (pin_file, pin) = (place.join(PIN_FILE), own.pin.clone());
        write_private(&pin_file, pin.expose())?;
        let module = own.found.file.path.clone();
        write_configurations(&place, &module)?;
        let device = TokenDevice::of_managed(own, DeviceChoice::ByName);
        let store = device.open(&Run::new(0))?;
        let algorithms = match algorithms {
            Some(algorithms) => algorithms.to_vec(),
            None => usual(&device, kind),
        };
        let (mut keys, mut token_uri) = (Vec::new(), None);
        for algorithm in algorithms {
            let key = store.key(capability(&device, algorithm)?)?;
            let access = store.access(&key)?.into_module()?;
            // Java and gnupg-pkcs11-scd see no key without one.
            let known = access.program_key(Certificate::Wanted)?;
            token_uri.get_or_insert_with(|| known.token_uri());
            let uri = known.uri(Some(&pin_file));
            keys.push(ServedKey { algorithm, uri });
        }
        let nothing = || Error::call("serving a token", "it would have no key", "");
        Ok(Self {
            module,
            token_uri: token_uri.ok_or_else(nothing)?,
            device,
            keys,
            pin_file,
            pin,
        })
    }

    /// Returns its identity.
    pub fn identity(&self) -> &StoreIdentity {
        self.device.identity()
    }
}

fn usual(device: &TokenDevice, kind: &ManagedKind) -> Vec<Algorithm> {
    let of_device = device.capabilities().iter();
    let algorithms = of_device
        .map(|capability| capability.algorithm)
        .filter(|algorithm| is_known_to_programs(algorithm.family()))
        .filter(|algorithm| kind.profile().is_some() || USUAL.contains(&algorithm.name()));
    once_each(algorithms)
}

/// Whatever the device does with such a key.
fn capability(device: &TokenDevice, algorithm: Algorithm) -> Result<Capability, Error> {
    let mut can = device.capabilities().iter();
    let found = can
        .find(|capability| capability.algorithm == algorithm)
        .copied();
    let served = found.filter(|_| is_known_to_programs(algorithm.family()));
    served.ok_or_else(|| {
        crate::store::unsupported(
            device.identity().device.to_string(),
            Capability::new(algorithm, Operation::Sign),
        )
    })
}

/// Configurations of programs that know the module by a file of their own, where its file replaces `= MODULE`:
/// OpenSSL for libp11's engine and for pkcs11-provider, and Java.
const CONFIGURATIONS: [(&str, &str); 3] = [
    // Without `init`, nginx finds the engine not initialized.
    ("openssl.cnf", include_str!("openssl.cnf")),
    // SoftHSM2 uses OpenSSL, which has been cleaned up when the provider would finalize it.
    ("provider.cnf", include_str!("provider.cnf")),
    ("java.cfg", include_str!("java.cfg")),
];

fn write_configurations(place: &Path, module: &Path) -> Result<(), Error> {
    let module = format!("= {}", module.display());
    CONFIGURATIONS.iter().try_for_each(|(name, text)| {
        write_private(&place.join(name), &text.replace("= MODULE", &module))
    })
}

/// Writes a file that only the user can read.
fn write_private(file: &Path, text: &str) -> Result<(), Error> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    options
        .open(file)
        .and_then(|mut to| std::io::Write::write_all(&mut to, text.as_bytes()))
        .during(format_args!("writing {}", file.display()))
}
