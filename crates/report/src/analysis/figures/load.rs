//! Response times over load (users of a server, or arrivals at a key), and throughput over the number of workers.

use std::num::NonZeroU32;

use keymark_bench::{Case, Load, Pacing, Rate, Record};
use keymark_stats::{PerSecond, Ratio, Usl};

use super::Row;
use crate::analysis::latencies::service;
use crate::analysis::{Bounds, Scaling};
use crate::grouped;
use crate::{Figure, LoadCurve, LoadPoint, LoadUnit, Plot, Subject, ThroughputCurve};

/// The knee is where this share of the best throughput is reached: with more users they wait for each other (as `keymark tls
/// bench --saturate` has it).
const KNEE: f64 = 0.95;

/// Rows that differ in nothing but their load, and how hard each is loaded.
type Group<'r> = [(f64, &'r Row)];

/// Users and arrivals apart.
pub(in crate::analysis) fn response_times(record: &Record, rows: &[Row]) -> Vec<Figure> {
    let units = [
        (LoadUnit::Users, "response time under load, by users"),
        (LoadUnit::Arrivals, "response time under load, by arrivals"),
    ];
    let figure = |(load, title)| {
        let groups = groups(rows, load);
        let curves: Vec<LoadCurve> = groups.filter_map(|of| curve(record, &of, load)).collect();
        (!curves.is_empty()).then(|| Plot::ResponseTimes { load, curves }.titled(title))
    };
    units.into_iter().filter_map(figure).collect()
}

/// Returns a case's load, if it is counted in that unit.
fn load(row: &Row, unit: LoadUnit) -> Option<f64> {
    let (counted, load) = match row.case.load.pacing {
        Pacing::Open(rate) => (LoadUnit::Arrivals, rate.per_second()),
        Pacing::Thinking(_) => (LoadUnit::Users, f64::from(row.case.concurrency())),
        // Workers of a key without pauses stand in the picture of throughput. A search is no load that somebody chose.
        Pacing::Closed => {
            row.under_load.filter(|load| load.saturated.is_none())?;
            (LoadUnit::Users, f64::from(row.case.concurrency()))
        }
    };
    (counted == unit).then_some(load)
}

/// The case at no particular load.
fn unloaded(case: &Case, unit: LoadUnit) -> Case {
    case.loaded(match unit {
        LoadUnit::Users => case.load.with(NonZeroU32::MIN),
        LoadUnit::Arrivals => Load {
            pacing: Rate::try_from(1.0).map_or(case.load.pacing, Pacing::Open),
            ..case.load
        },
    })
}

fn groups(rows: &[Row], unit: LoadUnit) -> impl Iterator<Item = Vec<(f64, &Row)>> {
    let rows = rows.iter().filter(|row| row.case.replica == 0);
    let loaded = rows.filter_map(|row| Some((load(row, unit)?, row)));
    let groups = grouped(loaded, |(_, row)| unloaded(&row.case, unit).key());
    groups.into_iter().map(|(_, mut rows)| {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows
    })
}

fn curve(record: &Record, group: &Group<'_>, unit: LoadUnit) -> Option<LoadCurve> {
    let first = &group.first()?.1.case;
    let points = group.iter().filter_map(|(at, row)| {
        let summary = row.summary.as_ref()?;
        Some(LoadPoint {
            load: *at,
            label: row.case.to_string(),
            mean: summary.mean,
            p99: summary.p99,
            rate: row.throughput.map(|rate| rate.value),
        })
    });
    // A single one is no curve, but may be joined with those of other runs.
    let points: Vec<LoadPoint> = points.collect();
    if points.is_empty() {
        return None;
    }
    let overloaded = group.iter().filter(|(_, row)| row.overload.is_some());
    let knee = match unit {
        LoadUnit::Users => knee(&points),
        LoadUnit::Arrivals => capacity(record, group),
    };
    Some(LoadCurve {
        of: Subject::labelled(first, first.loaded(Load::single()).to_string()),
        knee,
        overloaded: overloaded.map(|(at, _)| *at).collect(),
        points,
    })
}

/// Joins the loads of two runs of one case.
pub(crate) fn joined(curve: &mut LoadCurve, other: LoadCurve, unit: LoadUnit) {
    let lowest = |curve: &LoadCurve| curve.points.first().map(|point| point.load);
    let knee = if lowest(&other) < lowest(curve) {
        other.knee
    } else {
        curve.knee
    };
    curve.points.extend(other.points);
    curve.points.sort_by(|a, b| a.load.total_cmp(&b.load));
    curve.overloaded.extend(other.overloaded);
    curve.overloaded.sort_by(f64::total_cmp);
    curve.knee = match unit {
        LoadUnit::Users => self::knee(&curve.points),
        // At the lowest load operations wait for nothing else.
        LoadUnit::Arrivals => knee,
    };
}

/// The fewest users with nearly the best throughput. The most users that were tried are no knee: more might do more.
fn knee(points: &[LoadPoint]) -> Option<f64> {
    let rate = |point: &LoadPoint| point.rate.map_or(0.0, |rate| rate.0);
    let best = points.iter().map(rate).fold(0.0, f64::max);
    let reached = points.iter().find(|point| rate(point) >= KNEE * best)?;
    let last = points.last()?;
    (best > 0.0 && reached.load < last.load).then_some(reached.load)
}

/// The rate at which the workers would be busy all the time, by what an operation takes them at the lowest load.
fn capacity(record: &Record, group: &Group<'_>) -> Option<f64> {
    let (_, row) = group.first()?;
    let case = record.cases.get(row.id.0 as usize)?;
    let service = service(case)?;
    (service.0 > 0.0).then(|| f64::from(case.case.concurrency()) / service.0)
}

/// Points of a law.
const POINTS: u32 = 40;

/// More curves than this in one picture are not told apart.
const CURVES: usize = 8;

/// Returns one picture, or one for each algorithm and operation if the curves are too many.
pub(in crate::analysis) fn throughput(scaling: &[Scaling]) -> Vec<Figure> {
    let shown: Vec<&Scaling> = scaling
        .iter()
        .filter(|group| group.levels.len() > 1)
        .collect();
    let title = "throughput of several workers";
    let plot = |shown: Vec<&Scaling>| Plot::Throughput {
        curves: shown.into_iter().map(throughput_curve).collect(),
    };
    if (1..=CURVES).contains(&shown.len()) {
        return vec![plot(shown).titled(title)];
    }
    let groups = grouped(shown, |group| (group.case.algorithm, group.case.operation));
    let groups = groups.into_iter();
    let titled = |(algorithm, operation)| format!("{title}: {algorithm} {operation}");
    groups
        .map(|(key, shown)| plot(shown).titled(titled(key)))
        .collect()
}

fn throughput_curve(group: &Scaling) -> ThroughputCurve {
    let mut bounds: Vec<(String, Ratio)> = Vec::new();
    if let Some(found) = &group.bounds {
        let server = found.by_server().zip(found.server.as_ref());
        bounds.extend(server.map(|(bound, (server, _))| (server.name.to_owned(), bound)));
        bounds.push(("cores".to_owned(), Bounds::by_cores(found)));
    }
    let fits = group.law.as_ref().ok().filter(|law| !law.rejected());
    ThroughputCurve {
        of: Subject::labelled(&group.case, group.name()),
        levels: group.levels.clone(),
        gains: group.gains.clone(),
        bounds,
        law: fits.and_then(|law| points(law, group)).unwrap_or_default(),
    }
}

fn points(law: &Usl, group: &Scaling) -> Option<Vec<(f64, PerSecond)>> {
    let ends = (group.levels.first()?, group.levels.last()?);
    let (first, last) = (f64::from(ends.0.0), f64::from(ends.1.0));
    let at = |number: u32| first * (last / first).powf(f64::from(number) / f64::from(POINTS));
    let point = |number| (at(number), law.throughput(at(number)));
    Some((0..=POINTS).map(point).collect())
}
