//! The seam to key stores.

use std::collections::BTreeSet;
use std::fmt::Debug;

use keymark_bench::store::Capability;
use keymark_bench::workload::{Crew, KeyHandle};
use keymark_bench::{Error, KeyRef, Operation};

use crate::access::Access;
use crate::answer::Answers;
use crate::public_key::PublicKey;
use crate::scheme::Scheme;

/// Store of private keys. Capabilities are asked for, never assumed.
pub trait KeyStore: Debug + Send + Sync {
    /// Returns its capabilities.
    fn capabilities(&self) -> Result<Vec<Capability>, Error>;

    /// The key for a capability: one that is there, or a test key that is provisioned where that is
    /// allowed. The same key at every call.
    fn key(&self, capability: Capability) -> Result<KeyRef, Error>;

    /// The public half of a key.
    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error>;

    /// The form in which a key's answers come; as of a device, unless the store says otherwise.
    fn answers(&self, key: &KeyRef) -> Result<Answers, Error> {
        Ok(Answers::of_device(key.algorithm))
    }

    /// Returns the way by which another program reaches the key.
    fn access(&self, key: &KeyRef) -> Result<Access, Error>;

    /// A handle on a key, one per worker; parsing and set-up that a caller does once happen here. By a scheme, which the
    /// device offers, it uses the key otherwise than usual.
    fn open(&self, key: &KeyRef, scheme: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error>;

    /// The workers of a case, each with a handle; by that scheme, or as usual.
    fn crew(&self, key: &KeyRef, scheme: Option<Scheme>, workers: usize) -> Result<Crew, Error> {
        let handles = (0..workers).map(|_| self.open(key, scheme));
        handles.collect::<Result<_, _>>().map(Crew::Threads)
    }

    /// Undoes what provisioning changed on a device that outlives this run.
    fn restore(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// The refusal of any scheme, by a store that has none.
pub fn as_usual(key: &KeyRef, scheme: Option<Scheme>) -> Result<(), Error> {
    let Some(scheme) = scheme else {
        return Ok(());
    };
    Err(Error::call(
        format!("opening the key '{}'", key.label),
        format!("it does not support {} with {scheme}", key.operation),
        "'keymark devices' shows the schemes of each device",
    ))
}

/// Each of them once, in their order.
pub(crate) fn once_each<T: Ord>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    all.into_iter()
        .collect::<BTreeSet<T>>()
        .into_iter()
        .collect()
}

/// The refusal of a capability.
pub fn unsupported(by: impl Into<String>, capability: Capability) -> Error {
    Error::Unsupported {
        by: by.into(),
        operation: capability.operation,
        algorithm: capability.algorithm,
    }
}

/// A signature that authenticates is no other work than a signature.
pub(crate) fn authentications(offered: &[Capability]) -> Vec<Capability> {
    let signs = offered
        .iter()
        .filter(|can| can.operation == Operation::Sign);
    let same = signs.map(|can| Capability {
        operation: Operation::Authenticate,
        ..*can
    });
    same.filter(|can| can.algorithm.has(can.operation))
        .collect()
}
