//! Devices, what they offer, and their keys: the words that stores and stacks have in common.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::algorithm::Algorithm;
use crate::case::{DeviceName, Provenance, StoreKind};
use crate::operation::Operation;

/// One device: what it is and what runs on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreIdentity {
    /// The name to select it by.
    pub device: DeviceName,
    /// What kind of key store it is.
    pub kind: StoreKind,
    /// What kind of figure it yields.
    pub provenance: Provenance,
    /// Product name.
    pub product: String,
    /// Serial number, where it has one.
    pub serial: Option<String>,
    /// Versions of firmware, libraries and programs, by their names.
    pub versions: BTreeMap<String, String>,
}

/// One algorithm and operation that a device offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Capability {
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// What can be asked of it.
    pub operation: Operation,
}

impl Capability {
    /// Everything that can be asked of an algorithm's key.
    pub fn of(algorithm: Algorithm) -> impl Iterator<Item = Self> {
        algorithm.operations().iter().map(move |&operation| Self {
            algorithm,
            operation,
        })
    }
}

/// Names a key within a key store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyRef {
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// What it will be asked.
    pub operation: Operation,
    /// The key's name in its store: a keygrip, a slot, a label.
    pub label: String,
}

impl KeyRef {
    /// What it was named for.
    #[must_use]
    pub const fn capability(&self) -> Capability {
        Capability {
            algorithm: self.algorithm,
            operation: self.operation,
        }
    }
}
