//! Load: workers and pacing.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use ordered_float::OrderedFloat;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Kind of a worker.
    #[derive(Default)]
    pub enum Worker("kind of worker") {
        /// A thread of keymark, with a handle of its own.
        #[default]
        Thread = "thread",
        /// A process of its own, as servers fork them: it opens the key anew, and shares nothing with the
        /// others but the machine and the device.
        Process = "process",
    }
}

/// Rule that decides when operations start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Pacing {
    /// Each worker starts its next operation when the last one is done.
    Closed,
    /// Operations arrive on their own schedule, whether or not the last one is done
    /// (Poisson arrivals, seeded); latency counts from the scheduled start, so a stall
    /// is charged to every operation that had to wait for it.
    Open(Rate),
    /// Each worker is a user who thinks before each operation: for a time uniform between zero and
    /// this one, seeded.
    Thinking(Duration),
}

impl Pacing {
    /// The rate of arrivals, if operations arrive on their own schedule.
    pub const fn rate(self) -> Option<Rate> {
        match self {
            Self::Open(rate) => Some(rate),
            Self::Closed | Self::Thinking(_) => None,
        }
    }

    /// The longest pause, if there are pauses.
    pub const fn pause(self) -> Option<Duration> {
        match self {
            Self::Thinking(longest) => Some(longest),
            Self::Closed | Self::Open(_) => None,
        }
    }
}

/// Operations per second; positive and finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "f64", into = "f64")]
pub struct Rate(#[cfg_attr(test, schemars(with = "f64"))] OrderedFloat<f64>);

impl Rate {
    /// The rate in operations per second.
    pub const fn per_second(self) -> f64 {
        self.0.0
    }
}

impl TryFrom<f64> for Rate {
    type Error = String;

    fn try_from(rate: f64) -> Result<Self, Self::Error> {
        if rate.is_finite() && rate > 0.0 && rate <= 1e9 {
            Ok(Self(OrderedFloat(rate)))
        } else {
            Err(format!(
                "a rate must be a number of operations per second above 0, not {rate}"
            ))
        }
    }
}

impl From<Rate> for f64 {
    fn from(rate: Rate) -> Self {
        rate.per_second()
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix("/s").unwrap_or(text);
        let number: f64 = number
            .parse()
            .map_err(|_| format!("'{text}' is not a rate; write it like 50/s"))?;
        number.try_into()
    }
}

/// Load on the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Workers, each with its own way to the key.
    pub workers: NonZeroU32,
    /// Kind of each worker.
    #[serde(default)]
    pub worker: Worker,
    /// Rule that decides when workers start operations.
    pub pacing: Pacing,
}

impl Load {
    /// Returns this load with another number of workers.
    pub const fn with(self, workers: NonZeroU32) -> Self {
        Self { workers, ..self }
    }

    /// Returns the load of a single worker in a closed loop.
    pub const fn single() -> Self {
        Self::closed(NonZeroU32::MIN)
    }

    /// A closed loop of that number of workers.
    pub const fn closed(workers: NonZeroU32) -> Self {
        Self {
            workers,
            worker: Worker::Thread,
            pacing: Pacing::Closed,
        }
    }

    /// Returns true if it is a closed loop without pauses, whose throughput is what the key can do.
    pub const fn is_closed(&self) -> bool {
        matches!(self.pacing, Pacing::Closed)
    }
}

/// ` w=4 50/s`, ` p=4`, as it follows a stack's name; nothing for a single thread in a closed loop.
impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.worker {
            Worker::Thread if self.workers == NonZeroU32::MIN => {}
            Worker::Thread => write!(f, " w={}", self.workers)?,
            Worker::Process => write!(f, " p={}", self.workers)?,
        }
        match self.pacing {
            Pacing::Closed => Ok(()),
            Pacing::Open(rate) => write!(f, " {}/s", rate.per_second()),
            Pacing::Thinking(longest) => write!(f, " think≤{}s", longest.as_secs_f64()),
        }
    }
}
