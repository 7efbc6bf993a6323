//! What the time of operations is made of, as stacked bars.

use crate::charts::{Axis, Bar, Bounds, Chart, Group, Mark, Panel, Row, Scale, Spacing, Unit};

use super::means::is_time;
use super::words::{Names, left_out};
use super::{ROWS, about, drawable, fill, fills, framed, said_of};
use crate::document::Stack;
use crate::units;
use crate::visible::visible;

/// Where the longest takes so many times as long as the shortest, each is drawn as a whole of its own.
const ALIKE: f64 = 12.0;
/// More of what is left out is said by the table.
const NOTES: usize = 6;

pub(super) fn chart(title: &str, stacks: &[Stack]) -> Option<Chart> {
    let sound = |time: f64| time.is_finite() && time >= 0.0;
    let (shown, all) = drawable(stacks, ROWS, |stack| {
        is_time(stack.sum) && stack.parts.iter().all(|part| sound(part.time.0))
    });
    let sums = || shown.iter().map(|stack| stack.sum.0);
    let (least, most) = (
        sums().fold(f64::INFINITY, f64::min),
        sums().fold(0.0, f64::max),
    );
    if shown.is_empty() {
        return None;
    }
    let shares = most > least * ALIKE;
    let mut names = Names::default();
    let mut marks = Vec::new();
    for (row, stack) in shown.iter().enumerate() {
        marks.extend(bars(stack, row, &mut names, shares));
    }
    let row = |stack: &&Stack| Row {
        label: visible(&stack.of.label).into_owned(),
        value: units::duration(stack.sum),
    };
    let scale = if shares {
        Scale::new(
            "share of the time, shown on the right",
            Unit::Share,
            Spacing::Linear,
        )
        .within(Bounds::Fixed(0.0, 1.0))
    } else {
        Scale::new("time of an operation", Unit::Seconds, Spacing::Linear).within(Bounds::FromZero)
    };
    let said: Vec<String> = shown.iter().map(|stack| said(stack)).collect();
    Some(Chart {
        panels: vec![Panel {
            heading: None,
            y: Axis::Rows(vec![Group {
                heading: None,
                rows: shown.iter().map(row).collect(),
            }]),
            height: 0.0,
            marks,
        }],
        keys: names.keys(),
        fills: fills(shown.iter().map(|stack| stack.of.provenance)),
        notes: notes(&shown, all),
        ..framed("layers", title, &said, ROWS, Axis::Scale(scale))
    })
}

fn notes(shown: &[&Stack], all: usize) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let beside: Vec<&String> = shown.iter().flat_map(|stack| &stack.left_out).collect();
    notes.extend(
        beside
            .iter()
            .take(NOTES)
            .map(|note| format!("{}.", visible(note))),
    );
    if beside.len() > NOTES {
        notes.push(format!(
            "{} more are not shown; the table has them.",
            beside.len() - NOTES
        ));
    }
    notes.extend(left_out(shown.len(), all, "operations"));
    notes
}

fn bars(stack: &Stack, row: usize, names: &mut Names, shares: bool) -> Vec<Mark> {
    let whole = if shares { stack.sum.0 } else { 1.0 };
    let mut below = 0.0;
    let mut bars = Vec::new();
    for part in &stack.parts {
        let from = below;
        below += part.time.0 / whole;
        let share = part.time.0 / stack.sum.0;
        let text = format!(
            "{}, {}: {}, {} of {}",
            visible(&stack.of.label),
            visible(&part.name),
            units::duration(part.time),
            units::percent(share),
            units::duration(stack.sum)
        );
        bars.push(Mark::Bar(Bar {
            row,
            from: Some(from),
            to: below,
            reach: None,
            series: names.number(&part.name),
            fill: fill(stack.of.provenance),
            label: Some(units::duration(part.time)),
            about: about(&stack.of, text),
        }));
    }
    bars
}

fn said(stack: &Stack) -> String {
    let parts = stack.parts.iter();
    let parts = parts.map(|part| format!("{} {}", visible(&part.name), units::duration(part.time)));
    let parts: Vec<String> = parts.collect();
    format!("{}: {}", said_of(&stack.of), parts.join(", "))
}
