//! A series as a table: each case's mean over its runs, and by how much these differ.

use keymark_bench::{Case, Record};
use keymark_stats::{Estimate, MIN_RUNS, Ratio, Seconds, deviation_of_runs, estimate_of_runs};
use serde::Serialize;

use crate::compare::run_mean;
use crate::{Block, Cell, Document, RemarkKind, Section, TableOf};

/// A case over the runs of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesRow {
    #[serde(serialize_with = "as_words")]
    pub case: Case,
    /// Runs that have it.
    pub runs: usize,
    /// Mean of the runs' means, with Student's t over them.
    pub mean_s: Estimate<Seconds>,
    /// Standard deviation of the runs' means, as a share.
    pub between_runs: Option<Ratio>,
}

fn as_words<S: serde::Serializer>(case: &Case, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(case)
}

/// The cases, in the order of the first run.
pub fn series_rows(runs: &[Record]) -> Vec<SeriesRow> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let row = |case: &Case| {
        let means: Vec<Seconds> = runs.iter().filter_map(|run| run_mean(run, case)).collect();
        Some(SeriesRow {
            case: case.clone(),
            runs: means.len(),
            mean_s: estimate_of_runs(&means)?,
            between_runs: deviation_of_runs(&means),
        })
    };
    first
        .cases
        .iter()
        .filter_map(|case| row(&case.case))
        .collect()
}

/// The report of a series.
pub fn series(runs: &[Record], rows: &[SeriesRow]) -> Document {
    let table = TableOf::cases(rows, |row| &row.case)
        .value("mean over runs (95 % interval)", |row| row.mean_s)
        .value("runs differ by", |row| row.between_runs.map(Cell::share))
        .optional(1, "runs", |row| row.runs)
        .provenance(|row| row.case.provenance)
        .table();
    let mut blocks = vec![Block::Table(table)];
    if runs.len() < MIN_RUNS {
        let text = format!(
            "{} runs are too few to show how much runs differ: make {MIN_RUNS} or more, ideally 5",
            runs.len()
        );
        blocks.push(Block::remark(RemarkKind::SingleRuns, text));
    }
    Document::of(vec![Section::bare(blocks)])
}
