//! How durations are distributed: empirical distribution functions with their percentiles, and how often each duration
//! came, a panel a case.

use itertools::Itertools;

use super::means::{is_time, reach};
use super::names::{Hues, left_out};
use super::{CURVES, about, drawable, fill, framed, line, said_of, span};
use crate::charts::{Along, Bounds, Chart, Column, Dot, Line, Mark, Panel, Scale, Spacing, Unit};
use crate::units;
use crate::visible::visible;
use crate::{Distribution, Histogram};

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
    let numbered = || shown.iter().map(|one| (*one, names.number(&name(one))));
    let curves = numbered().map(|(one, series)| curve(one, series));
    let percentiles = numbered().flat_map(|(one, series)| percentiles(one, series));
    let marks = curves.chain(percentiles).collect();
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
    let parts = shown.iter().map(|one| (one.of.provenance, said(one)));
    let what = "share finished within a given time";
    let y = Scale::new(what, Unit::Share, Spacing::Linear)
        .within(Bounds::Fixed(0.0, 1.0))
        .ticks(vec![0.0, 0.25, 0.5, 0.75, 0.9, 1.0]);
    Some(Chart {
        panels: vec![Panel {
            heading,
            ..Panel::over(y, 320.0, marks)
        }],
        keys: names.keys(),
        notes,
        ..framed("distributions", title, parts, CURVES, x)
    })
}

fn curve(one: &Distribution, series: usize) -> Mark {
    let last = (one.quantiles.len() - 1) as f64;
    let points = one.quantiles.iter().enumerate();
    let points = points.map(|(level, time)| (time.0, level as f64 / last));
    Mark::Line(Line {
        about: about(&one.of.label, said(one)),
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
            reach: reach(estimate, Along::X),
            ..Dot::new(
                at,
                series,
                fill(one.of.provenance),
                about(&one.of.label, text),
            )
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

pub(super) fn histograms(title: &str, histograms: &[Histogram]) -> Option<Chart> {
    let (shown, _) = drawable(histograms, usize::MAX, |one| {
        let mut bins = one.bins.iter();
        one.bins.len() > 1 && bins.all(|(from, to, _)| is_time(*from) && is_time(*to))
    })?;
    let x = Scale::new("time of an operation", Unit::Seconds, Spacing::Linear);
    let parts = shown.iter().map(|one| (one.of.provenance, bins(one)));
    Some(Chart {
        panels: shown.iter().map(|one| panel(one)).collect(),
        ..framed("histogram", title, parts, shown.len(), x)
    })
}

fn panel(one: &Histogram) -> Panel {
    let columns = one.bins.iter().filter(|(_, _, count)| *count > 0);
    let columns = columns.map(|(from, to, count)| {
        let text = format!("{count} operations {}", span(*from, *to));
        Mark::Column(Column {
            from: from.0,
            to: to.0,
            height: *count as f64,
            series: 0,
            fill: fill(one.of.provenance),
            about: about(&one.of.label, text),
        })
    });
    let y = Scale::new("operations", Unit::Count, Spacing::Linear).within(Bounds::FromZero);
    Panel::over(y, 130.0, columns.collect()).headed(visible(&one.of.label))
}

fn bins(one: &Histogram) -> String {
    let held: usize = one.bins.iter().map(|(_, _, count)| count).sum();
    let ends = one.bins.first().zip(one.bins.last());
    let ends = ends.map_or_else(String::new, |((from, ..), (_, to, _))| {
        format!(" {}", span(*from, *to))
    });
    let (of, beyond) = (said_of(&one.of), one.beyond);
    format!("{of}: {held} operations in several steps{ends}; {beyond} beyond the picture")
}
