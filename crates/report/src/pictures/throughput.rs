//! Throughput over the number of workers, and its gain over one worker.

use itertools::Itertools;
use keymark_stats::{Estimate, PerSecond, Quantity, Ratio, Usl};

use super::names::{Hues, apart, left_out};
use super::{
    AnalyzedRun, CURVES, PictureKind, about, drawable, fill, framed, interval, is_drawn, line,
    spacing, track,
};
use crate::analysis::Scaling;
use crate::charts::{Along, Chart, Mark, Panel, Path, Polyline, Rule, Scale, Spacing};
use crate::grouped;
use crate::units::{self, Unit};
use crate::visible::visible;

const TITLE: &str = "throughput of several workers";
/// Highest over lowest rate from which the axis is logarithmic.
const APART: f64 = 20.0;
/// Factor by which a bound above all gains would leave them no room.
const FAR: f64 = 1.6;
/// Points of a law.
const POINTS: u32 = 40;

/// Draws all cases in one picture, or in one for each key and operation if they are too many.
pub(super) fn charts(runs: &[AnalyzedRun<'_>]) -> Vec<Chart> {
    let all = runs.iter().flat_map(|run| &run.analysis.scaling);
    let all = all.filter(|group| group.levels.len() > 1).collect_vec();
    if all.len() <= CURVES {
        return draw(TITLE, &all).into_iter().collect();
    }
    let groups = grouped(all, |group| group.case.capability()).into_iter();
    let pictures = groups.filter_map(|(key, groups)| {
        let title = format!("{TITLE}: {} {}", key.algorithm, key.operation);
        draw(&title, &groups)
    });
    pictures.collect()
}

/// A curve with its look.
struct GainCurve<'s> {
    group: &'s Scaling,
    series: usize,
    label: String,
}

fn draw(title: &str, groups: &[&Scaling]) -> Option<Chart> {
    let rates = |group: &Scaling| {
        let rates = group.levels.iter().map(|(_, rate)| rate.value.0);
        rates.collect_vec()
    };
    let (shown, all) = drawable(groups.iter().copied(), CURVES, |group| {
        rates(group).into_iter().all(is_drawn)
    })?;
    let names = shown.iter().map(|group| group.name()).collect_vec();
    let (common, labels) = apart(names.iter().map(String::as_str));
    let hues = Hues::of(labels.iter().map(String::as_str));
    let curves = shown.iter().zip(&labels).map(|(group, label)| GainCurve {
        group,
        series: hues.number(label),
        label: label.clone(),
    });
    let curves = curves.collect_vec();
    let every = shown.iter().flat_map(|group| rates(group));
    let spacing = spacing(every, APART, Spacing::FromZero)?;
    let (bounds, mut notes) = bounds(&curves);
    if curves.iter().any(|curve| law(curve.group).is_some()) {
        notes.push("Broken lines: the Universal Scalability Law, where it fits.".to_owned());
    }
    notes.extend(left_out(shown.len(), all, "curves"));
    let heading = match common {
        Some(common) => format!("throughput: {common}"),
        None => "throughput".to_owned(),
    };
    let marks = curves.iter().flat_map(throughput).collect();
    let rate = Scale::new("operations per second", Unit::PerSecond, spacing);
    let throughput = Panel::over(rate, 220.0, marks).headed(heading);
    let gains = curves
        .iter()
        .flat_map(|curve| points(curve, &curve.group.gains, units::estimated_gain));
    let gain = Scale::new("times one worker's", Unit::Times, Spacing::FromZero);
    let gain = Panel::over(gain, 180.0, bounds.into_iter().chain(gains).collect());
    let levels = shown.iter().flat_map(|group| &group.levels);
    let levels = levels.map(|(level, _)| *level).sorted_unstable().dedup();
    let x = Scale::new("workers", Unit::Count, Spacing::Logarithmic)
        .ticks(levels.map(f64::from).collect());
    let parts = curves
        .iter()
        .map(|curve| (curve.group.case.provenance, said(curve)));
    Some(Chart {
        panels: vec![throughput, gain.headed("speed-up over one worker")],
        keys: hues.keys(),
        notes,
        ..framed(PictureKind::Throughput, title, parts, CURVES, x)
    })
}

fn law(group: &Scaling) -> Option<&Usl> {
    group.law.as_ref().ok().filter(|law| !law.rejected())
}

fn throughput(curve: &GainCurve<'_>) -> Vec<Mark> {
    let GainCurve { group, series, .. } = curve;
    let fitted = law(group).zip(group.levels.first().zip(group.levels.last()));
    let fitted = fitted.map(|(law, (first, last))| {
        let (first, last) = (f64::from(first.0), f64::from(last.0));
        let at =
            move |number: u32| first * (last / first).powf(f64::from(number) / f64::from(POINTS));
        let points = (0..=POINTS).map(|number| (at(number), law.throughput(at(number)).0));
        let label = format!("{}: fitted law", group.name());
        Mark::Line(Polyline {
            path: Path::Fitted,
            ..line(&label, fill(group.case.provenance), *series, points)
        })
    });
    let words = |rate: &Estimate<PerSecond>| units::rate(rate.value);
    fitted
        .into_iter()
        .chain(points(curve, &group.levels, words))
        .collect()
}

/// A line, and a dot with its interval at each number of workers.
fn points<T: Quantity>(
    curve: &GainCurve<'_>,
    levels: &[(u32, Estimate<T>)],
    words: fn(&Estimate<T>) -> String,
) -> Vec<Mark> {
    let (name, shade) = (curve.group.name(), fill(curve.group.case.provenance));
    let figures = levels.iter().map(|(workers, level)| {
        let text = format!("{}, {workers} workers: {}", visible(&name), words(level));
        let (x, y) = (f64::from(*workers), level.value.to_f64());
        (x, y, interval(level), about(&name, text))
    });
    track((&name, &curve.label), shade, curve.series, figures)
}

/// Upper bounds of a gain, by their names.
fn limits(group: &Scaling) -> Vec<(&str, Ratio)> {
    let Some(found) = &group.bounds else {
        return Vec::new();
    };
    let server = found.by_server().zip(found.server.as_ref());
    let server = server.map(|(bound, (server, _))| (server.name, bound));
    Vec::from_iter(server.into_iter().chain([("cores", found.by_cores())]))
}

/// Lines at the bounds that are near the gains, and words for those that are far above.
fn bounds(curves: &[GainCurve<'_>]) -> (Vec<Mark>, Vec<String>) {
    let gains = curves.iter().flat_map(|curve| &curve.group.gains);
    let highest = gains.map(|(_, gain)| gain.value.0).fold(1.0, f64::max);
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for curve in curves {
        let of = match curves.len() {
            0 | 1 => String::new(),
            _ => format!(", {}", curve.label),
        };
        for (name, bound) in limits(curve.group) {
            if bound.0 <= highest * FAR {
                near.push(Mark::Rule(Rule {
                    along: Along::Y,
                    at: bound.0,
                    label: format!("{name}: {}{of}", units::gain(bound)),
                }));
            } else if bound.0.is_finite() {
                far.push(format!("{name}{of}: {}", units::gain(bound)));
            }
        }
    }
    let note = (!far.is_empty()).then(|| format!("Bounds far above: {}.", far.join("; ")));
    (near, note.into_iter().collect())
}

fn said(curve: &GainCurve<'_>) -> String {
    let levels = curve
        .group
        .levels
        .iter()
        .map(|(workers, rate)| format!("{workers}: {}", units::rate(rate.value)));
    let bounds = limits(curve.group).into_iter();
    let bounds = bounds.map(|(name, bound)| format!("bound by {name} {}", units::gain(bound)));
    let (name, kind) = (curve.group.name(), curve.group.case.provenance);
    let words = levels.chain(bounds).format(", ").to_string();
    format!("{}, {kind}, workers and rate: {words}", visible(&name))
}
