//! Trends as a document, and a series in one table: each case's mean over its runs, and by how much these differ.

use keymark_bench::{Case, Record};
use keymark_stats::{
    Estimate, MIN_POINTS, MIN_RUNS, Ratio, Seconds, Step, deviation_of_runs, estimate_of_runs,
};
use serde::Serialize;

use crate::answers::of_history;
use crate::compare::run_mean;
use crate::history::{READ_THROUGH, Trend, date};
use crate::units;
use crate::{Block, Cell, Document, RemarkKind, Section, TableOf};

/// The trends, each with its levels and its last points, as long as they are few.
pub fn history(trends: &[Trend], shown: usize) -> Document {
    let mut sections = Vec::new();
    if trends.len() > READ_THROUGH {
        sections.push(all(trends));
    } else {
        for trend in trends {
            sections.push(levels(trend));
            sections.push(last(trend, shown));
        }
    }
    if trends.len() > 1 {
        let text = "one trend for each case and machine; machines of one model count as one";
        let remark = Block::remark(RemarkKind::Environment, text);
        sections.push(Section::bare(vec![remark]));
    }
    Document {
        answers: of_history(trends),
        ..Document::of(sections)
    }
}

/// A line for each, with its last level.
fn all(trends: &[Trend]) -> Section {
    let now = |trend: &&Trend| Some(trend.steps.last()?.clone());
    let changed = move |trend: &&Trend| now(trend).filter(|step| step.start > 0);
    let table = TableOf::new(trends, |trend| {
        (trend.case.device.clone(), trend.case.provenance)
    })
    .name("case", |trend| trend.case.to_string())
    .name("machine", |trend| trend.machine.as_str())
    .value("runs", |trend| Cell::from(trend.points.len()))
    .value("level now (95 % interval)", move |trend| {
        Some(now(trend)?.level)
    })
    .value("changed", move |trend| {
        let step = changed(trend)?;
        Some(Cell::from(date(trend.points[step.start].started)))
    })
    .value("ratio to the level before (95 % interval)", move |trend| {
        changed(trend)?.ratio.map(Cell::RatioEstimate)
    })
    .provenance()
    .table();
    let text = "words of one case, or a machine's label, show its runs";
    Section::bare(vec![
        Block::Table(table),
        Block::remark(RemarkKind::Elsewhere, text),
    ])
}

/// The levels, and what else changed where one begins.
fn levels(trend: &Trend) -> Section {
    let heading = format!("{} on {}", trend.case, trend.machine);
    let Some(changes) = &trend.changes else {
        let text = format!(
            "{}; finding changes needs {MIN_POINTS}",
            units::counted(trend.points.len(), "run")
        );
        return Section::headed(heading, vec![Block::remark(RemarkKind::SingleRuns, text)]);
    };
    let first = |step: &&Step| &trend.points[step.start];
    let table = TableOf::new(&trend.steps, |_| {
        (trend.case.device.clone(), trend.case.provenance)
    })
    .name("from", |step| first(step).name.as_str())
    .name("since", |step| date(first(step).started))
    .optional(1, "runs", |step| step.end - step.start)
    .value("level (95 % interval)", |step| step.level)
    .value("ratio to the level before (95 % interval)", |step| {
        step.ratio.map(Cell::RatioEstimate)
    })
    .provenance()
    .table();
    let mut blocks = vec![Block::Table(table)];
    for step in trend.steps.iter().filter(|step| step.start > 0) {
        let with = trend.changed_with(step.start);
        if !with.is_empty() {
            let text = format!("also changed at {}: {}", first(&step).name, with.join("; "));
            blocks.push(Block::remark(RemarkKind::Environment, text));
        }
    }
    let said = match changes.starts.len() {
        0 => "no change seen".to_owned(),
        1 => "one change".to_owned(),
        several => format!("{several} changes"),
    };
    let text = format!(
        "{said} in {} runs and series; each counts once: segmentation of ranks (Killick et al. 2012), with a \
         false change in at most one of twenty series; allows for a correlation of {:.2} between neighbours",
        trend.points.len(),
        changes.lag1
    );
    blocks.push(Block::remark(RemarkKind::Units, text));
    Section::headed(heading, blocks)
}

/// The last points in one table.
fn last(trend: &Trend, shown: usize) -> Section {
    let skipped = trend.points.len().saturating_sub(shown);
    let points = trend.points.iter().enumerate().skip(skipped);
    // The heading names the case.
    let subject = |_: &_| (trend.case.device.clone(), trend.case.provenance);
    let table = TableOf::new(points, subject)
        .name("run", |(_, point)| point.name.as_str())
        .name("started", |(_, point)| date(point.started))
        .optional(1, "runs", |(_, point)| point.runs)
        .value("mean (95 % interval)", |(_, point)| point.mean)
        .value("change", |(number, _)| {
            let step = trend.level(*number).map(|(_, step)| step);
            let begins = step.filter(|step| step.start == *number);
            Some(Cell::Gain(begins?.ratio?.value))
        })
        .provenance()
        .table();
    let mut blocks = vec![Block::Table(table)];
    if skipped > 0 {
        let skipped = units::counted(skipped, "earlier one");
        let text = format!("{skipped} hidden; --last shows more, --json all");
        blocks.push(Block::remark(RemarkKind::Elsewhere, text));
    }
    Section::bare(blocks)
}

/// A case over the runs of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesRow {
    /// What was measured.
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
        .value("runs differ by", |row| row.between_runs.map(Cell::Share))
        .optional(1, "runs", |row| row.runs)
        .provenance()
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
