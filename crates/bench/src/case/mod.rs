//! Case: the key, the operation, the stack and the load.

mod load;
mod name;
pub(crate) mod parameters;

use serde::{Deserialize, Serialize};

use crate::capability::Capability;
use crate::strength;
use crate::words::words;
use crate::{Algorithm, Operation, Strength};

pub use load::{Load, Pacing, Rate, Worker};
pub use name::{BadName, StackName, StoreKind};
pub use parameters::{Dimension, ParameterChoice, Parameters, Scope, USUAL, Words, admits};

words! {
    /// Provenance of a figure. Kinds are never mixed without saying so.
    pub enum Provenance("provenance") {
        /// Measured in this run on a real device or library.
        Measured = "measured",
        /// Real token firmware running on this CPU.
        Virtual = "virtual",
        /// A real stack, device time from a profile.
        Twin = "twin",
        /// A model's figure.
        Predicted = "predicted",
        /// An article.
        Published = "published",
    }
}

impl Provenance {
    /// Returns true if keymark ran something for the figure: another run may tell another one.
    pub const fn is_of_a_run(self) -> bool {
        match self {
            Self::Measured | Self::Virtual | Self::Twin => true,
            Self::Predicted | Self::Published => false,
        }
    }
}

/// The name a device goes by on the command line and in tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
#[derive(derive_more::Display)]
pub struct DeviceName(String);

impl DeviceName {
    /// A device called `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the name of this CPU.
    pub fn software() -> Self {
        Self::new("software")
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Key store, algorithm, operation, stack, parameters and load.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, derive_more::Display)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[display("{algorithm} {operation} {device} {}", self.way())]
pub struct Case {
    /// The device, by name.
    pub device: DeviceName,
    /// Kind of key store.
    pub store: StoreKind,
    /// Kind of figure it will yield.
    pub provenance: Provenance,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// Operation on the key.
    pub operation: Operation,
    /// Through which program.
    pub stack: StackName,
    /// Parameters of the stack's family.
    #[serde(default, skip_serializing_if = "Parameters::is_empty")]
    pub parameters: Parameters,
    /// Workers and pacing.
    pub load: Load,
    /// Length of the message in bytes: the plaintext that is decrypted, the file that is signed.
    pub input_bytes: u32,
    /// Number of the copy: a case may be in one plan several times (an A/A test).
    pub replica: u32,
    /// Strength of the whole connection or message, where it depends on more than the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
}

/// Identity of what a case measures: everything but the replica and what follows from the device.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseKey {
    /// The device, by name.
    pub device: DeviceName,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// Operation on the key.
    pub operation: Operation,
    /// Through which program.
    pub stack: StackName,
    /// Parameters of the stack's family.
    pub parameters: Parameters,
    /// Workers and pacing.
    pub load: Load,
    /// Length of the message in bytes.
    pub input_bytes: u32,
}

impl CaseKey {
    /// Returns this key with another load.
    pub fn loaded(self, load: Load) -> Self {
        Self { load, ..self }
    }
}

impl Case {
    /// Returns this case with another load.
    pub fn loaded(&self, load: Load) -> Self {
        Self {
            load,
            ..self.clone()
        }
    }

    /// Returns the algorithm and the operation.
    pub const fn capability(&self) -> Capability {
        Capability::new(self.algorithm, self.operation)
    }

    /// Returns the identity of what the case measures.
    pub fn key(&self) -> CaseKey {
        CaseKey {
            device: self.device.clone(),
            algorithm: self.algorithm,
            operation: self.operation,
            stack: self.stack,
            parameters: self.parameters.clone(),
            load: self.load,
            input_bytes: self.input_bytes,
        }
    }

    /// Returns true if it measures that.
    pub fn has_key(&self, key: &CaseKey) -> bool {
        self.device == key.device && self.key() == *key
    }

    /// Workers.
    pub const fn workers(&self) -> u32 {
        self.load.workers.get()
    }

    /// Returns true if one operation after the other is measured, and this is the first such copy: what layers and
    /// profiles are made of.
    pub fn is_alone(&self) -> bool {
        self.load == Load::single() && self.replica == 0
    }

    /// The strength of what it asks: of the whole where that is known, else of the key.
    pub fn strength(&self) -> Option<Strength> {
        self.strength.or_else(|| strength::of_key(self.algorithm))
    }

    /// Returns true if the whole has less than 112 bits of security: no table has such a case without saying so.
    pub fn is_weak(&self) -> bool {
        self.strength.is_some_and(Strength::is_weak)
    }

    /// `gpg`, `agent cached`, `gpg w=4`, `raw 50/s`, `raw #2`
    pub fn way(&self) -> String {
        let remark = self.parameters.remark().map(|word| format!(" {word}"));
        let weak = if self.is_weak() { " weak" } else { "" };
        let replica = (self.replica > 0).then(|| format!(" #{}", u64::from(self.replica) + 1));
        format!(
            "{}{}{weak}{}{}",
            self.stack,
            remark.unwrap_or_default(),
            self.load,
            replica.unwrap_or_default()
        )
    }
}

/// The place of a case in its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CaseId(pub u32);

impl CaseId {
    /// Returns the id of the case at this index of the plan.
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}
