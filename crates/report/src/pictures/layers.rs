//! What the time of operations is made of, as stacked bars.

use itertools::Itertools;

use super::means::is_time;
use super::names::{Hues, apart};
use super::{ROWS, about, drawable, fill, framed, said_of};
use crate::Stack;
use crate::charts::{Bar, Bounds, Chart, Group, Mark, Panel, Row, Scale, Spacing, Unit};
use crate::units;
use crate::visible::visible;

pub(super) fn chart(title: &str, stacks: &[Stack], left_out: &[String]) -> Option<Chart> {
    let sound = |time: f64| time.is_finite() && time >= 0.0;
    let (shown, all) = drawable(stacks, ROWS, |stack| {
        is_time(stack.sum) && stack.parts.iter().all(|part| sound(part.time.0))
    })?;
    let names = shown.iter().flat_map(|stack| &stack.parts);
    let names = Hues::of(names.map(|part| part.name.as_str()));
    let rows = shown.iter().enumerate();
    let marks = rows.flat_map(|(row, stack)| bars(stack, row, &names));
    let marks = marks.collect();
    let (common, labels) = apart(shown.iter().map(|stack| stack.of.label.as_str()));
    let row = |(stack, label): (&&Stack, String)| Row {
        label,
        value: units::duration(stack.sum),
    };
    let scale =
        Scale::new("time of an operation", Unit::Seconds, Spacing::Linear).within(Bounds::FromZero);
    let mut notes: Vec<String> = left_out
        .iter()
        .map(|note| super::capital(&format!("{}.", visible(note))))
        .collect();
    notes.extend(super::names::left_out(shown.len(), all, "operations"));
    let parts = shown.iter().map(|stack| (stack.of.provenance, said(stack)));
    Some(Chart {
        panels: vec![Panel::rows(
            vec![Group {
                heading: common,
                rows: shown.iter().zip(labels).map(row).collect(),
            }],
            marks,
        )],
        keys: names.keys(),
        notes,
        ..framed("layers", title, parts, ROWS, scale)
    })
}

fn bars(stack: &Stack, row: usize, names: &Hues) -> Vec<Mark> {
    let mut below = 0.0;
    let mut bars = Vec::new();
    for part in &stack.parts {
        let from = below;
        below += part.time.0;
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
            from,
            to: below,
            series: names.number(&part.name),
            fill: fill(stack.of.provenance),
            label: units::duration(part.time),
            about: about(&stack.of.label, text),
        }));
    }
    bars
}

fn said(stack: &Stack) -> String {
    let parts = stack.parts.iter();
    let parts = parts.map(|part| format!("{} {}", visible(&part.name), units::duration(part.time)));
    format!("{}: {}", said_of(&stack.of), parts.format(", "))
}
