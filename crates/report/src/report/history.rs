//! Trends as a document.

use keymark_stats::{MIN_POINTS, Step};

use crate::answers::of_history;
use crate::document::{Block, Cell, Document, RemarkKind, Section, TableOf};
use crate::history::{Trend, date};
use crate::units;

/// The trends, each with its levels and its last points.
pub fn history(trends: &[Trend], shown: usize) -> Document {
    let mut sections = Vec::new();
    for trend in trends {
        sections.push(levels(trend));
        sections.push(last(trend, shown));
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
