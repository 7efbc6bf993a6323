//! Data of pictures.

use keymark_bench::{Algorithm, Case, DeviceName, Operation, Provenance, StackName};
use keymark_stats::{Band, Drift, Estimate, PerSecond, Ratio, Seconds};
use serde::Serialize;
use strum::{Display, EnumDiscriminants, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A picture's data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// What is drawn.
    #[serde(flatten)]
    pub plot: Plot,
}

/// What is drawn, which is all that tells kinds of pictures apart: each kind with what it shows and what a run has to
/// have for it.
#[derive(Debug, Clone, PartialEq, Serialize, EnumDiscriminants)]
#[serde(tag = "figure", rename_all = "snake_case")]
#[strum_discriminants(
    name(Kind),
    derive(Display, EnumMessage, EnumString, Hash, IntoStaticStr, VariantArray),
    strum(serialize_all = "lowercase"),
    doc = "A kind of picture.",
    allow(missing_docs, reason = "each has its message")
)]
pub enum Plot {
    /// Dots with intervals on a logarithmic axis of time, and a line at what users tolerate.
    #[strum_discriminants(strum(
        message = "mean times as dots with intervals, and the limit that users tolerate"
    ))]
    Means {
        /// What users tolerate.
        tolerance: Seconds,
        /// The dots.
        means: Vec<Mean>,
    },
    /// Operations a second of servers and services under load, as dots with intervals.
    #[strum_discriminants(strum(
        message = "operations a second as dots with intervals: needs several cases of servers or services"
    ))]
    Rates {
        /// The dots.
        rates: Vec<Mean<PerSecond>>,
    },
    /// What the time of operations is made of.
    #[strum_discriminants(strum(message = "parts of the time: needs several stacks, or parts"))]
    Layers {
        /// An operation each.
        stacks: Vec<Stack>,
        /// What to know: what would leave the others no room, and what cannot be told from nothing.
        left_out: Vec<String>,
    },
    /// Cumulated shares over a logarithmic axis of time.
    #[strum_discriminants(strum(message = "share finished within a given time, with percentiles"))]
    Distributions {
        /// A curve each.
        distributions: Vec<Distribution>,
    },
    /// How often each duration came, where they come in steps.
    #[strum_discriminants(strum(
        to_string = "histogram",
        message = "distribution of durations, for cases whose durations come in steps"
    ))]
    Histograms {
        /// One each.
        histograms: Vec<Histogram>,
    },
    /// Throughput, and what it gains over that of one worker, over the number of workers.
    #[strum_discriminants(strum(
        message = "throughput and speed-up over concurrency: needs --concurrency 1,2,4"
    ))]
    Throughput {
        /// A curve each.
        curves: Vec<ThroughputCurve>,
    },
    /// Response times over the load that was offered.
    #[strum_discriminants(strum(
        to_string = "load",
        message = "response time over load, with the knee: needs several users or rates"
    ))]
    ResponseTimes {
        /// What the load counts.
        load: LoadUnit,
        /// A curve each.
        curves: Vec<LoadCurve>,
    },
    /// Durations in the order in which they came, and how fast the machine was.
    #[strum_discriminants(strum(
        message = "durations in order of time, with drift and machine speed"
    ))]
    Samples {
        /// A case each.
        timelines: Vec<Timeline>,
        /// Cases there are.
        of: usize,
        /// What a fixed calculation took over its mean, by the time since the run's start.
        machine: Vec<(Seconds, Ratio)>,
    },
    /// Cost over the strength of keys.
    #[strum_discriminants(strum(
        message = "cost over strength: needs algorithms of several strengths"
    ))]
    Security {
        /// What users tolerate.
        tolerance: Seconds,
        /// The dots, with their bits of security.
        means: Vec<(u32, Mean)>,
    },
    /// What a model predicts, with what its assumptions leave open.
    #[strum_discriminants(strum(
        message = "predictions with their band: needs keymark mcu predict"
    ))]
    Predictions {
        /// What users tolerate.
        tolerance: Seconds,
        /// One each.
        predictions: Vec<Predicted>,
    },
}

impl Plot {
    /// Under a title that says what it shows.
    pub fn titled(self, title: impl Into<String>) -> Figure {
        Figure {
            title: title.into(),
            plot: self,
        }
    }
}

impl Figure {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        Kind::from(&self.plot)
    }
}

impl Kind {
    /// All of them.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The word for it.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// What it shows, and what a run has to have for it.
    pub fn about(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }
}

/// What a part of a picture is of.
#[derive(Debug, Clone, PartialEq, Serialize, derive_more::Constructor)]
pub struct Subject {
    /// On what its figures were had.
    pub device: DeviceName,
    /// Their kind.
    pub provenance: Provenance,
    /// In words.
    pub label: String,
}

impl Subject {
    /// A case.
    pub fn of(case: &Case) -> Self {
        Self::labelled(case, case.to_string())
    }

    /// A case in other words.
    pub fn labelled(case: &Case, label: String) -> Self {
        Self::new(case.device.clone(), case.provenance, label)
    }
}

/// One dot with its interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mean<T = Seconds> {
    /// The case.
    #[serde(flatten)]
    pub of: Subject,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// What was asked of it.
    pub operation: Operation,
    /// Through what.
    pub stack: StackName,
    /// The same with parameters and load, in words.
    pub way: String,
    /// Mean time, or rate.
    pub mean: Estimate<T>,
}

/// The distribution of a case's durations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distribution {
    /// The case.
    #[serde(flatten)]
    pub of: Subject,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// What was asked of it.
    pub operation: Operation,
    /// Through what, with parameters and load, in words.
    pub way: String,
    /// Number of samples.
    pub n: usize,
    /// The percentiles that stand in the table, by their level in per cent.
    pub percentiles: Vec<(u32, Estimate<Seconds>)>,
    /// Quantiles at equal distances, from the shortest to the longest.
    pub quantiles: Vec<Seconds>,
}

/// How often each duration of a case came.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    /// The case.
    #[serde(flatten)]
    pub of: Subject,
    /// From where to where, and how many were between, rising.
    pub bins: Vec<(Seconds, Seconds, usize)>,
    /// Durations that are in no bin: of both ends half a per cent.
    pub beyond: usize,
}

/// What the time of an operation is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stack {
    /// The operation.
    #[serde(flatten)]
    pub of: Subject,
    /// From the bottom to the top.
    pub parts: Vec<StackPart>,
    /// All of it, as it was measured.
    pub sum: Seconds,
}

/// A part of an operation's time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackPart {
    /// What it is called.
    pub name: String,
    /// What it takes.
    pub time: Seconds,
}

/// A case at several concurrencies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThroughputCurve {
    /// Device, way and kind of workers.
    #[serde(flatten)]
    pub of: Subject,
    /// Workers and operations a second, rising.
    pub levels: Vec<(u32, Estimate<PerSecond>)>,
    /// Workers, and the same over one worker's.
    pub gains: Vec<(u32, Estimate<Ratio>)>,
    /// What bounds the gain, by its name.
    pub bounds: Vec<(String, Ratio)>,
    /// The Universal Scalability Law, if it fits: workers and operations a second.
    pub law: Vec<(f64, PerSecond)>,
}

/// What a load counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadUnit {
    /// Users that wait for their answer, or workers.
    Users,
    /// Arrivals a second, whoever waits.
    Arrivals,
}

/// A case under several loads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadCurve {
    /// The case without its load.
    #[serde(flatten)]
    pub of: Subject,
    /// By rising load.
    pub points: Vec<LoadPoint>,
    /// The load from which more of it only waits.
    pub knee: Option<f64>,
    /// Loads at which the queue grew, so that no response time can be told.
    pub overloaded: Vec<f64>,
}

/// A case under one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadPoint {
    /// Users, or arrivals a second.
    pub load: f64,
    /// The case, in words.
    pub label: String,
    /// Mean time of a transaction.
    pub mean: Estimate<Seconds>,
    /// What 99 % did not exceed, if there are enough to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Estimate<Seconds>>,
    /// Transactions a second, as observed.
    pub rate: Option<PerSecond>,
}

/// The durations of a case in the order in which they came.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// The case.
    #[serde(flatten)]
    pub of: Subject,
    /// Number of samples.
    pub n: usize,
    /// Samples behind each point, of which it is the median.
    pub joined: usize,
    /// Time since the run's start, and duration.
    pub points: Vec<(Seconds, Seconds)>,
    /// Trend over the case, if there are enough blocks.
    pub drift: Option<Drift>,
    /// The line of that trend, from its begin to its end.
    pub trend: Option<[(Seconds, Seconds); 2]>,
}

/// What a model predicts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Predicted {
    /// The part it is predicted of.
    pub device: DeviceName,
    /// Algorithm and operation.
    pub what: String,
    /// The prediction.
    pub time: Seconds,
    /// What the assumptions leave open.
    pub band: Band,
}
