//! A finished run: plan, environment, samples. Serialised, this is the exchange format
//! (`schema/record-1.json`).

use derive_more::Display;
use keymark_stats::{Band, Ratio, Seconds};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::series::InSeries;
use crate::{
    Block, Case, Environment, Error, Harness, Outcome, Parts, Plan, ReturnCode, Sample, ServerLoad,
    Stopped, StoreIdentity,
};

/// Version of the exchange format.
pub const SCHEMA: u32 = 1;

/// Name of a run: UTC date and time, and four hexadecimal digits.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[derive(Display)]
pub struct RunId(pub String);

impl RunId {
    /// For a run of this process that starts at `now`.
    pub fn fresh(now: jiff::Timestamp) -> Self {
        let salt = now.subsec_nanosecond() ^ std::process::id().cast_signed();
        Self::new(now, salt as u16)
    }

    /// For a run that starts at `now`; `salt` tells runs of the same second apart.
    pub fn new(now: jiff::Timestamp, salt: u16) -> Self {
        Self(format!("{}-{salt:04x}", now.strftime("%Y%m%d-%H%M%S")))
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Display)]
#[serde(rename_all = "snake_case")]
#[display(rename_all = "snake_case")]
pub enum RunState {
    /// Not yet; or keymark was killed.
    Unfinished,
    /// By itself.
    Finished,
    /// By the user.
    Interrupted,
    /// Not run here: imported figures.
    Published,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// What stopped it.
    pub stopped: Stopped,
    /// Why, if it failed.
    pub reason: Option<String>,
    /// What the device returned, if one refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ReturnCode>,
}

impl Ending {
    /// By a failure, for that reason.
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
        }
    }
}

/// A mean that somebody published, without its samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedMean {
    /// As the source states it.
    pub mean: Seconds,
    /// Number of operations, if stated.
    pub n: Option<u64>,
    /// The source's remarks.
    pub note: String,
    /// Of a prediction: what its assumptions leave open.
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

/// One case with everything measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseRecord {
    /// What was measured.
    pub case: Case,
    /// How it ended; none while it is under way or if keymark was killed.
    pub ending: Option<Ending>,
    /// Its blocks, in time order.
    pub blocks: Vec<Block>,
    /// In place of blocks, for figures of an article.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedMean>,
    /// Where the time went, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
    /// In place of blocks, for a load on a server.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Version of this format.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// Name of the run.
    pub id: RunId,
    /// When it started.
    pub started: jiff::Timestamp,
    /// How it ended.
    pub state: RunState,
    /// Its place in a series, if it is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<InSeries>,
    /// What was to be measured, and how.
    pub plan: Plan,
    /// On what.
    pub environment: Environment,
    /// The harness's own cost; none for published figures.
    pub harness: Option<Harness>,
    /// The devices.
    pub stores: Vec<StoreIdentity>,
    /// The cases, in the plan's order.
    pub cases: Vec<CaseRecord>,
}

impl Record {
    /// Whether keymark ran any of it; else it is what a model or an article says.
    pub fn is_of_a_run(&self) -> bool {
        let mut cases = self.cases.iter();
        self.state != RunState::Published && cases.any(|case| case.case.provenance.is_of_a_run())
    }
}

/// The JSON schema of a record: `schema/record-1.json`.
pub fn json_schema() -> Schema {
    let mut schema = schemars::schema_for!(Record);
    let id = "https://github.com/keymark/keymark/schema/record-1.json";
    schema.insert("$id".to_owned(), id.into());
    schema.insert("title".to_owned(), "keymark record, schema 1".into());
    let description = "One run of keymark with every sample, as 'keymark export' writes it";
    schema.insert("description".to_owned(), description.into());
    schema
}

#[cfg(test)]
mod tests {
    /// It is written anew with KEYMARK_WRITE_SCHEMA set.
    #[test]
    fn the_schema_is_that_of_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/record-1.json");
        let made = serde_json::to_string_pretty(&super::json_schema()).unwrap() + "\n";
        if std::env::var_os("KEYMARK_WRITE_SCHEMA").is_some() {
            std::fs::write(path, &made).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), made);
    }
}
