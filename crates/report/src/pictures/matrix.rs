//! Algorithms and devices, a field each.

use crate::charts::{Axis, Cell, Chart, Group, Mark, Panel, Row};

use super::means::{is_time, said};
use super::words::{Names, left_out};
use super::{ROWS, about, drawable, fill, fills, framed};
use crate::document::Mean;
use crate::units;

/// More devices than these are not read side by side.
const COLUMNS: usize = 24;

pub(super) fn chart(title: &str, means: &[Mean]) -> Option<Chart> {
    let (usable, _) = drawable(means, usize::MAX, |mean| is_time(mean.mean.value));
    let mut devices = Names::default();
    let mut rows = Names::default();
    let key = |mean: &Mean| format!("{} {}", mean.algorithm, mean.operation);
    let placed: Vec<(usize, usize, &Mean)> = usable
        .iter()
        .map(|mean| {
            (
                devices.number(mean.of.device.as_str()),
                rows.number(&key(mean)),
                *mean,
            )
        })
        .collect();
    if devices.len() < 2 || rows.len() < 2 {
        return None;
    }
    let shown: Vec<&(usize, usize, &Mean)> = placed
        .iter()
        .filter(|(column, row, _)| *column < COLUMNS && *row < ROWS)
        .collect();
    let logs = || shown.iter().map(|(_, _, mean)| mean.mean.value.0.ln());
    let (least, most) = (
        logs().fold(f64::INFINITY, f64::min),
        logs().fold(f64::NEG_INFINITY, f64::max),
    );
    let share = |mean: &Mean| {
        if most > least {
            (mean.mean.value.0.ln() - least) / (most - least)
        } else {
            0.5
        }
    };
    let marks = shown
        .iter()
        .map(|(column, row, mean)| field((*column, *row), mean, share(mean)));
    let each: Vec<String> = shown.iter().map(|(_, _, mean)| said(mean)).collect();
    let mut notes =
        vec!["Dark is slow (logarithmic); the bare operation where it was measured.".to_owned()];
    notes.extend(left_out(shown.len(), placed.len(), "figures"));
    let labels = rows.names().iter().take(ROWS).map(|label| Row {
        label: label.clone(),
        value: String::new(),
    });
    let x = Axis::Columns(devices.names().iter().take(COLUMNS).cloned().collect());
    Some(Chart {
        panels: vec![Panel {
            heading: None,
            y: Axis::Rows(vec![Group {
                heading: None,
                rows: labels.collect(),
            }]),
            height: 0.0,
            marks: marks.collect(),
        }],
        fills: fills(shown.iter().map(|(_, _, mean)| mean.of.provenance)),
        notes,
        ..framed("heatmap", title, &each, 60, x)
    })
}

fn field((column, row): (usize, usize), mean: &Mean, share: f64) -> Mark {
    Mark::Cell(Cell {
        column,
        row,
        share,
        text: units::duration(mean.mean.value),
        fill: fill(mean.of.provenance),
        about: about(&mean.of, said(mean)),
    })
}
