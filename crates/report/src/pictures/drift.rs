//! Durations in the order in which they came, a panel for each case, above the machine's own speed.

use itertools::Itertools;
use keymark_bench::{CaseRecord, Outcome, Record};
use keymark_stats::{Drift, Ratio, Seconds};

use super::names::left_out;
use super::{AnalyzedRun, PictureKind, about, fill, framed, is_drawn, line, named, spacing, span};
use crate::analysis::Row;
use crate::charts::{Along, Chart, Dot, Fill, Mark, Panel, Path, Polyline, Rule, Scale, Spacing};
use crate::non_empty;
use crate::units::{self, Unit};
use crate::visible::visible;

/// Cases of a picture: those whose durations drifted first.
const CASES: usize = 6;
/// Points of a case; more samples are joined.
const POINTS: usize = 240;
/// Longest over shortest duration from which the axis is logarithmic.
const APART: f64 = 5.0;

/// The durations of a case.
struct Timeline<'r> {
    row: &'r Row,
    /// Number of samples.
    n: usize,
    /// Samples behind each point, which has their median.
    joined: usize,
    /// Time since the run's start, and duration.
    points: Vec<(Seconds, Seconds)>,
}

/// Draws the first cases of all runs.
pub(super) fn chart(runs: &[AnalyzedRun<'_>]) -> Option<Chart> {
    draw(runs, |_| true)
}

/// Draws the cases of a run whose durations drifted.
pub(crate) fn drifted(run: AnalyzedRun<'_>) -> Option<Chart> {
    draw(&[run], Row::has_drifted)
}

fn draw(runs: &[AnalyzedRun<'_>], wanted: fn(&Row) -> bool) -> Option<Chart> {
    let rows = || runs.iter().flat_map(|run| run.rows());
    let shown = rows().filter(|(_, row)| wanted(row));
    let shown = shown.sorted_by_cached_key(|(_, row)| !row.has_drifted());
    let timelines = shown.filter_map(|(record, row)| timeline(record, row));
    let timelines = non_empty(timelines.take(CASES))?;
    let machine = machine(runs.first()?.record);
    let all = rows().filter(|(_, row)| row.summary.is_some()).count();
    let mut panels: Vec<Panel> = timelines.iter().map(panel).collect();
    panels.extend(speed(&machine));
    let mut notes = Vec::new();
    if timelines.iter().any(|one| one.joined > 1) {
        notes.push("Where there are many samples, a dot is the median of several.".to_owned());
    }
    if timelines.iter().any(|one| drift(one.row).is_some()) {
        notes.push("Broken lines: the trend over the case (Theil & Sen).".to_owned());
    }
    notes.extend(left_out(timelines.len(), all, "cases"));
    let what = "time since the first operation of the run";
    let x = Scale::new(what, Unit::Seconds, Spacing::FromZero);
    let parts = timelines
        .iter()
        .map(|one| (one.row.case.provenance, said(one)));
    let title = "durations in order of time";
    Some(Chart {
        panels,
        notes,
        ..framed(PictureKind::Samples, title, parts, CASES, x)
    })
}

fn start(record: &Record) -> Option<u64> {
    let samples = record.cases.iter().flat_map(CaseRecord::samples);
    samples.map(|sample| sample.start.0).min()
}

fn timeline<'r>(record: &Record, row: &'r Row) -> Option<Timeline<'r>> {
    row.summary.as_ref()?;
    let start = start(record)?;
    let case = record.cases.get(row.id.0 as usize)?;
    let done = case
        .samples()
        .filter(|sample| sample.outcome == Outcome::Done);
    let samples = done.map(|sample| (sample.start.0.saturating_sub(start), sample.latency_ns()));
    let samples = samples.sorted_unstable().collect_vec();
    let joined = samples.len().div_ceil(POINTS).max(1);
    let points: Vec<(Seconds, Seconds)> = samples.chunks(joined).filter_map(point).collect();
    let sound = |(at, time): &(Seconds, Seconds)| at.0.is_finite() && is_drawn(time.0);
    let is_drawn = !points.is_empty() && points.iter().all(sound);
    is_drawn.then_some(Timeline {
        row,
        n: samples.len(),
        joined,
        points,
    })
}

/// Middle of a stretch of samples: its time, and the median of its durations.
fn point(stretch: &[(u64, u64)]) -> Option<(Seconds, Seconds)> {
    let (from, to) = (stretch.first()?.0, stretch.last()?.0);
    let durations = stretch.iter().map(|(_, duration)| *duration);
    let durations = durations.sorted_unstable().collect_vec();
    let median = *durations.get(durations.len() / 2)?;
    let middle = Seconds::from_nanos(f64::midpoint(from as f64, to as f64));
    Some((middle, Seconds::from_nanos(median as f64)))
}

/// Time of the reference calculation around each block, over its mean.
fn machine(record: &Record) -> Vec<(Seconds, Ratio)> {
    let start = start(record).unwrap_or(0);
    let blocks = record.cases.iter().flat_map(|case| &case.blocks);
    let times = blocks.filter_map(|block| {
        let first = block.samples.first()?;
        Some((first.start.0.saturating_sub(start), block.reference_ns?))
    });
    let times = times.sorted_unstable().collect_vec();
    let mean = times.iter().map(|(_, time)| *time as f64).sum::<f64>() / times.len() as f64;
    let stretches = times
        .chunks(times.len().div_ceil(POINTS).max(1))
        .filter_map(point);
    let relative = stretches.map(|(at, time)| (at, Ratio(time.0 * 1e9 / mean)));
    relative.filter(|(_, ratio)| ratio.0.is_finite()).collect()
}

fn drift(row: &Row) -> Option<Drift> {
    row.summary.as_ref()?.drift
}

fn panel(one: &Timeline<'_>) -> Panel {
    let (label, shade) = (one.row.case.to_string(), fill(one.row.case.provenance));
    let ends = one.points.iter().map(|(_, time)| time.0);
    let spacing = spacing(ends, APART, Spacing::Linear).unwrap_or(Spacing::Linear);
    let dots = one.points.iter().map(|(at, time)| {
        let text = format!("after {}: {}", units::duration(*at), units::duration(*time));
        Mark::Dot(Dot {
            x: at.0,
            y: time.0,
            interval: None,
            series: 0,
            fill: shade,
            about: about(&label, text),
        })
    });
    let trend = trend(one).map(|trend| {
        Mark::Line(Polyline {
            path: Path::Fitted,
            about: about(&label, words(one.row)),
            ..line(&label, shade, 1, trend)
        })
    });
    let marks = dots.chain(trend).collect();
    let heading = format!("{}: {}", visible(&label), words(one.row));
    Panel::over(Scale::new("", Unit::Seconds, spacing), 110.0, marks).headed(heading)
}

/// The line of the trend, from its begin to its end.
fn trend(one: &Timeline<'_>) -> Option<[(f64, f64); 2]> {
    let summary = one.row.summary.as_ref()?;
    let middle = summary.median.value.0;
    let half = middle * summary.drift?.relative_change.0 / 2.0;
    let (first, last) = (one.points.first()?.0, one.points.last()?.0);
    (middle + half)
        .is_finite()
        .then_some([(first.0, middle - half), (last.0, middle + half)])
}

fn words(row: &Row) -> String {
    let Some(drift) = drift(row) else {
        return "too few blocks to see drift".to_owned();
    };
    let p = match drift.p_value {
        ..0.01 => "p < 0.01".to_owned(),
        p => format!("p = {p:.2}"),
    };
    let change = drift.relative_change.0 * 100.0;
    format!("{change:+.1} % from start to end ({p})")
}

fn speed(machine: &[(Seconds, Ratio)]) -> Option<Panel> {
    let points = machine.iter().map(|(at, ratio)| (at.0, ratio.0 - 1.0));
    let points = points.filter(|(at, _)| at.is_finite()).collect_vec();
    if points.len() < 2 {
        return None;
    }
    let mean = Mark::Rule(Rule {
        along: Along::Y,
        at: 0.0,
        label: "its mean".to_owned(),
    });
    let label = "time of a fixed calculation over its mean";
    let line = Mark::Line(line(label, Fill::Solid, 7, points));
    let heading = "the machine itself: time of a fixed calculation, relative to its mean";
    let scale = Scale::new("", Unit::Change, Spacing::Linear);
    Some(Panel::over(scale, 90.0, vec![mean, line]).headed(heading))
}

fn said(one: &Timeline<'_>) -> String {
    let times = one.points.iter().map(|(_, time)| *time);
    let ends = times.minmax_by(|a, b| a.0.total_cmp(&b.0)).into_option();
    let span = ends
        .map(|(least, most)| span(least, most))
        .unwrap_or_default();
    let (name, words) = (named(&one.row.case), words(one.row));
    format!("{name}, {} operations, {span}; {words}", one.n)
}
