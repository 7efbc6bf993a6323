//! Predictions with what their assumptions leave open.

use crate::charts::{
    About, Along, Axis, Chart, Dot, Group, Mark, Panel, Reach, Row, Rule, Scale, Size, Spacing,
    Unit,
};
use keymark_bench::case::Provenance;
use keymark_stats::Seconds;

use super::means::{FAR, is_time, tolerated};
use super::words::{Names, left_out, listed};
use super::{ROWS, fill, fills};
use crate::document::Predicted;
use crate::units;
use crate::visible::visible;

pub(super) fn chart(title: &str, tolerance: Seconds, predictions: &[Predicted]) -> Option<Chart> {
    let usable = predictions.iter().filter(|one| is_time(one.time));
    let all = usable.clone().count();
    let mut shown: Vec<&Predicted> = usable.take(ROWS).collect();
    if shown.is_empty() {
        return None;
    }
    let whats = Names::of(shown.iter().map(|one| one.what.as_str()));
    shown.sort_by_key(|one| whats.place(&one.what));
    let mut groups: Vec<Group> = Vec::new();
    let mut marks = Vec::new();
    let longest = shown.iter().map(|one| one.time.0).fold(0.0, f64::max);
    if longest * FAR >= tolerance.0 {
        marks.push(Mark::Rule(Rule {
            along: Along::X,
            at: tolerance.0,
            label: tolerated(tolerance),
        }));
    }
    for (row, one) in shown.iter().enumerate() {
        let heading = visible(&one.what).into_owned();
        let entry = Row {
            label: visible(one.device.as_str()).into_owned(),
            // Bands are often narrower than a dot.
            value: units::banded_duration(one.time, one.band),
        };
        match groups.last_mut() {
            Some(group) if group.heading.as_ref() == Some(&heading) => group.rows.push(entry),
            _ => groups.push(Group {
                heading: Some(heading),
                rows: vec![entry],
            }),
        }
        marks.push(dot(one, row));
    }
    let each: Vec<String> = shown.iter().map(|one| said(one)).collect();
    let mut notes = vec!["Lines: the least and the most when one assumption is varied.".to_owned()];
    notes.extend(left_out(shown.len(), all, "predictions"));
    Some(Chart {
        kind: "predictions",
        title: visible(title).into_owned(),
        summary: format!("{}. {}.", visible(title), listed(&each, 40)),
        x: Axis::Scale(Scale::new(
            "predicted time",
            Unit::Seconds,
            Spacing::Logarithmic,
        )),
        panels: vec![Panel {
            heading: None,
            y: Axis::Rows(groups),
            height: 0.0,
            marks,
        }],
        keys: Vec::new(),
        fills: fills([Provenance::Predicted].into_iter()),
        notes,
    })
}

fn dot(one: &Predicted, row: usize) -> Mark {
    Mark::Dot(Dot {
        x: one.time.0,
        y: row as f64,
        reach: Some(Reach {
            along: Along::X,
            low: Some(one.band.low.0),
            high: Some(one.band.high.0),
        }),
        series: 0,
        fill: fill(Provenance::Predicted),
        size: Size::Figure,
        label: None,
        about: About {
            case: Some(format!(
                "{} {}",
                visible(&one.what),
                visible(one.device.as_str())
            )),
            text: said(one),
        },
    })
}

fn said(one: &Predicted) -> String {
    format!(
        "{} on {}: {}",
        visible(&one.what),
        visible(one.device.as_str()),
        units::banded_duration(one.time, one.band)
    )
}
