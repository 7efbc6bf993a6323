//! Capability: an algorithm and an operation on its key.

use serde::{Deserialize, Serialize};

use crate::{Algorithm, Operation};

/// Algorithm and operation that a device offers.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    derive_more::Constructor,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Capability {
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// Operation on the key.
    pub operation: Operation,
}

impl Capability {
    /// Everything that can be asked of an algorithm's key.
    pub fn of(algorithm: Algorithm) -> impl Iterator<Item = Self> {
        algorithm
            .operations()
            .iter()
            .map(move |&operation| Self::new(algorithm, operation))
    }
}
