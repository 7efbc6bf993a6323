//! Data of pictures.

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{DeviceName, Provenance, StackName};
use keymark_bench::operation::Operation;
use keymark_stats::{Estimate, Seconds};
use serde::Serialize;

/// A picture's data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "figure", rename_all = "snake_case")]
pub enum Figure {
    /// Dots with intervals on a logarithmic axis of time, and a line at what users tolerate.
    Means {
        /// What it shows.
        title: String,
        /// What users tolerate.
        tolerance: Seconds,
        /// The dots.
        means: Vec<Mean>,
    },
    /// Cumulated shares over a logarithmic axis of time.
    Distributions {
        /// What it shows.
        title: String,
        /// A curve each.
        distributions: Vec<Distribution>,
    },
}

/// One dot with its interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mean {
    /// On what it was had.
    pub device: DeviceName,
    /// Its kind.
    pub provenance: Provenance,
    /// The case, in words.
    pub label: String,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// What was asked of it.
    pub operation: Operation,
    /// Through what.
    pub stack: StackName,
    /// The same with parameters and load, in words.
    pub way: String,
    /// Mean time.
    pub mean: Estimate<Seconds>,
}

/// The distribution of a case's durations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distribution {
    /// On what it was had.
    pub device: DeviceName,
    /// Its kind.
    pub provenance: Provenance,
    /// The case, in words.
    pub label: String,
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
