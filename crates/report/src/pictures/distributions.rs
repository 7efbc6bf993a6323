//! Empirical distribution functions, with their percentiles.

use itertools::Itertools;

use crate::charts::{Along, Axis, Bounds, Chart, Dot, Line, Mark, Panel, Scale, Spacing, Unit};

use super::hues::Hues;
use super::means::{is_time, reach};
use super::words::left_out;
use super::{CURVES, about, drawable, fill, fills, framed, line, said_of};
use crate::document::Distribution;
use crate::units;
use crate::visible::visible;

pub(super) fn chart(title: &str, distributions: &[Distribution]) -> Option<Chart> {
    let (shown, all) = drawable(distributions, CURVES, |one| {
        one.quantiles.len() > 1 && one.quantiles.iter().all(|time| is_time(*time))
    })?;
    let first = *shown.first()?;
    let key = |one: &Distribution| (one.algorithm, one.operation);
    let name = |one: &Distribution| {
        // What all have in common is said by the heading.
        if shown.iter().all(|other| key(other) == key(first)) {
            format!("{} {}", one.of.device, one.way)
        } else {
            one.of.label.clone()
        }
    };
    let labels: Vec<String> = shown.iter().map(|one| name(one)).collect();
    let names = Hues::of(labels.iter().map(String::as_str));
    let mut marks = Vec::new();
    for one in &shown {
        let series = names.number(&name(one));
        marks.push(curve(one, series));
    }
    for one in &shown {
        let series = names.number(&name(one));
        marks.extend(percentiles(one, series));
    }
    let mut notes =
        vec!["Marks: median, 90th and 99th percentile, with their 95 % intervals.".to_owned()];
    notes.extend(left_out(shown.len(), all, "distributions"));
    let heading = match shown.as_slice() {
        [only] => Some(visible(&only.of.label).into_owned()),
        [first, ..] if labels.first() != Some(&first.of.label) => {
            Some(format!("{} {}", first.algorithm, first.operation))
        }
        _ => None,
    };
    let x = Scale::new("time of an operation", Unit::Seconds, Spacing::Logarithmic);
    let said: Vec<String> = shown.iter().map(|one| said(one)).collect();
    Some(Chart {
        panels: vec![Panel {
            heading,
            y: Axis::Scale(
                Scale::new(
                    "share finished within a given time",
                    Unit::Share,
                    Spacing::Linear,
                )
                .within(Bounds::Fixed(0.0, 1.0))
                .ticks(vec![0.0, 0.25, 0.5, 0.75, 0.9, 1.0]),
            ),
            height: 320.0,
            marks,
        }],
        keys: names.keys(),
        fills: fills(shown.iter().map(|one| one.of.provenance)),
        notes,
        ..framed("distributions", title, &said, CURVES, x)
    })
}

fn curve(one: &Distribution, series: usize) -> Mark {
    let last = (one.quantiles.len() - 1) as f64;
    let points = one.quantiles.iter().enumerate();
    let points = points.map(|(level, time)| (time.0, level as f64 / last));
    Mark::Line(Line {
        about: about(&one.of, said(one)),
        ..line(&one.of, series, "", points)
    })
}

fn percentiles(one: &Distribution, series: usize) -> impl Iterator<Item = Mark> {
    one.percentiles.iter().filter_map(move |(level, estimate)| {
        if !is_time(estimate.value) {
            return None;
        }
        let text = format!(
            "{}: {level} % finish within {}",
            visible(&one.of.label),
            units::estimated_duration(estimate)
        );
        let at = (estimate.value.0, f64::from(*level) / 100.0);
        Some(Mark::Dot(Dot {
            reach: reach(estimate, Along::X, |time| time.0),
            ..Dot::new(at, series, fill(one.of.provenance), about(&one.of, text))
        }))
    })
}

fn said(one: &Distribution) -> String {
    let percentiles = one.percentiles.iter();
    let percentiles = percentiles
        .map(|(level, estimate)| format!("{level} % within {}", units::duration(estimate.value)));
    format!(
        "{}, {} operations: {}",
        said_of(&one.of),
        one.n,
        percentiles.format(", ")
    )
}
