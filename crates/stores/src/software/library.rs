//! Libraries that calculate in place of the OpenSSL that is built in, with the same test keys.

use std::fmt::Debug;

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::KeyHandle;

use crate::test_key::TestKey;

/// A library that was found and loaded.
pub trait Loaded: Debug {
    /// Its version.
    fn version(&self) -> String;

    /// What it can do with a test key.
    fn capabilities(&self) -> Vec<Capability>;

    /// A handle on a key; its answers are in OpenSSL's form.
    fn open(&self, key: &TestKey, operation: Operation) -> Result<Box<dyn KeyHandle>, Error>;
}

/// All that can be done with keys of the families that a library has.
pub(super) fn capabilities_of(has: impl Fn(Family) -> bool) -> Vec<Capability> {
    Algorithm::all()
        .filter(|algorithm| has(algorithm.family()))
        .flat_map(Capability::of)
        .collect()
}

/// That an installed library is not there, with the package that brings it on Debian and Ubuntu.
pub(super) fn missing(what: String, reason: String, package: &str) -> Error {
    Error::Missing {
        what,
        reason,
        advice: format!("install it with 'apt-get install {package}' (Debian, Ubuntu)"),
    }
}
