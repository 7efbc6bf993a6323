//! Mean times as dots with intervals: per algorithm and device with a line at what users tolerate; run by run under the
//! levels of a history; rates of servers; predictions with what their assumptions leave open; and over bits of security.
//!
//! Figures of one magnitude lie on an axis from zero, others on a logarithmic one. A bar on a logarithmic axis begins
//! wherever the axis does, so that its length says nothing; a dot is read by its place.

use std::time::Duration;

use itertools::{Itertools, MinMaxResult};
use keymark_bench::Provenance;
use keymark_stats::{Estimate, PerSecond, Quantity, Seconds};

use super::names::{Hues, left_out, listed};
use super::{CURVES, ROWS, about, drawable, fill, framed, span};
use crate::charts::{
    Along, Bounds, Chart, Dot, Group, Mark, Panel, Reach, Row, Rule, Scale, Spacing, Unit,
};
use crate::visible::visible;
use crate::{Mean, Predicted, Subject};
use crate::{grouped, units};

/// Where all figures are shorter than tolerated by this factor, the line would leave half of the axis empty.
const FAR: f64 = 5.0;
/// Where the longest is no more than so many times the shortest, an axis from zero tells all of them.
const APART: f64 = 8.0;
/// So many figures stand in the words for a picture.
const SAID: usize = 40;

pub(super) fn chart(title: &str, tolerance: Seconds, means: &[Mean]) -> Option<Chart> {
    let (means, all) = drawable(means, ROWS, |mean| is_time(mean.mean.value))?;
    let times = means.iter().map(|mean| mean.mean.value.0);
    let (shortest, longest) = times.minmax_by(f64::total_cmp).into_option()?;
    let (groups, dots, names) = dots(&means, units::duration, said);
    let rule = tolerance_rule(Along::X, longest, tolerance);
    let near = rule.is_some();
    let marks = rule.into_iter().chain(dots).collect();
    let mut notes = Vec::new();
    notes.extend(left_out(means.len(), all, "figures"));
    if !near {
        let tolerance = chosen(tolerance);
        notes.push(format!(
            "All of them are below the {tolerance} that users tolerate."
        ));
    }
    let x = axis(shortest, longest);
    let parts = means.iter().map(|mean| (mean.of.provenance, String::new()));
    Some(Chart {
        summary: summary(title, tolerance, &means),
        panels: vec![Panel::rows(groups, marks)],
        keys: names.keys(),
        notes,
        ..framed("means", title, parts, 0, x)
    })
}

/// What servers and services do in a second; a single one has nothing beside it.
pub(super) fn rates(title: &str, rates: &[Mean<PerSecond>]) -> Option<Chart> {
    let (rates, all) = drawable(rates, ROWS, |rate| is_drawn(rate.mean.value.0))?;
    let values = rates.iter().map(|rate| rate.mean.value.0);
    let MinMaxResult::MinMax(least, most) = values.minmax_by(f64::total_cmp) else {
        return None;
    };
    let said = |rate: &Mean<PerSecond>| {
        let of = visible(&rate.of.label);
        let estimate = units::estimated_rate(&rate.mean);
        format!("{of}: {estimate}, {}", rate.of.provenance)
    };
    let (groups, marks, names) = dots(&rates, units::rate, said);
    let x = spaced("operations a second", Unit::PerSecond, least, most);
    let parts = rates.iter().map(|rate| (rate.of.provenance, said(rate)));
    Some(Chart {
        panels: vec![Panel::rows(groups, marks)],
        keys: names.keys(),
        notes: left_out(rates.len(), all, "rates").into_iter().collect(),
        ..framed("rates", title, parts, SAID, x)
    })
}

fn axis(shortest: f64, longest: f64) -> Scale {
    spaced(
        "mean time of an operation",
        Unit::Seconds,
        shortest,
        longest,
    )
}

/// From zero where the least is still told from it.
fn spaced(what: &str, unit: Unit, least: f64, most: f64) -> Scale {
    if most <= least * APART {
        Scale::new(what, unit, Spacing::Linear).within(Bounds::FromZero)
    } else {
        Scale::new(what, unit, Spacing::Logarithmic)
    }
}

/// Rows by algorithm and operation with their dots, and what the dots' colours mean.
fn dots<T: Quantity>(
    means: &[&Mean<T>],
    value: fn(T) -> String,
    said: impl Fn(&Mean<T>) -> String,
) -> (Vec<Group>, Vec<Mark>, Hues) {
    let (groups, order) = groups(means, value);
    let (series, names) = series(means);
    let places = order.iter().enumerate();
    let dots = places.map(|(row, &place)| {
        let mean = means[place];
        mark(&mean.mean, row, series[place], &mean.of, said(mean))
    });
    (groups, dots.collect(), names)
}

/// `2 s`
fn chosen(tolerance: Seconds) -> String {
    let chosen = Duration::try_from_secs_f64(tolerance.0).map(units::chosen);
    chosen.unwrap_or_else(|_| units::duration(tolerance))
}

/// The line of what users tolerate, unless it would squeeze figures into a corner that are far shorter.
fn tolerance_rule(along: Along, longest: f64, tolerance: Seconds) -> Option<Mark> {
    (longest * FAR >= tolerance.0).then(|| {
        Mark::Rule(Rule {
            along,
            at: tolerance.0,
            label: format!("tolerated: {}", chosen(tolerance)),
        })
    })
}

/// A time that has a place on a logarithmic axis.
pub(super) fn is_time(time: Seconds) -> bool {
    is_drawn(time.0)
}

fn is_drawn(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// The interval of an estimate, from left to right.
pub(super) fn reach<T: Quantity>(estimate: &Estimate<T>, along: Along) -> Option<Reach> {
    let [low, high] = [estimate.low, estimate.high].map(|bound| bound.map(T::to_f64));
    (low.is_some() || high.is_some()).then_some(Reach { along, low, high })
}

/// A dot in a row.
fn mark<T: Quantity>(
    mean: &Estimate<T>,
    row: usize,
    series: usize,
    of: &Subject,
    said: String,
) -> Mark {
    Mark::Dot(Dot {
        reach: reach(mean, Along::X),
        ..Dot::new(
            (mean.value.to_f64(), row as f64),
            series,
            fill(of.provenance),
            about(&of.label, said),
        )
    })
}

/// `rsa2048 decrypt software gnupg: 7.91 ms (7.85–7.98), measured`
fn said(mean: &Mean) -> String {
    let time = if mean.mean.low.is_some() || mean.mean.high.is_some() {
        units::estimated_duration(&mean.mean)
    } else {
        units::duration(mean.mean.value)
    };
    format!(
        "{}: {time}, {}",
        visible(&mean.of.label),
        mean.of.provenance
    )
}

/// By device where there are several, else by way.
fn series<T>(means: &[&Mean<T>]) -> (Vec<usize>, Hues) {
    let devices = Hues::of(means.iter().map(|mean| mean.of.device.as_str()));
    let name: fn(&Mean<T>) -> &str = if devices.len() > 1 {
        |mean| mean.of.device.as_str()
    } else {
        |mean| &mean.way
    };
    let names = Hues::of(means.iter().map(|mean| name(mean)));
    // Rows have their names; of so many colours none would tell anything.
    if names.len() > CURVES {
        return (vec![0; means.len()], Hues::default());
    }
    let numbers = means.iter().map(|mean| names.number(name(mean)));
    (numbers.collect(), names)
}

/// Rows by algorithm and operation, each with the place of its figure.
fn groups<T: Quantity>(means: &[&Mean<T>], value: fn(T) -> String) -> (Vec<Group>, Vec<usize>) {
    let devices = !means.iter().map(|mean| &mean.of.device).all_equal();
    let ways = !means.iter().map(|mean| &mean.way).all_equal();
    let operations = !means.iter().map(|mean| mean.operation).all_equal();
    let mut keys = means.iter().map(|mean| (mean.algorithm, mean.operation));
    let alone = keys.all_unique() && !devices && !ways;
    let named = |mean: &Mean<T>| {
        let (algorithm, operation) = (mean.algorithm, mean.operation);
        let (key, own) = (
            format!("{algorithm} {operation}"),
            format!("{} {}", mean.of.device, mean.way),
        );
        match (alone, operations, devices, ways) {
            // Where nothing else differs, one heading is enough.
            (true, true, ..) => (own, key),
            (true, false, ..) => (format!("{operation} {own}"), algorithm.to_string()),
            (false, _, true, true) => (key, own),
            (false, _, true, false) => (key, mean.of.device.to_string()),
            (false, _, false, _) => (key, mean.way.clone()),
        }
    };
    let found = grouped(0..means.len(), |place| named(means[*place]).0);
    let row = |place: &usize| Row {
        label: visible(&named(means[*place]).1).into_owned(),
        value: value(means[*place].mean.value),
    };
    let groups = found.iter().map(|(heading, places)| Group {
        heading: Some(visible(heading).into_owned()),
        rows: places.iter().map(row).collect(),
    });
    let order = found.iter().flat_map(|(_, places)| places.iter().copied());
    (groups.collect(), order.collect())
}

fn summary(title: &str, tolerance: Seconds, means: &[&Mean]) -> String {
    let by_time = |a: &&&Mean, b: &&&Mean| a.mean.value.0.total_cmp(&b.mean.value.0);
    let mut text = format!("{}: {} figures", visible(title), means.len());
    if let (Some(fastest), Some(slowest)) =
        (means.iter().min_by(by_time), means.iter().max_by(by_time))
    {
        text += &format!(", {}", span(fastest.mean.value, slowest.mean.value));
    }
    let over = means
        .iter()
        .filter(|mean| mean.mean.value.0 > tolerance.0)
        .count();
    text += &format!(
        "; {over} of them longer than the tolerated {}. ",
        units::duration(tolerance)
    );
    let each: Vec<String> = means.iter().map(|mean| said(mean)).collect();
    text + &listed(&each, SAID) + "."
}

pub(super) fn predictions(
    title: &str,
    tolerance: Seconds,
    predictions: &[Predicted],
) -> Option<Chart> {
    let (shown, all) = drawable(predictions, ROWS, |one| is_time(one.time))?;
    let row = |one: &&Predicted| Row {
        label: visible(one.device.as_str()).into_owned(),
        // Bands are often narrower than a dot.
        value: units::banded_duration(one.time, one.band),
    };
    let found = grouped(shown, |one| visible(&one.what).into_owned());
    let groups = found.iter().map(|(what, of)| Group {
        heading: Some(what.clone()),
        rows: of.iter().map(row).collect(),
    });
    let groups = groups.collect();
    let shown: Vec<&Predicted> = found.into_iter().flat_map(|(_, of)| of).collect();
    let longest = shown.iter().map(|one| one.time.0).fold(0.0, f64::max);
    let mut marks = Vec::from_iter(tolerance_rule(Along::X, longest, tolerance));
    marks.extend(
        shown
            .iter()
            .enumerate()
            .map(|(row, one)| predicted(one, row)),
    );
    let mut notes = vec!["Lines: the band of the assumptions.".to_owned()];
    notes.extend(left_out(shown.len(), all, "predictions"));
    let x = Scale::new("predicted time", Unit::Seconds, Spacing::Logarithmic);
    let parts = shown
        .iter()
        .map(|one| (Provenance::Predicted, said_of_model(one)));
    Some(Chart {
        panels: vec![Panel::rows(groups, marks)],
        notes,
        ..framed("predictions", title, parts, SAID, x)
    })
}

fn predicted(one: &Predicted, row: usize) -> Mark {
    let of = Subject {
        device: one.device.clone(),
        label: format!("{} {}", one.what, one.device),
        provenance: Provenance::Predicted,
    };
    let within = Estimate::banded(one.time, one.band);
    mark(&within, row, 0, &of, said_of_model(one))
}

fn said_of_model(one: &Predicted) -> String {
    format!(
        "{} on {}: {}",
        visible(&one.what),
        visible(one.device.as_str()),
        units::banded_duration(one.time, one.band)
    )
}

pub(super) fn security(title: &str, tolerance: Seconds, means: &[(u32, Mean)]) -> Option<Chart> {
    let (shown, all) = drawable(means, ROWS, |(_, mean)| is_time(mean.mean.value))?;
    let strengths = shown.iter().map(|(bits, _)| *bits).sorted_unstable();
    let strengths: Vec<u32> = strengths.dedup().collect();
    let [weakest, .., strongest] = strengths.as_slice() else {
        return None;
    };
    let devices = Hues::of(shown.iter().map(|(_, mean)| mean.of.device.as_str()));
    let mut marks = Vec::new();
    let longest = shown
        .iter()
        .map(|(_, mean)| mean.mean.value.0)
        .fold(0.0, f64::max);
    marks.extend(tolerance_rule(Along::Y, longest, tolerance));
    let said = |bits: u32, mean: &Mean| format!("{bits}-bit security: {}", said(mean));
    for (bits, mean) in &shown {
        let about = about(&mean.of.label, said(*bits, mean));
        let series = devices.number(mean.of.device.as_str());
        let at = (f64::from(*bits), mean.mean.value.0);
        marks.push(Mark::Dot(Dot {
            reach: reach(&mean.mean, Along::Y),
            label: Some(mean.algorithm.to_string()),
            ..Dot::new(at, series, fill(mean.of.provenance), about)
        }));
    }
    let parts = shown
        .iter()
        .map(|(bits, mean)| (mean.of.provenance, said(*bits, mean)));
    let mut notes = vec![
        "Strength against attackers without a quantum computer (NIST SP 800-57, table 2; FIPS 203 to 205).".to_owned(),
    ];
    notes.extend(left_out(shown.len(), all, "figures"));
    let ends = (f64::from(*weakest) - 12.0, f64::from(*strongest) + 12.0);
    let scale = Scale::new("bits of security", Unit::Bits, Spacing::Linear)
        .within(Bounds::Fixed(ends.0, ends.1))
        .ticks(strengths.iter().map(|bits| f64::from(*bits)).collect());
    Some(Chart {
        panels: vec![Panel::over(
            Scale::new("mean time", Unit::Seconds, Spacing::Logarithmic),
            340.0,
            marks,
        )],
        keys: devices.keys(),
        notes,
        ..framed("security", title, parts, SAID, scale)
    })
}
