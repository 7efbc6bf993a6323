//! A finished run: plan, environment, samples. Serialized, this is the exchange format
//! (`schema/record-1.json`).

use derive_more::Display;
use keymark_stats::{Band, Ratio, Seconds};
use serde::{Deserialize, Serialize};

use crate::series::InSeries;
use crate::{
    Block, Case, Environment, Error, Harness, Outcome, Parts, Plan, ReturnCode, Sample, ServerLoad,
    Stopped, StoreIdentity,
};

/// Version of the exchange format.
pub const SCHEMA: u32 = 1;

/// Name of a run: UTC date and time, and four hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
#[derive(Display)]
pub struct RunId(pub String);

impl RunId {
    /// Returns the id of a run of this process that starts at `now`.
    pub fn fresh(now: jiff::Timestamp) -> Self {
        let salt = now.subsec_nanosecond() ^ std::process::id().cast_signed();
        Self::new(now, salt as u16)
    }

    /// Returns the id of a run that starts at `now`; `salt` distinguishes runs of the same second.
    pub fn new(now: jiff::Timestamp, salt: u16) -> Self {
        Self(format!("{}-{salt:04x}", now.strftime("%Y%m%d-%H%M%S")))
    }
}

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Display)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[display(rename_all = "snake_case")]
pub enum RunState {
    /// Not yet; or keymark was killed.
    Unfinished,
    /// Finished run.
    Finished,
    /// Run that the user ended.
    Interrupted,
    /// Not run here: imported figures.
    Published,
}

/// End of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// Reason of the end.
    pub stopped: Stopped,
    /// Why, if it failed.
    pub reason: Option<String>,
    /// Return code of a device that refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ReturnCode>,
    /// Size of the longest signature or ciphertext in bytes, where the stack tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_bytes: Option<u32>,
}

impl Ending {
    /// Returns the end by a failure.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..Stopped::Failed.into()
        }
    }
}

impl From<Error> for Ending {
    fn from(error: Error) -> Self {
        Self {
            code: error.code().cloned(),
            ..Self::failed(error.to_string())
        }
    }
}

impl From<Stopped> for Ending {
    fn from(stopped: Stopped) -> Self {
        Self {
            stopped,
            reason: None,
            code: None,
            message_bytes: None,
        }
    }
}

/// A published mean, without its samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedMean {
    /// Mean as the source states it.
    pub mean: Seconds,
    /// Number of operations, if stated.
    pub n: Option<u64>,
    /// The source's remarks.
    pub note: String,
    /// Band of a prediction under its assumptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// Share of a prediction's cycles in which the core waits for flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Ratio>,
}

impl From<Seconds> for PublishedMean {
    fn from(mean: Seconds) -> Self {
        Self {
            mean,
            n: None,
            note: String::new(),
            band: None,
            waiting: None,
        }
    }
}

/// Case with everything measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CaseRecord {
    /// Measured case.
    pub case: Case,
    /// End of the case; none during the run or if keymark was killed.
    pub ending: Option<Ending>,
    /// Its blocks, in time order.
    pub blocks: Vec<Block>,
    /// Figure of an article, in place of blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedMean>,
    /// Parts of the time, where they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
    /// Load on a server, in place of blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_load: Option<Box<ServerLoad>>,
}

impl CaseRecord {
    /// A case that nothing was measured of yet.
    pub const fn new(case: Case) -> Self {
        Self {
            case,
            ending: None,
            blocks: Vec::new(),
            published: None,
            parts: None,
            server_load: None,
        }
    }

    /// Every sample, in time order.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.blocks.iter().flat_map(|block| &block.samples)
    }

    /// Operations that failed or whose result was refused. One that ended the case without being a
    /// sample (while the case was made ready, or leading a block in) counts too.
    pub fn failed(&self) -> usize {
        let samples = self
            .samples()
            .filter(|sample| sample.outcome != Outcome::Done)
            .count();
        let of_load = self
            .server_load
            .as_ref()
            .map_or(0, |load| load.totals.failed);
        let failed = samples + usize::try_from(of_load).unwrap_or(usize::MAX);
        failed.max(usize::from(self.failure().is_some()))
    }

    /// Why the case failed, if it did.
    pub fn failure(&self) -> Option<&str> {
        self.ending.as_ref()?.reason.as_deref()
    }

    /// Latencies of the operations that counted, by block.
    pub fn latencies(&self) -> keymark_stats::Blocks {
        if let Some(load) = &self.server_load {
            return load.latencies();
        }
        keymark_stats::Blocks::from_blocks(
            self.blocks
                .iter()
                .map(|block| (block.round, block.latencies_ns())),
        )
    }
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Version of this format.
    #[cfg_attr(test, schemars(range(min = 1, max = 1)))]
    pub schema: u32,
    /// Name of the run.
    pub id: RunId,
    /// Time of the start.
    pub started: jiff::Timestamp,
    /// State of the run.
    pub state: RunState,
    /// Its place in a series, if it is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<InSeries>,
    /// Plan with its settings.
    pub plan: Plan,
    /// Environment of the run.
    pub environment: Environment,
    /// The harness's own cost; none for published figures.
    pub harness: Option<Harness>,
    /// The devices.
    pub stores: Vec<StoreIdentity>,
    /// The cases, in the plan's order.
    pub cases: Vec<CaseRecord>,
}

impl Record {
    /// Returns true if keymark ran any of it; else it is what a model or an article says.
    pub fn is_of_a_run(&self) -> bool {
        self.state != RunState::Published
            && self
                .cases
                .iter()
                .any(|case| case.case.provenance.is_of_a_run())
    }
}

#[cfg(test)]
mod tests;
