//! Predictions with what their assumptions leave open.

use crate::charts::{
    About, Along, Chart, Dot, Group, Mark, Panel, Reach, Row, Scale, Spacing, Unit,
};
use keymark_bench::case::Provenance;
use keymark_stats::Seconds;

use super::means::{is_time, tolerance_rule};
use super::words::{Names, left_out};
use super::{ROWS, drawable, fill, fills, framed};
use crate::document::Predicted;
use crate::units;
use crate::visible::visible;

pub(super) fn chart(title: &str, tolerance: Seconds, predictions: &[Predicted]) -> Option<Chart> {
    let (mut shown, all) = drawable(predictions, ROWS, |one| is_time(one.time))?;
    let whats = Names::of(shown.iter().map(|one| one.what.as_str()));
    shown.sort_by_key(|one| whats.place(&one.what));
    let mut groups: Vec<Group> = Vec::new();
    let mut marks = Vec::new();
    let longest = shown.iter().map(|one| one.time.0).fold(0.0, f64::max);
    marks.extend(tolerance_rule(Along::X, longest, tolerance));
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
    let mut notes = vec!["Lines: the least and the most when one assumption is varied.".to_owned()];
    notes.extend(left_out(shown.len(), all, "predictions"));
    let x = Scale::new("predicted time", Unit::Seconds, Spacing::Logarithmic);
    let said: Vec<String> = shown.iter().map(|one| said(one)).collect();
    Some(Chart {
        panels: vec![Panel::rows(groups, marks)],
        fills: fills([Provenance::Predicted].into_iter()),
        notes,
        ..framed("predictions", title, &said, 40, x)
    })
}

fn dot(one: &Predicted, row: usize) -> Mark {
    let about = About {
        case: Some(format!(
            "{} {}",
            visible(&one.what),
            visible(one.device.as_str())
        )),
        text: said(one),
    };
    let at = (one.time.0, row as f64);
    Mark::Dot(Dot {
        reach: Some(Reach {
            along: Along::X,
            low: Some(one.band.low.0),
            high: Some(one.band.high.0),
        }),
        ..Dot::new(at, 0, fill(Provenance::Predicted), about)
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
