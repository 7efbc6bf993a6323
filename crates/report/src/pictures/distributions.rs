//! Empirical distribution functions, with their percentiles.

use crate::charts::{
    About, Along, Axis, Bounds, Chart, Dot, Line, Mark, Panel, Path, Scale, Size, Spacing, Unit,
};

use super::means::{is_time, reach};
use super::words::{Names, left_out, listed};
use super::{CURVES, fill, fills};
use crate::document::Distribution;
use crate::units;
use crate::visible::visible;

pub(super) fn chart(title: &str, distributions: &[Distribution]) -> Option<Chart> {
    let usable = distributions
        .iter()
        .filter(|one| one.quantiles.len() > 1 && one.quantiles.iter().all(|time| is_time(*time)));
    let all = usable.clone().count();
    let shown: Vec<&Distribution> = usable.take(CURVES).collect();
    if shown.is_empty() {
        return None;
    }
    let mut names = Names::default();
    let name = |one: &Distribution| match shown.first() {
        // What all have in common is said by the heading.
        Some(first)
            if shown.iter().all(|other| {
                (other.algorithm, other.operation) == (first.algorithm, first.operation)
            }) =>
        {
            format!("{} {}", one.device, one.way)
        }
        Some(_) | None => one.label.clone(),
    };
    let mut marks = Vec::new();
    for one in &shown {
        let series = names.number(&name(one));
        marks.push(curve(one, series));
    }
    for one in &shown {
        let series = names.number(&name(one));
        marks.extend(percentiles(one, series));
    }
    let said: Vec<String> = shown.iter().map(|one| said(one)).collect();
    let mut notes =
        vec!["Marks: median, 90th and 99th percentile, with their 95 % intervals.".to_owned()];
    notes.extend(left_out(shown.len(), all, "distributions"));
    let heading = match shown.as_slice() {
        [only] => Some(visible(&only.label).into_owned()),
        [first, ..] if names.names().first() != Some(&visible(&first.label).into_owned()) => {
            Some(format!("{} {}", first.algorithm, first.operation))
        }
        _ => None,
    };
    Some(Chart {
        kind: "distributions",
        title: visible(title).into_owned(),
        summary: format!("{}. {}.", visible(title), listed(&said, CURVES)),
        x: Axis::Scale(Scale::new(
            "time of an operation",
            Unit::Seconds,
            Spacing::Logarithmic,
        )),
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
        fills: fills(shown.iter().map(|one| one.provenance)),
        notes,
    })
}

fn curve(one: &Distribution, series: usize) -> Mark {
    let last = (one.quantiles.len() - 1) as f64;
    let points = one.quantiles.iter().enumerate();
    Mark::Line(Line {
        points: points
            .map(|(level, time)| (time.0, level as f64 / last))
            .collect(),
        path: Path::Straight,
        series,
        fill: fill(one.provenance),
        about: About {
            case: Some(visible(&one.label).into_owned()),
            text: said(one),
        },
    })
}

fn percentiles(one: &Distribution, series: usize) -> impl Iterator<Item = Mark> {
    one.percentiles.iter().filter_map(move |(level, estimate)| {
        if !is_time(estimate.value) {
            return None;
        }
        Some(Mark::Dot(Dot {
            x: estimate.value.0,
            y: f64::from(*level) / 100.0,
            reach: reach(estimate, Along::X, |time| time.0),
            series,
            fill: fill(one.provenance),
            size: Size::Figure,
            label: None,
            about: About {
                case: Some(visible(&one.label).into_owned()),
                text: format!(
                    "{}: {level} % finish within {}",
                    visible(&one.label),
                    units::estimated_duration(estimate)
                ),
            },
        }))
    })
}

fn said(one: &Distribution) -> String {
    let percentiles = one.percentiles.iter();
    let percentiles = percentiles
        .map(|(level, estimate)| format!("{level} % within {}", units::duration(estimate.value)));
    let percentiles: Vec<String> = percentiles.collect();
    format!(
        "{}, {}, {} operations: {}",
        visible(&one.label),
        one.provenance,
        one.n,
        percentiles.join(", ")
    )
}
