//! Devices, what they offer, and their keys: the words that stores and stacks have in common.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Algorithm, Case, DeviceName, Family, Load, Operation, Parameters, Provenance, StackName,
    StoreKind, default_input_bytes,
};

pub use crate::capability::Capability;

/// Device: its identity and its software.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StoreIdentity {
    /// The name to select it by.
    pub device: DeviceName,
    /// Kind of key store.
    pub kind: StoreKind,
    /// Provenance of its figures.
    pub provenance: Provenance,
    /// Product name.
    pub product: String,
    /// Serial number, where it has one.
    pub serial: Option<String>,
    /// Versions of firmware, libraries and programs, by their names.
    pub versions: BTreeMap<String, String>,
    /// Operations whose times nobody measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<Assumption>,
}

impl StoreIdentity {
    /// Returns an identity without serial number, versions and assumptions.
    pub fn new(
        device: DeviceName,
        kind: StoreKind,
        provenance: Provenance,
        product: impl Into<String>,
    ) -> Self {
        Self {
            device,
            kind,
            provenance,
            product: product.into(),
            serial: None,
            versions: BTreeMap::new(),
            assumed: Vec::new(),
        }
    }

    /// Returns the case of single operations with an input of usual length.
    pub fn case(&self, capability: Capability) -> Case {
        Case {
            device: self.device.clone(),
            store: self.kind,
            provenance: self.provenance,
            algorithm: capability.algorithm,
            operation: capability.operation,
            stack: StackName::RAW,
            parameters: Parameters::NONE,
            load: Load::single(),
            input_bytes: default_input_bytes(capability.operation),
            replica: 0,
            strength: None,
        }
    }

    /// Returns the source of an operation's time, if it was not measured.
    pub fn assumed(&self, capability: Capability) -> Option<Assumed> {
        let found = self
            .assumed
            .iter()
            .find(|assumption| assumption.capability == capability);
        found.map(|assumption| assumption.assumed)
    }
}

/// An operation of a device whose time nobody measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// Algorithm and operation.
    #[serde(flatten)]
    pub capability: Capability,
    /// Source of the time.
    pub assumed: Assumed,
}

/// Source of a time that nobody measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, derive_more::Display)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Assumed {
    /// RSA signs by the same private-key operation as it decrypts (RFC 8017 §5).
    #[display("as decrypt")]
    #[serde(rename = "as decrypt")]
    AsDecrypt,
}

impl Assumed {
    /// The operation that was measured.
    pub const fn operation(self) -> Operation {
        match self {
            Self::AsDecrypt => Operation::Decrypt,
        }
    }

    /// Returns true if an operation may be taken for the same.
    pub const fn holds_for(self, capability: Capability) -> bool {
        match self {
            Self::AsDecrypt => {
                capability.operation.signs()
                    && matches!(capability.algorithm.family(), Family::Rsa(_))
            }
        }
    }
}

/// Names a key within a key store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyRef {
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// Operation on the key.
    pub operation: Operation,
    /// The key's name in its store: a keygrip, a slot, a label.
    pub label: String,
}

impl KeyRef {
    /// The key of that name, for that.
    pub const fn new(capability: Capability, label: String) -> Self {
        Self {
            algorithm: capability.algorithm,
            operation: capability.operation,
            label,
        }
    }

    /// Returns the algorithm and the operation.
    pub const fn capability(&self) -> Capability {
        Capability::new(self.algorithm, self.operation)
    }
}
