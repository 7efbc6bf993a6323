//! Number of operations by duration, with the median and the 99th percentile: a picture for each case.

use itertools::Itertools;
use keymark_bench::Record;
use keymark_stats::{Seconds, Sorted, Summary, Warning};

use super::{AnalyzedRun, PictureKind, about, fill, framed, named, span};
use crate::analysis::Row;
use crate::charts::{Along, Bar, Chart, Mark, Panel, Rule, Scale, Spacing};
use crate::units::{self, Unit};

const BINS: u32 = 48;
/// Share left out at either end, so that single outliers do not take all the room.
const ENDS: f64 = 0.005;
/// Pictures of a run; other cases are left to tables.
const CASES: usize = 6;

/// Draws the first cases, those with several groups of durations before the others.
pub(super) fn charts(runs: &[AnalyzedRun<'_>]) -> Vec<Chart> {
    let rows = runs.iter().flat_map(|run| run.rows());
    let rows = rows.sorted_by_key(|(_, row)| !has_steps(row));
    first(rows).collect()
}

/// Draws the cases with several groups of durations.
pub(crate) fn stepped(run: AnalyzedRun<'_>) -> impl Iterator<Item = Chart> {
    first(run.rows().filter(|(_, row)| has_steps(row)))
}

fn first<'r>(rows: impl Iterator<Item = (&'r Record, &'r Row)>) -> impl Iterator<Item = Chart> {
    rows.filter_map(|(record, row)| draw(record, row))
        .take(CASES)
}

fn has_steps(row: &Row) -> bool {
    let mut warnings = row.warnings().into_iter();
    warnings.any(|warning| matches!(warning, Warning::Groups(_)))
}

fn draw(record: &Record, row: &Row) -> Option<Chart> {
    // A growing queue has no distribution of latencies.
    let summary = row.summary.as_ref().filter(|_| row.overload.is_none())?;
    let sorted = Sorted::of(&record.cases.get(row.id.0 as usize)?.latencies());
    let (low, high) = (sorted.quantile_ns(ENDS)?, sorted.quantile_ns(1.0 - ENDS)?);
    if low <= 0.0 || high <= low {
        return None;
    }
    let bins = bins(sorted.as_slice(), low, high);
    let held: usize = bins.iter().map(|(.., count)| count).sum();
    let beyond = sorted.as_slice().len().saturating_sub(held);
    let label = row.case.to_string();
    let shade = fill(row.case.provenance);
    let filled = bins.into_iter().filter(|(.., count)| *count > 0);
    let bars = filled.map(|(from, to, count)| {
        let text = format!("{count} operations {}", span(from, to));
        Mark::Bar(Bar {
            from: from.0,
            to: to.0,
            y: count as f64,
            series: 0,
            fill: shade,
            label: String::new(),
            about: about(&label, text),
        })
    });
    let marks = bars.chain(percentiles(summary, high)).collect();
    let said = format!(
        "{}: {held} operations {}; {beyond} beyond the picture",
        named(&row.case),
        span(Seconds::from_nanos(low), Seconds::from_nanos(high))
    );
    let x = Scale::new("time of an operation", Unit::Seconds, Spacing::Linear);
    let y = Scale::new("operations", Unit::Count, Spacing::FromZero);
    let parts = std::iter::once((row.case.provenance, said));
    let title = format!("how often each duration came: {label}");
    Some(Chart {
        panels: vec![Panel::over(y, 200.0, marks)],
        ..framed(PictureKind::Distributions, &title, parts, 1, x)
    })
}

/// Ends of each bin, and its number of durations.
fn bins(durations: &[u64], low: f64, high: f64) -> Vec<(Seconds, Seconds, usize)> {
    let edge = |number: u32| low + (high - low) * f64::from(number) / f64::from(BINS);
    // The last bin holds its end.
    let place = |number: u32| match number {
        BINS => durations.partition_point(|duration| *duration as f64 <= high),
        _ => durations.partition_point(|duration| (*duration as f64) < edge(number)),
    };
    let bin = |number: u32| {
        let count = place(number + 1).saturating_sub(place(number));
        let [from, to] = [number, number + 1].map(|end| Seconds::from_nanos(edge(end)));
        (from, to, count)
    };
    (0..BINS).map(bin).collect()
}

/// Lines at the median and the 99th percentile, if it is in the picture.
fn percentiles(summary: &Summary, high: f64) -> impl Iterator<Item = Mark> {
    let found = [Some((50, summary.median)), summary.p99.map(|p99| (99, p99))];
    let found = found.into_iter().flatten();
    let shown = found.filter(move |(_, time)| time.value.0 * 1e9 <= high);
    shown.map(|(level, time)| {
        Mark::Rule(Rule {
            along: Along::X,
            at: time.value.0,
            label: format!("{level} % within {}", units::duration(time.value)),
        })
    })
}
