//! Throughput, and what it gains over that of one worker, over the number of workers.

use itertools::Itertools;
use keymark_stats::{Estimate, PerSecond, Quantity};

use super::means::reach;
use super::names::{Hues, apart, left_out};
use super::{CURVES, about, drawable, fill, framed, line, said_of};
use crate::ThroughputCurve;
use crate::charts::{
    Along, Bounds, Chart, Dot, Line, Mark, Panel, Path, Rule, Scale, Spacing, Unit,
};
use crate::units;
use crate::visible::visible;

/// Rates that differ by more than this have a logarithmic axis.
const APART: f64 = 20.0;
/// A bound this many times above all gains would leave them no room.
const FAR: f64 = 1.6;

pub(super) fn chart(title: &str, curves: &[ThroughputCurve]) -> Option<Chart> {
    let (shown, all) = drawable(curves, CURVES, |curve| {
        curve.levels.len() > 1 && rates(curve).all(|rate| rate.is_finite() && rate > 0.0)
    })?;
    let (common, labels) = apart(shown.iter().map(|curve| curve.of.label.as_str()));
    let names = Hues::of(labels.iter().map(String::as_str));
    let named = || {
        let curves = shown.iter().zip(&labels);
        curves.map(|(curve, label)| Named {
            curve,
            series: names.number(label),
            label: label.clone(),
        })
    };
    let every = shown.iter().flat_map(|curve| rates(curve));
    let (least, most) = every.minmax_by(f64::total_cmp).into_option()?;
    let rate = if most > least * APART {
        Scale::new("operations a second", Unit::PerSecond, Spacing::Logarithmic)
    } else {
        Scale::new("operations a second", Unit::PerSecond, Spacing::Linear).within(Bounds::FromZero)
    };
    let levels = shown.iter().flat_map(|curve| &curve.levels);
    let levels = levels.map(|(level, _)| *level).sorted_unstable().dedup();
    let levels = levels.map(f64::from).collect();
    let (bounds, mut notes) = bounds(&shown, &labels);
    if shown.iter().any(|curve| !curve.law.is_empty()) {
        notes.push("Broken lines: the Universal Scalability Law, where it fits.".to_owned());
    }
    notes.extend(left_out(shown.len(), all, "curves"));
    let heading = match common {
        Some(common) => format!("throughput: {common}"),
        None => "throughput".to_owned(),
    };
    let marks = named().flat_map(|named| throughput(&named)).collect();
    let throughput = Panel::over(rate, 220.0, marks).headed(heading);
    let gain = Scale::new("times one worker's", Unit::Times, Spacing::Linear);
    let marks = bounds.into_iter();
    let marks = marks.chain(named().flat_map(|named| gains(&named)));
    let gain = Panel::over(gain.within(Bounds::FromZero), 180.0, marks.collect());
    let x = Scale::new("workers", Unit::Count, Spacing::Logarithmic).ticks(levels);
    let parts = shown.iter().map(|curve| (curve.of.provenance, said(curve)));
    Some(Chart {
        panels: vec![throughput, gain.headed("speed-up over one worker")],
        keys: names.keys(),
        notes,
        ..framed("throughput", title, parts, CURVES, x)
    })
}

fn rates(curve: &ThroughputCurve) -> impl Iterator<Item = f64> {
    curve.levels.iter().map(|(_, rate)| rate.value.0)
}

/// A curve with what it is called and looks like.
struct Named<'c> {
    curve: &'c ThroughputCurve,
    series: usize,
    label: String,
}

fn throughput(named: &Named<'_>) -> Vec<Mark> {
    let of = &named.curve.of;
    let law = named.curve.law.iter();
    let law = law.map(|(workers, rate)| (*workers, rate.0));
    let law = Mark::Line(Line {
        path: Path::Fitted,
        ..line(of, named.series, ": fitted law", law)
    });
    let law = (!named.curve.law.is_empty()).then_some(law);
    let words = |rate: &Estimate<PerSecond>| units::rate(rate.value);
    let curve = curve(named, &named.curve.levels, words);
    law.into_iter().chain(curve).collect()
}

fn gains(named: &Named<'_>) -> Vec<Mark> {
    curve(named, &named.curve.gains, units::estimated_gain)
}

/// A line, and a dot with its interval at each number of workers.
fn curve<T: Quantity>(
    Named {
        curve: ThroughputCurve { of, .. },
        series,
        label,
    }: &Named<'_>,
    levels: &[(u32, Estimate<T>)],
    words: fn(&Estimate<T>) -> String,
) -> Vec<Mark> {
    let at = |(workers, level): &(u32, Estimate<T>)| (f64::from(*workers), level.value.to_f64());
    let line = Mark::Line(Line {
        label: Some(label.clone()),
        ..line(of, *series, "", levels.iter().map(at))
    });
    let dots = levels.iter().map(|level| {
        let (name, words) = (visible(&of.label), words(&level.1));
        let about = about(&of.label, format!("{name}, {} workers: {words}", level.0));
        Mark::Dot(Dot {
            reach: reach(&level.1, Along::Y),
            ..Dot::new(at(level), *series, fill(of.provenance), about)
        })
    });
    std::iter::once(line).chain(dots).collect()
}

/// Lines at the bounds that are near the gains, and words for those that are far above.
fn bounds(shown: &[&ThroughputCurve], labels: &[String]) -> (Vec<Mark>, Vec<String>) {
    let gains = shown.iter().flat_map(|curve| curve.gains.iter());
    let highest = gains.map(|(_, gain)| gain.value.0).fold(1.0, f64::max);
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for (curve, label) in shown.iter().zip(labels) {
        for (name, bound) in curve.bounds.iter().filter(|(_, bound)| bound.0.is_finite()) {
            let of = (shown.len() > 1).then(|| format!(", {label}"));
            let of = of.unwrap_or_default();
            if bound.0 <= highest * FAR {
                near.push(Mark::Rule(Rule {
                    along: Along::Y,
                    at: bound.0,
                    label: format!("{name}: {}{of}", units::gain(*bound)),
                }));
            } else {
                far.push(format!("{name}{of}: {}", units::gain(*bound)));
            }
        }
    }
    let note = (!far.is_empty()).then(|| format!("Bounds far above: {}.", far.join("; ")));
    (near, note.into_iter().collect())
}

fn said(curve: &ThroughputCurve) -> String {
    let levels = curve.levels.iter();
    let levels = levels.map(|(workers, rate)| format!("{workers}: {}", units::rate(rate.value)));
    let bounds = curve.bounds.iter();
    let bounds = bounds.map(|(name, bound)| format!("bound by {name} {}", units::gain(*bound)));
    format!(
        "{}, workers and rate: {}",
        said_of(&curve.of),
        levels.chain(bounds).format(", ")
    )
}
