//! Response times over load: users of a server, or arrivals at a key; with the knee.

use std::num::NonZeroU32;

use itertools::Itertools;
use keymark_bench::{Case, Load, Pacing, Provenance, Rate, Record};
use keymark_stats::{Estimate, PerSecond, Seconds};

use super::names::{apart, left_out};
use super::{
    AnalyzedRun, CURVES, PictureKind, about, drawable, fill, framed, interval, is_drawn, line,
    track,
};
use crate::analysis::Row;
use crate::analysis::latencies::service;
use crate::charts::{Along, Chart, Mark, Panel, Path, Polyline, Rule, Scale, Spacing};
use crate::grouped;
use crate::units::{self, Unit};
use crate::visible::visible;

/// Share of the best throughput at the knee: with more users they wait for each other (as in `keymark tls bench
/// --saturate`).
const KNEE: f64 = 0.95;

const RESPONSE: &str = "mean, and 99th percentile (broken lines)";

/// Unit of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadUnit {
    /// Users or workers, each of whom waits for an answer.
    Users,
    /// Arrivals per second.
    Arrivals,
}

/// A case under several loads.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCurve {
    /// Name of the case without its load.
    pub label: String,
    pub provenance: Provenance,
    /// Points by rising load.
    pub points: Vec<LoadPoint>,
    /// Load above which more only waits.
    pub knee: Option<f64>,
    /// Loads at which the queue grew, so that there is no response time.
    pub overloaded: Vec<f64>,
}

/// A case under one load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPoint {
    /// Users, or arrivals per second.
    pub load: f64,
    pub label: String,
    /// Mean time of a transaction.
    pub mean: Estimate<Seconds>,
    pub p99: Option<Estimate<Seconds>>,
    /// Transactions per second, as observed.
    pub rate: Option<PerSecond>,
}

/// Users and arrivals apart.
pub(super) fn charts(runs: &[AnalyzedRun<'_>]) -> Vec<Chart> {
    let pictures = [
        ("response time under load, by users", LoadUnit::Users),
        ("response time under load, by arrivals", LoadUnit::Arrivals),
    ];
    pictures
        .into_iter()
        .filter_map(|(title, unit)| of_curves(title, unit, &curves(runs, unit)))
        .collect()
}

/// The most loads that a case was measured at.
pub(super) fn most_loads(runs: &[AnalyzedRun<'_>]) -> usize {
    let units = [LoadUnit::Users, LoadUnit::Arrivals].into_iter();
    let curves = units.flat_map(|unit| curves(runs, unit));
    let loads = curves.map(|curve| curve.points.len());
    loads.max().unwrap_or(0)
}

fn curves(runs: &[AnalyzedRun<'_>], unit: LoadUnit) -> Vec<LoadCurve> {
    let rows = runs.iter().flat_map(|run| run.rows());
    let rows = rows.filter(|(_, row)| row.case.replica == 0);
    let loaded = rows.filter_map(|(record, row)| Some((load(row, unit)?, record, row)));
    let groups = grouped(loaded, |(.., row)| unloaded(&row.case, unit).key());
    groups
        .into_iter()
        .filter_map(|(_, group)| curve(group, unit))
        .collect()
}

/// Load of a case, if it is counted in that unit.
fn load(row: &Row, unit: LoadUnit) -> Option<f64> {
    let (counted, load) = match row.case.load.pacing {
        Pacing::Open(rate) => (LoadUnit::Arrivals, rate.per_second()),
        Pacing::Thinking(_) => (LoadUnit::Users, f64::from(row.case.workers())),
        // Workers of a key without pauses are in the picture of throughput. A search is no load that you chose.
        Pacing::Closed => {
            row.under_load.filter(|load| load.saturated.is_none())?;
            (LoadUnit::Users, f64::from(row.case.workers()))
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

fn curve(mut group: Vec<(f64, &Record, &Row)>, unit: LoadUnit) -> Option<LoadCurve> {
    group.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, record, first) = *group.first()?;
    let points = group.iter().filter_map(|(load, _, row)| {
        let summary = row.summary.as_ref()?;
        Some(LoadPoint {
            load: *load,
            label: row.case.to_string(),
            mean: summary.mean,
            p99: summary.p99,
            rate: row.throughput.map(|rate| rate.value),
        })
    });
    let points = points.collect_vec();
    let overloaded = group.iter().filter(|(.., row)| row.overload.is_some());
    Some(LoadCurve {
        label: first.case.loaded(Load::single()).to_string(),
        provenance: first.case.provenance,
        knee: match unit {
            LoadUnit::Users => knee(&points),
            LoadUnit::Arrivals => capacity(record, first),
        },
        overloaded: overloaded.map(|(load, ..)| *load).collect(),
        points,
    })
}

/// The fewest users with nearly the best throughput. The most users that were tried are no knee: more might do more.
fn knee(points: &[LoadPoint]) -> Option<f64> {
    let rate = |point: &LoadPoint| point.rate.map_or(0.0, |rate| rate.0);
    let best = points.iter().map(rate).fold(0.0, f64::max);
    let reached = points.iter().find(|point| rate(point) >= KNEE * best)?;
    let last = points.last()?;
    (best > 0.0 && reached.load < last.load).then_some(reached.load)
}

/// The rate at which the workers would be busy all the time, by the time of an operation at the lowest load.
fn capacity(record: &Record, row: &Row) -> Option<f64> {
    let case = record.cases.get(row.id.0 as usize)?;
    let service = service(case)?;
    (service.0 > 0.0).then(|| f64::from(case.case.workers()) / service.0)
}

/// Draws curves of response times, and of throughput where it was observed.
pub fn of_curves(title: &str, unit: LoadUnit, curves: &[LoadCurve]) -> Option<Chart> {
    let sound = |point: &LoadPoint| is_drawn(point.mean.value.0) && is_drawn(point.load);
    let (shown, all) = drawable(curves, CURVES, |curve| {
        curve.points.len() > 1 && curve.points.iter().all(sound)
    })?;
    let (common, names) = apart(shown.iter().map(|curve| curve.label.as_str()));
    let (what, x) = match unit {
        LoadUnit::Users => ("users", Unit::Count),
        LoadUnit::Arrivals => ("arrivals per second", Unit::PerSecond),
    };
    let points = || shown.iter().flat_map(|curve| &curve.points);
    let loads = points()
        .map(|point| point.load)
        .sorted_by(f64::total_cmp)
        .dedup();
    let x = Scale::new(what, x, Spacing::Logarithmic).ticks(loads.collect());
    let each = |marks: fn(&LoadCurve, usize, &str) -> Vec<Mark>| {
        let curves = shown.iter().zip(&names).enumerate();
        curves.flat_map(move |(series, (curve, name))| marks(curve, series, name))
    };
    let knees = shown
        .iter()
        .filter_map(|curve| rule(curve, unit, shown.len()));
    let heading = match common {
        Some(common) => format!("{RESPONSE}: {common}"),
        None => RESPONSE.to_owned(),
    };
    let response = Scale::new("response time", Unit::Seconds, Spacing::Logarithmic);
    let marks = knees.chain(each(times)).collect();
    let mut panels = vec![Panel::over(response, 240.0, marks).headed(heading)];
    if points().any(|point| point.rate.is_some_and(|rate| rate.0 > 0.0)) {
        let what = "transactions per second";
        let scale = Scale::new(what, Unit::PerSecond, Spacing::FromZero);
        panels.push(Panel::over(scale, 140.0, each(rates).collect()).headed("throughput"));
    }
    let parts = shown
        .iter()
        .map(|curve| (curve.provenance, said(curve, what)));
    Some(Chart {
        panels,
        keys: if names.len() > 1 { names } else { Vec::new() },
        notes: notes(&shown, all),
        ..framed(PictureKind::Load, title, parts, CURVES, x)
    })
}

fn notes(shown: &[&LoadCurve], all: usize) -> Vec<String> {
    let overloaded = shown.iter().filter(|curve| !curve.overloaded.is_empty());
    let grew = overloaded.map(|curve| {
        let rates = curve
            .overloaded
            .iter()
            .map(|rate| units::rate(PerSecond(*rate)))
            .join(", ");
        let label = visible(&curve.label);
        format!("{label}: the queue grew at {rates}, so there is no time.")
    });
    grew.chain(left_out(shown.len(), all, "curves")).collect()
}

fn rule(curve: &LoadCurve, unit: LoadUnit, curves: usize) -> Option<Mark> {
    let at = curve.knee.filter(|knee| is_drawn(*knee))?;
    let words = match unit {
        LoadUnit::Users => format!("knee: {at} {}", if at > 1.0 { "users" } else { "user" }),
        LoadUnit::Arrivals => format!("capacity: {}", units::rate(PerSecond(at))),
    };
    let of = (curves > 1).then(|| format!(", {}", visible(&curve.label)));
    Some(Mark::Rule(Rule {
        along: Along::X,
        at,
        label: words + &of.unwrap_or_default(),
    }))
}

fn times(curve: &LoadCurve, series: usize, name: &str) -> Vec<Mark> {
    let shade = fill(curve.provenance);
    let high = curve.points.iter().filter_map(|point| {
        let p99 = point.p99.filter(|p99| is_drawn(p99.value.0))?;
        Some((point.load, p99.value.0))
    });
    let label = format!("{}: 99th percentile", curve.label);
    let high = Polyline {
        path: Path::Fitted,
        ..line(&label, shade, series, high)
    };
    let means = curve.points.iter().map(|point| {
        let mean = units::estimated_duration(&point.mean);
        let p99 = point.p99.map(|p99| units::duration(p99.value));
        let p99 = p99.map(|p99| format!(", 99 % within {p99}"));
        let p99 = p99.unwrap_or_default();
        let text = format!("{}: mean {mean}{p99}", visible(&point.label));
        let about = about(&point.label, text);
        (point.load, point.mean.value.0, interval(&point.mean), about)
    });
    let label = format!("{}: mean", curve.label);
    let means = track((&label, name), shade, series, means);
    std::iter::once(Mark::Line(high)).chain(means).collect()
}

fn rates(curve: &LoadCurve, series: usize, name: &str) -> Vec<Mark> {
    let rates = curve.points.iter().filter_map(|point| {
        let rate = point.rate.filter(|rate| rate.0.is_finite())?;
        let text = format!("{}: {}", visible(&point.label), units::rate(rate));
        Some((point.load, rate.0, None, about(&point.label, text)))
    });
    let label = format!("{}: throughput", curve.label);
    track((&label, name), fill(curve.provenance), series, rates)
}

fn said(curve: &LoadCurve, what: &str) -> String {
    let points = curve
        .points
        .iter()
        .map(|point| format!("{}: {}", point.load, units::duration(point.mean.value)));
    let knee = curve.knee.map(|knee| format!("; the knee is at {knee:.0}"));
    let (label, kind) = (visible(&curve.label), curve.provenance);
    let (points, knee) = (points.format(", "), knee.unwrap_or_default());
    format!("{label}, {kind}, {what} and mean: {points}{knee}")
}
