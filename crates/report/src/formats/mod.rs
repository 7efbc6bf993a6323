//! Output formats of runs, each a [`Format`](crate::render::Format) with a line in [`FORMATS`]. The whole record, which `keymark
//! import` reads, and CSV are here.

pub mod ci;
mod openmetrics;
#[cfg(test)]
mod tests;

use std::io;

use keymark_bench::case::Case;
use keymark_stats::{Estimate, PerSecond, Seconds};

use crate::analysis::{Analysis, Row};
use crate::render::{self, Exported, Format, FormatError, html, markdown};
use crate::report::{SeriesRow, series_rows};
use crate::table;
use crate::visible::visible;
use keymark_records::exchange::json;

/// All formats.
pub static FORMATS: &[&Format] = &[
    &RECORD,
    &CSV,
    &SAMPLES,
    &markdown::FORMAT,
    &render::DOCUMENT,
    &openmetrics::FORMAT,
    &ci::JUNIT,
    &ci::GITHUB,
    &html::FORMAT,
];

/// A case with its figures, of a run or of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The case.
    pub case: Case,
    /// Mean time.
    pub mean: Option<Estimate<Seconds>>,
    /// Operations per second.
    pub throughput: Option<Estimate<PerSecond>>,
    /// Median time.
    pub median: Option<Seconds>,
    /// 99th percentile; none with too few operations.
    pub p99: Option<Seconds>,
    /// Operations behind the figures.
    pub operations: Option<u64>,
    /// Runs behind the figures.
    pub runs: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Reason for an early end, if any.
    pub failure: Option<String>,
}

impl From<&Row> for Measured {
    fn from(row: &Row) -> Self {
        let summary = row.summary.as_ref();
        Self {
            case: row.case.clone(),
            mean: row.time(),
            throughput: row.throughput,
            median: summary.map(|summary| summary.median.value),
            p99: summary.and_then(|summary| Some(summary.p99?.value)),
            operations: row.n(),
            runs: 1,
            failed: row.failed as u64,
            failure: row.failure.clone().or_else(|| {
                let overload = row.overload.as_ref()?;
                Some(format!(
                    "overloaded: {:.2}× as many operations arrive as can be served",
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
            failed: 0,
            failure: None,
        }
    }
}

/// Returns the cases of the first run, or of the series.
fn measured(exported: &Exported<'_>) -> Vec<Measured> {
    match exported {
        Exported::Runs { runs, families, .. } => {
            let rows = runs
                .iter()
                .take(1)
                .flat_map(|run| Analysis::of(run, families).rows);
            rows.map(|row| Measured::from(&row)).collect()
        }
        Exported::Series { runs, .. } => series_rows(runs).iter().map(Measured::from).collect(),
    }
}

/// The whole record.
static RECORD: Format = Format {
    word: "record",
    about: "The whole record with every sample (schema/record-1.json), on one line: 'keymark import' reads it. For a \
            series one line for each run",
    endings: &[],
    write: |exported| {
        let mut bytes = Vec::new();
        for record in exported.records() {
            json::write(record, &mut bytes)?;
        }
        Ok(String::from_utf8(bytes).map_err(io::Error::other)?)
    },
};

/// A line per operation, as in the view `latency` of an archive.
static SAMPLES: Format = Format {
    word: "samples",
    about: "CSV with one line for each operation",
    endings: &[],
    write: |exported| {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record([
            "run",
            "case",
            "round",
            "worker",
            "scheduled_ns",
            "start_ns",
            "end_ns",
            "latency_s",
            "outcome",
        ])?;
        for run in exported.records() {
            for case in &run.cases {
                for block in &case.blocks {
                    for sample in &block.samples {
                        let id = visible(&run.id.0);
                        let name = case.case.to_string();
                        table.serialize((
                            id,
                            visible(&name),
                            block.round,
                            sample.worker,
                            sample.scheduled.0,
                            sample.start.0,
                            sample.end.0,
                            sample.latency().as_secs_f64(),
                            sample.outcome,
                        ))?;
                    }
                }
            }
        }
        Ok(table::finished(table)?)
    },
};

/// A line per case. A run has the columns of [`crate::table`], a series has fewer.
static CSV: Format = Format {
    word: "csv",
    about: "One line for each case",
    endings: &["csv"],
    write: |exported| match exported {
        Exported::Runs {
            runs: [run],
            families,
            ..
        } => Ok(table::csv(table::RUN, &Analysis::of(run, families).rows)?),
        Exported::Runs { .. } => Err(FormatError::SeveralRuns),
        Exported::Series { runs, .. } => Ok(table::csv(table::SERIES, &series_rows(runs))?),
    },
};
