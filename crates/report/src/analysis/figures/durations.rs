//! Distributions of durations, and their order in time.

use itertools::Itertools;
use keymark_bench::{CaseRecord, Outcome, Record};
use keymark_stats::{Estimate, Ratio, Seconds, Sorted, Summary, Warning};

use super::Row;
use crate::grouped;
use crate::{Distribution, Figure, Histogram, Plot, Subject, Timeline};

/// A quantile at each per cent, and both ends.
const LEVELS: u32 = 100;
/// More curves than this in one picture are not told apart.
const CURVES: usize = 8;
/// Number of bins.
const BINS: u32 = 48;
/// Left out of a histogram at either end, so that single outliers do not take its room.
const ENDS: f64 = 0.005;
/// More histograms than these are left to tables.
const HISTOGRAMS: usize = 6;

const TITLE: &str = "share finished within a given time";

/// Returns one picture, or one for each algorithm and operation if the curves are too many.
pub(super) fn distributions(record: &Record, rows: &[Row]) -> Vec<Figure> {
    let all = rows.iter().filter_map(|row| distribution(record, row));
    let all: Vec<Distribution> = all.collect();
    let plot = |distributions| Plot::Distributions { distributions };
    match all.len() {
        0 => return Vec::new(),
        1..=CURVES => return vec![plot(all).titled(TITLE)],
        _ => {}
    }
    let mut figures = Vec::new();
    for ((algorithm, operation), group) in grouped(all, |one| (one.algorithm, one.operation)) {
        let pieces = group.len().div_ceil(CURVES);
        // Pieces of about the same size.
        for (number, piece) in (1..).zip(group.chunks(group.len().div_ceil(pieces))) {
            let mut title = format!("{TITLE}: {algorithm} {operation}");
            if pieces > 1 {
                title += &format!(" ({number} of {pieces})");
            }
            figures.push(plot(piece.to_vec()).titled(title));
        }
    }
    figures
}

fn distribution(record: &Record, row: &Row) -> Option<Distribution> {
    // A queue that grows has no distribution of latencies.
    if row.overload.is_some() {
        return None;
    }
    let latencies = record.cases.get(row.id.0 as usize)?.latencies();
    let sorted = Sorted::of(&latencies);
    let quantile = |level| sorted.quantile_ns(f64::from(level) / f64::from(LEVELS));
    let quantiles: Option<Vec<f64>> = (0..=LEVELS).map(quantile).collect();
    Some(Distribution {
        of: Subject::of(&row.case),
        algorithm: row.case.algorithm,
        operation: row.case.operation,
        way: row.case.way(),
        n: latencies.len(),
        percentiles: percentiles(row),
        quantiles: quantiles?.into_iter().map(Seconds::from_nanos).collect(),
    })
}

fn percentiles(row: &Row) -> Vec<(u32, Estimate<Seconds>)> {
    let of = |summary: &Summary| {
        let levels = [(50, summary.median), (90, summary.p90)];
        let p99 = summary.p99.map(|p99| (99, p99));
        levels.into_iter().chain(p99).collect()
    };
    row.summary.as_ref().map(of).unwrap_or_default()
}

/// Returns the histograms of cases with several groups of durations.
pub(super) fn histograms(record: &Record, rows: &[Row]) -> Option<Figure> {
    let found = rows.iter().filter_map(|row| histogram(record, row));
    let histograms: Vec<Histogram> = found.take(HISTOGRAMS).collect();
    let title = "several groups of durations";
    (!histograms.is_empty()).then(|| Plot::Histograms { histograms }.titled(title))
}

fn histogram(record: &Record, row: &Row) -> Option<Histogram> {
    let mut warnings = row.warnings().into_iter();
    warnings.find(|warning| matches!(warning, Warning::Groups(_)))?;
    let sorted = Sorted::of(&record.cases.get(row.id.0 as usize)?.latencies());
    let (low, high) = (sorted.quantile_ns(ENDS)?, sorted.quantile_ns(1.0 - ENDS)?);
    if low <= 0.0 || high <= low {
        return None;
    }
    let edge = |number: u32| low + (high - low) * f64::from(number) / f64::from(BINS);
    let durations = sorted.as_slice();
    // The last bin holds its end.
    let place = |number: u32| match number {
        BINS => durations.partition_point(|duration| *duration as f64 <= high),
        _ => durations.partition_point(|duration| (*duration as f64) < edge(number)),
    };
    let bin = |number: u32| {
        let (from, to) = (edge(number), edge(number + 1));
        let count = place(number + 1).saturating_sub(place(number));
        (Seconds::from_nanos(from), Seconds::from_nanos(to), count)
    };
    let bins: Vec<(Seconds, Seconds, usize)> = (0..BINS).map(bin).collect();
    let held: usize = bins.iter().map(|(_, _, count)| count).sum();
    Some(Histogram {
        of: Subject::of(&row.case),
        beyond: durations.len().saturating_sub(held),
        bins,
    })
}

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
    let drifted_first = rows.iter().sorted_by_cached_key(|row| !row.has_drifted());
    let shown = drifted_first.filter_map(|row| of_case(record, row, start));
    let timelines: Vec<Timeline> = shown.take(CASES).collect();
    let of = rows.iter().filter(|row| row.summary.is_some()).count();
    let some = !timelines.is_empty();
    let plot = Plot::Samples {
        timelines,
        of,
        machine: machine(record, start),
    };
    some.then(|| plot.titled("durations in order of time"))
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

/// Returns the reference calculation's times around each block, over their mean.
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
