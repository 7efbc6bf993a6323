//! The key store `software`: keys in this CPU's memory, operations by OpenSSL or another
//! [library](library).

pub(crate) mod device;
pub(crate) mod elgamal;
mod handle;
pub mod libgcrypt;
pub mod library;
mod openssl_system;

pub use openssl_system::name_builds;
#[cfg(feature = "rustcrypto")]
mod rustcrypto;

use std::collections::HashMap;
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::workload::KeyHandle;
use keymark_bench::{Algorithm, Error, Family, KeyRef, Operation};
use parking_lot::Mutex;

use crate::access::{Access, Library};
use crate::answer::{AnswerForm, Answers};
use crate::public_key::PublicKey;
use crate::scheme::Scheme;
use crate::store::{KeyStore, unsupported};
use crate::test_key::TestKey;

/// Test keys in memory, made when first asked for. What signs and what decrypts are different keys, as
/// in OpenPGP, except for RSA.
#[derive(Debug, Default)]
pub struct SoftwareStore {
    keys: Mutex<HashMap<String, Arc<TestKey>>>,
}

impl SoftwareStore {
    /// Has that test key for a capability, as another process of keymark has it.
    pub(crate) fn take_over(&self, capability: Capability, key: Arc<TestKey>) {
        let mut keys = self.keys.lock();
        keys.entry(label(capability)).or_insert(key);
    }

    /// Version of the OpenSSL that is built in.
    pub fn library_version() -> &'static str {
        openssl::version::version()
    }

    /// The key itself, for who writes it to a device or a file.
    pub fn test_key(&self, key: &KeyRef) -> Result<Arc<TestKey>, Error> {
        let keys = self.keys.lock();
        let found = keys.get(&key.label).cloned().ok_or_else(|| {
            let reason = format!("no key has the name '{}'", key.label);
            Error::call("opening a key", reason, "")
        })?;
        if found.algorithm != key.algorithm {
            return Err(unsupported(
                format!("the key '{}'", key.label),
                key.capability(),
            ));
        }
        Ok(found)
    }

    /// The test key for a capability.
    pub fn made_for(&self, capability: Capability) -> Result<Arc<TestKey>, Error> {
        self.key(capability).and_then(|key| self.test_key(&key))
    }
}

/// An OpenPGP key of RSA has one key pair for both. One that authenticates is another: gpg-agent tells
/// the slots of a card apart by their keys.
fn label(capability: Capability) -> String {
    let (algorithm, operation) = (capability.algorithm, capability.operation);
    match (algorithm.family(), operation) {
        (Family::Rsa(_), Operation::Sign | Operation::Decrypt) => algorithm.to_string(),
        (_, operation) => format!("{algorithm} {operation}"),
    }
}

/// Returns the libraries that may be loaded: those of programs here, and builds whose files are named.
pub fn libraries() -> impl Iterator<Item = Library> {
    let named = openssl_system::named_builds();
    let may_be = move |library: &Library| match library {
        Library::OpenSslA => named > 0,
        Library::OpenSslB => named > 1,
        Library::Libgcrypt | Library::OpenSslSystem | Library::RustCrypto => true,
    };
    Library::ALL.iter().copied().filter(may_be)
}

/// Loads a library; once it is, it stays.
pub fn load(library: Library) -> Result<Box<dyn library::Loaded>, Error> {
    match library {
        Library::Libgcrypt => Ok(Box::new(libgcrypt::load()?)),
        Library::OpenSslSystem => Ok(Box::new(openssl_system::load()?)),
        Library::OpenSslA => Ok(Box::new(openssl_system::load_build(0)?)),
        Library::OpenSslB => Ok(Box::new(openssl_system::load_build(1)?)),
        #[cfg(feature = "rustcrypto")]
        Library::RustCrypto => Ok(Box::new(rustcrypto::Compiled)),
        #[cfg(not(feature = "rustcrypto"))]
        Library::RustCrypto => Err(Error::Missing {
            what: "RustCrypto".to_owned(),
            reason: "this keymark was built without it".to_owned(),
            advice: "build keymark with the cargo feature 'rustcrypto'".to_owned(),
        }),
    }
}

/// A handle on a test key, wherever it came from: by the library that is named, or else, and for any scheme, by the
/// OpenSSL that is built in. The answers of both have the same form.
pub fn open(
    key: &TestKey,
    operation: Operation,
    library: Option<Library>,
    scheme: Option<Scheme>,
) -> Result<Box<dyn KeyHandle>, Error> {
    match (library, scheme) {
        (Some(library), None) => load(library)?.open(key, operation),
        (_, scheme) => handle::handle(key, operation, scheme),
    }
}

impl KeyStore for SoftwareStore {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        let offered = Algorithm::all()
            .filter(|algorithm| !matches!(algorithm.family(), Family::Composite(_)))
            .flat_map(Capability::of);
        Ok(offered.collect())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        if !capability.algorithm.has(capability.operation) {
            return Err(unsupported("the OpenSSL library", capability));
        }
        let key = KeyRef::new(capability, label(capability));
        let mut keys = self.keys.lock();
        if !keys.contains_key(&key.label) {
            let made = Arc::new(TestKey::generate(capability.algorithm)?);
            keys.insert(key.label.clone(), made);
        }
        Ok(key)
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        PublicKey::of(&*self.test_key(key)?)
    }

    fn answers(&self, key: &KeyRef) -> Result<Answers, Error> {
        Ok(Answers {
            form: AnswerForm::Der,
            capacity: self.test_key(key)?.output_capacity(),
        })
    }

    fn access(&self, key: &KeyRef) -> Result<Access, Error> {
        self.test_key(key).map(Access::KeyFile)
    }

    fn open(&self, key: &KeyRef, scheme: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        handle::handle(&*self.test_key(key)?, key.operation, scheme)
    }
}
