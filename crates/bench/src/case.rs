//! One case: what is measured, through what, under which load.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::algorithm::Algorithm;
use crate::operation::Operation;
use crate::words::words;

words! {
    /// Where the private key lives.
    pub enum StoreKind("key store") {
        /// This CPU's memory.
        Software = "software",
        /// An OpenPGP card: YubiKey, Nitrokey, Gnuk, or a virtual one.
        OpenpgpCard = "openpgp-card",
        /// Scripted latencies, for tests of the pipeline.
        Fake = "fake",
        /// As a source names it: the device of a published figure.
        Reported = "reported",
    }
}

words! {
    /// The program path through which the key is reached.
    pub enum StackName("stack") {
        /// A library call or an APDU, nothing around it.
        Raw = "raw",
        /// gpg-agent, asked over its Assuan socket.
        Agent = "agent",
        /// One `gpg` process an operation.
        Gnupg = "gnupg",
        /// Apache's mod_ssl.
        Apache = "apache",
    }
}

words! {
    /// How the key is kept at rest.
    pub enum Protection("protection") {
        /// In the clear.
        None = "none",
        /// Behind a passphrase that the agent has cached; S2K and decryption of the key remain.
        Cached = "cached",
    }
}

words! {
    /// Where a figure comes from. Kinds are never mixed without saying so.
    pub enum Provenance("provenance") {
        /// This run, a real device or library.
        Measured = "measured",
        /// Real token firmware running on this CPU.
        Virtual = "virtual",
        /// A real stack, device time from a profile.
        Twin = "twin",
        /// A model's figure.
        Predicted = "predicted",
        /// Somebody's article.
        Published = "published",
    }
}

/// The name a device goes by on the command line and in tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceName(String);

impl DeviceName {
    /// A device called `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// This CPU.
    #[must_use]
    pub fn software() -> Self {
        Self::new("software")
    }

    /// The name itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// When operations are started.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// Each worker starts its next operation when the last one is done.
    Closed,
    /// Operations arrive on their own schedule, whether or not the last one is done
    /// (Poisson arrivals, seeded); latency counts from the scheduled start, so a stall
    /// is charged to every operation that had to wait for it.
    Open(Rate),
}

/// Operations a second; positive and finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Rate(f64);

impl Rate {
    /// The rate in operations a second.
    #[must_use]
    pub const fn per_second(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Rate {
    type Error = String;

    fn try_from(rate: f64) -> Result<Self, Self::Error> {
        if rate.is_finite() && rate > 0.0 && rate <= 1e9 {
            Ok(Self(rate))
        } else {
            Err(format!(
                "a rate is a number of operations a second above 0, not {rate}"
            ))
        }
    }
}

impl From<Rate> for f64 {
    fn from(rate: Rate) -> Self {
        rate.0
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix("/s").unwrap_or(text);
        let number: f64 = number
            .parse()
            .map_err(|_| format!("'{text}' is no rate such as 50/s"))?;
        number.try_into()
    }
}

/// How hard the key is asked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Workers, each with its own way to the key.
    pub concurrency: NonZeroU32,
    /// When they start operations.
    pub pacing: Pacing,
}

impl Load {
    /// One worker in a closed loop.
    #[must_use]
    pub const fn single() -> Self {
        Self::closed(NonZeroU32::MIN)
    }

    /// A closed loop of `concurrency` workers.
    #[must_use]
    pub const fn closed(concurrency: NonZeroU32) -> Self {
        Self {
            concurrency,
            pacing: Pacing::Closed,
        }
    }
}

/// One (key store, algorithm, operation, stack, load).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The device, by name.
    pub device: DeviceName,
    /// What kind of key store it is.
    pub store: StoreKind,
    /// Kind of figure it will yield.
    pub provenance: Provenance,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// What is asked of the key.
    pub operation: Operation,
    /// Through which program.
    pub stack: StackName,
    /// How hard.
    pub load: Load,
    /// How the key is kept at rest.
    pub protection: Protection,
    /// Length of the message in bytes: the plaintext that is decrypted, the file that is signed.
    pub input_bytes: u32,
    /// The same case may stand in one plan more than once (an A/A test): 0, 1, …
    pub replica: u32,
}

impl Case {
    /// Workers.
    #[must_use]
    pub const fn concurrency(&self) -> u32 {
        self.load.concurrency.get()
    }

    /// Whether two cases measure the same thing, replicas aside.
    #[must_use]
    pub fn same_but_replica(&self, other: &Self) -> bool {
        *self
            == Self {
                replica: self.replica,
                ..other.clone()
            }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {} {}",
            self.algorithm, self.operation, self.device, self.stack
        )?;
        if self.protection == Protection::Cached {
            write!(f, " cached")?;
        }
        if self.concurrency() > 1 {
            write!(f, " c={}", self.concurrency())?;
        }
        if let Pacing::Open(rate) = self.load.pacing {
            write!(f, " {}/s", rate.per_second())?;
        }
        if self.replica > 0 {
            write!(f, " #{}", self.replica + 1)?;
        }
        Ok(())
    }
}

/// The place of a case in its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CaseId(pub u32);
