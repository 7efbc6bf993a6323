//! Durations in the order in which they came.

use keymark_bench::record::{CaseRecord, Record};
use keymark_bench::sample::Outcome;
use keymark_stats::{Ratio, Seconds, Warning};

use super::Row;
use crate::document::{Figure, Subject, Timeline};

/// Cases beyond these are left out: first come those whose durations drifted.
const CASES: usize = 6;
/// Points of a case; more samples are joined.
const POINTS: usize = 240;

pub(super) fn timeline(record: &Record, rows: &[Row]) -> Option<Figure> {
    let start = record
        .cases
        .iter()
        .flat_map(CaseRecord::samples)
        .map(|sample| sample.start.0)
        .min()?;
    let drifted = |row: &&Row| {
        let warnings = row.summary.as_ref().map(keymark_stats::Summary::warnings);
        let mut warnings = warnings.unwrap_or_default().into_iter();
        warnings.any(|warning| matches!(warning, Warning::Drift(_)))
    };
    let mut order: Vec<&Row> = rows.iter().filter(drifted).collect();
    order.extend(rows.iter().filter(|row| !drifted(row)));
    let shown = order.iter().filter_map(|row| of_case(record, row, start));
    let timelines: Vec<Timeline> = shown.take(CASES).collect();
    let of = rows.iter().filter(|row| row.summary.is_some()).count();
    (!timelines.is_empty()).then(|| Figure::Samples {
        title: "durations in order of time".to_owned(),
        timelines,
        of,
        machine: machine(record, start),
    })
}

fn of_case(record: &Record, row: &Row, start: u64) -> Option<Timeline> {
    let summary = row.summary.as_ref()?;
    let case = record.cases.get(row.id.0 as usize)?;
    let done = case
        .samples()
        .filter(|sample| sample.outcome == Outcome::Done);
    let mut samples: Vec<(u64, u64)> = done
        .map(|sample| (sample.start.0.saturating_sub(start), sample.latency_ns()))
        .collect();
    samples.sort_unstable();
    let joined = samples.len().div_ceil(POINTS).max(1);
    let points: Vec<(Seconds, Seconds)> = samples.chunks(joined).filter_map(point).collect();
    let (first, last) = (points.first()?.0, points.last()?.0);
    let trend = summary.drift.map(|drift| {
        let half = summary.median.value.0 * drift.relative_change.0 / 2.0;
        let middle = summary.median.value.0;
        [
            (first, Seconds(middle - half)),
            (last, Seconds(middle + half)),
        ]
    });
    Some(Timeline {
        of: Subject::of(&row.case),
        n: samples.len(),
        joined,
        points,
        drift: summary.drift,
        trend,
    })
}

/// Middle of a stretch of samples: its time, and the median of its durations.
fn point(stretch: &[(u64, u64)]) -> Option<(Seconds, Seconds)> {
    let (from, to) = (stretch.first()?.0, stretch.last()?.0);
    let mut durations: Vec<u64> = stretch.iter().map(|(_, duration)| *duration).collect();
    durations.sort_unstable();
    let median = *durations.get(durations.len() / 2)?;
    let middle = f64::midpoint(from as f64, to as f64);
    Some((
        Seconds::from_nanos(middle),
        Seconds::from_nanos(median as f64),
    ))
}

/// What the reference calculation took around each block, over its mean.
fn machine(record: &Record, start: u64) -> Vec<(Seconds, Ratio)> {
    let blocks = record.cases.iter().flat_map(|case| &case.blocks);
    let mut times: Vec<(u64, u64)> = blocks
        .filter_map(|block| {
            let first = block.samples.first()?;
            Some((first.start.0.saturating_sub(start), block.reference_ns?))
        })
        .collect();
    times.sort_unstable();
    if times.len() < 2 {
        return Vec::new();
    }
    let mean = times.iter().map(|(_, time)| *time as f64).sum::<f64>() / times.len() as f64;
    let joined = times.len().div_ceil(POINTS);
    let stretches = times.chunks(joined).filter_map(point);
    let relative = |(at, time): (Seconds, Seconds)| (at, Ratio(time.0 * 1e9 / mean));
    stretches
        .map(relative)
        .filter(|(_, ratio)| ratio.0.is_finite())
        .collect()
}
