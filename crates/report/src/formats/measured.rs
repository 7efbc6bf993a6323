//! Cases of a run and of a series alike, as other programs take them.

use keymark_bench::case::Case;
use keymark_stats::{Estimate, PerSecond, Ratio, Seconds};

use crate::analysis::Row;
use crate::render::Exported;
use crate::series::{self, SeriesRow};

/// A case with its figures, of a run or of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What was measured.
    pub case: Case,
    /// Mean time, if there is one.
    pub mean: Option<Estimate<Seconds>>,
    /// Operations a second.
    pub throughput: Option<Estimate<PerSecond>>,
    /// Time that half of the operations did not exceed.
    pub median: Option<Seconds>,
    /// Time that 99 % of them did not exceed; none where so few operations do not bound it.
    pub p99: Option<Seconds>,
    /// Operations behind the figures.
    pub operations: Option<u64>,
    /// Runs behind the figures.
    pub runs: u64,
    /// By how much these differ (standard deviation), if there are several.
    pub between_runs: Option<Ratio>,
    /// Operations that failed.
    pub failed: u64,
    /// Why the case ended early, if it did.
    pub failure: Option<String>,
}

impl From<&Row> for Measured {
    fn from(row: &Row) -> Self {
        let summary = row.summary.as_ref();
        let published = row.published.map(Estimate::bare);
        Self {
            case: row.case.clone(),
            mean: summary.map(|summary| summary.mean).or(published),
            throughput: row.throughput,
            median: summary.map(|summary| summary.median.value),
            p99: summary.and_then(|summary| Some(summary.p99?.value)),
            operations: row.n(),
            runs: 1,
            between_runs: None,
            failed: row.failed as u64,
            failure: row.failure.clone().or_else(|| {
                let overload = row.overload.as_ref()?;
                Some(format!(
                    "overloaded: {:.2} times as many operations arrive as can be served",
                    overload.utilisation.0
                ))
            }),
        }
    }
}

impl From<&SeriesRow> for Measured {
    fn from(row: &SeriesRow) -> Self {
        Self {
            case: row.case.clone(),
            mean: Some(row.mean_s),
            throughput: None,
            median: None,
            p99: None,
            operations: None,
            runs: row.runs as u64,
            between_runs: row.between_runs,
            failed: 0,
            failure: None,
        }
    }
}

/// The cases of the first run, or of the series.
pub(super) fn measured(exported: &Exported<'_>) -> Vec<Measured> {
    match exported {
        Exported::Runs { .. } => exported.rows().iter().map(Measured::from).collect(),
        Exported::Series { runs, .. } => series::rows(runs).iter().map(Measured::from).collect(),
    }
}
