//! Response times over load, with the knee.

use itertools::Itertools;
use keymark_stats::{Estimate, PerSecond, Seconds};

use super::means::{is_time, reach};
use super::names::{apart, left_out};
use super::{CURVES, about, drawable, fill, framed, line, said_of};
use crate::charts::{
    Along, Bounds, Chart, Dot, Line, Mark, Panel, Path, Rule, Scale, Spacing, Unit,
};
use crate::units;
use crate::visible::visible;
use crate::{LoadCurve, LoadPoint, LoadUnit};

const RESPONSE: &str = "mean, and 99th percentile (broken lines)";

pub(super) fn chart(title: &str, load: LoadUnit, curves: &[LoadCurve]) -> Option<Chart> {
    let sound =
        |point: &LoadPoint| is_time(point.mean.value) && point.load.is_finite() && point.load > 0.0;
    let (shown, all) = drawable(curves, CURVES, |curve| {
        curve.points.len() > 1 && curve.points.iter().all(sound)
    })?;
    let (common, names) = apart(shown.iter().map(|curve| curve.of.label.as_str()));
    let (what, unit) = match load {
        LoadUnit::Users => ("users", Unit::Count),
        LoadUnit::Arrivals => ("arrivals a second", Unit::PerSecond),
    };
    let points = || shown.iter().flat_map(|curve| &curve.points);
    let loads = points().map(|point| point.load).sorted_by(f64::total_cmp);
    let loads = loads.dedup().collect();
    let knees = shown.iter();
    let knees = knees.filter_map(|curve| knee(curve, load, shown.len()));
    let each = |pick: fn(&LoadCurve, usize, &str) -> Vec<Mark>| {
        let curves = shown.iter().zip(&names).enumerate();
        curves.flat_map(move |(series, (curve, name))| pick(curve, series, name))
    };
    let response = Scale::new("response time", Unit::Seconds, Spacing::Logarithmic);
    let heading = match common {
        Some(common) => format!("{RESPONSE}: {common}"),
        None => RESPONSE.to_owned(),
    };
    let marks = knees.chain(each(times)).collect();
    let mut panels = vec![Panel::over(response, 240.0, marks).headed(heading)];
    if points().any(|point| point.rate.is_some_and(|rate| rate.0 > 0.0)) {
        let scale = Scale::new("transactions a second", Unit::PerSecond, Spacing::Linear);
        let scale = scale.within(Bounds::FromZero);
        panels.push(Panel::over(scale, 140.0, each(rates).collect()).headed("throughput"));
    }
    let x = Scale::new(what, unit, Spacing::Logarithmic).ticks(loads);
    let parts = shown
        .iter()
        .map(|curve| (curve.of.provenance, said(curve, what)));
    Some(Chart {
        panels,
        keys: if names.len() > 1 { names } else { Vec::new() },
        notes: notes(&shown, all),
        ..framed("load", title, parts, CURVES, x)
    })
}

fn notes(shown: &[&LoadCurve], all: usize) -> Vec<String> {
    let mut notes = Vec::new();
    for curve in shown.iter().filter(|curve| !curve.overloaded.is_empty()) {
        let rates = curve.overloaded.iter();
        let rates = rates.map(|rate| units::rate(PerSecond(*rate)));
        notes.push(format!(
            "{}: the queue grew at {}, so there is no time.",
            visible(&curve.of.label),
            rates.format(", ")
        ));
    }
    notes.extend(left_out(shown.len(), all, "curves"));
    notes
}

fn knee(curve: &LoadCurve, load: LoadUnit, curves: usize) -> Option<Mark> {
    let at = curve.knee.filter(|knee| knee.is_finite() && *knee > 0.0)?;
    let words = match load {
        LoadUnit::Users => format!("knee: {at} {}", if at > 1.0 { "users" } else { "user" }),
        LoadUnit::Arrivals => format!("capacity: {}", units::rate(PerSecond(at))),
    };
    let of = (curves > 1).then(|| format!(", {}", visible(&curve.of.label)));
    Some(Mark::Rule(Rule {
        along: Along::X,
        at,
        label: words + &of.unwrap_or_default(),
    }))
}

fn times(curve: &LoadCurve, series: usize, name: &str) -> Vec<Mark> {
    let points = curve.points.iter();
    let high = points.clone().filter_map(|point| {
        let p99 = point.p99.filter(|p99| is_time(p99.value))?;
        Some((point.load, p99.value.0))
    });
    let means = points.clone().map(|point| (point.load, point.mean.value.0));
    let mut marks = vec![
        Mark::Line(Line {
            path: Path::Fitted,
            ..line(&curve.of, series, ": 99th percentile", high)
        }),
        Mark::Line(Line {
            label: Some(name.to_owned()),
            ..line(&curve.of, series, ": mean", means)
        }),
    ];
    marks.extend(points.map(|point| {
        let text = format!(
            "{}: mean {}{}",
            visible(&point.label),
            units::estimated_duration(&point.mean),
            p99(point)
        );
        Mark::Dot(Dot {
            reach: reach(&point.mean, Along::Y),
            ..dot(curve, series, (point, point.mean.value.0), text)
        })
    }));
    marks
}

fn p99(point: &LoadPoint) -> String {
    let words = |p99: Estimate<Seconds>| format!(", 99 % within {}", units::duration(p99.value));
    point.p99.map_or_else(String::new, words)
}

fn rates(curve: &LoadCurve, series: usize, name: &str) -> Vec<Mark> {
    let points = curve.points.iter();
    let known = points.filter_map(|point| Some((point, point.rate?)));
    let known = known.filter(|(_, rate)| rate.0.is_finite());
    let points = known.clone().map(|(point, rate)| (point.load, rate.0));
    let mut marks = vec![Mark::Line(Line {
        label: Some(name.to_owned()),
        ..line(&curve.of, series, ": throughput", points)
    })];
    marks.extend(known.map(|(point, rate)| {
        let text = format!("{}: {}", visible(&point.label), units::rate(rate));
        Mark::Dot(dot(curve, series, (point, rate.0), text))
    }));
    marks
}

fn dot(curve: &LoadCurve, series: usize, (point, y): (&LoadPoint, f64), text: String) -> Dot {
    let about = about(&point.label, text);
    Dot::new((point.load, y), series, fill(curve.of.provenance), about)
}

fn said(curve: &LoadCurve, what: &str) -> String {
    let points = curve.points.iter();
    let points =
        points.map(|point| format!("{}: {}", point.load, units::duration(point.mean.value)));
    let knee = curve
        .knee
        .map(|knee| format!("; the knee is at {knee:.0}"))
        .unwrap_or_default();
    format!(
        "{}, {what} and mean: {}{knee}",
        said_of(&curve.of),
        points.format(", ")
    )
}
