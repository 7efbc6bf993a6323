//! Rows as text: dots with intervals, and bars.

use unicode_width::UnicodeWidthStr;

use super::{Signs, bar_mark, mark, right, ticks, written};
use crate::charts::chart::{Along, Chart, Fill, Group, Mark, Panel, Reach, Row};
use crate::charts::scale::{self, Placed};

/// Labels longer than this are cut.
const LABELS: usize = 36;

/// Whether bars of several series lie one behind the other.
pub(super) fn is_stacked(chart: &Chart) -> bool {
    let mut marks = chart.panels.iter().flat_map(|panel| &panel.marks);
    marks.any(|mark| mark.bar().is_some_and(|bar| bar.from.is_some()))
}

pub(super) fn draw(
    chart: &Chart,
    panel: &Panel,
    groups: &[Group],
    signs: Signs,
    width: usize,
) -> Vec<String> {
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let written = |text: &str| written(text, signs);
    let labels = rows()
        .map(|row| written(&row.label).width())
        .max()
        .unwrap_or(0);
    let labels = labels.min(LABELS).min(width / 2);
    let values = rows()
        .map(|row| written(&row.value).width())
        .max()
        .unwrap_or(0);
    let indent = labels + 2;
    let length = width.saturating_sub(indent + values + 2).max(10);
    let mut lines = Vec::new();
    let placed = scale::of_chart(chart, (0.0, (length - 1) as f64));
    lines.extend(rules(panel, &placed, indent, length));
    let stacked = is_stacked(chart);
    let mut number = 0;
    for group in groups {
        lines.extend(group.heading.clone());
        for Row { label, value } in &group.rows {
            let track = track(panel, &placed, number, length, signs);
            let (label, value) = (
                right(&written(label), labels),
                right(&written(value), values),
            );
            let had = stacked.then(|| had(panel, number)).flatten();
            let had = had.map_or(' ', |fill| mark(fill, signs));
            lines.push(format!("{label}  {track} {had}{value}"));
            number += 1;
        }
    }
    lines.extend(ticks(chart, indent, length));
    lines
}

/// How the parts of a row's bar were had.
fn had(panel: &Panel, row: usize) -> Option<Fill> {
    let mut bars = panel.marks.iter().filter_map(Mark::bar);
    bars.find(|bar| bar.row == row).map(|bar| bar.fill)
}

/// Names of references, each above its place.
fn rules(panel: &Panel, placed: &Placed, indent: usize, length: usize) -> Option<String> {
    let rules = panel.marks.iter().filter_map(Mark::rule);
    let rules = rules.filter(|rule| rule.along == Along::X);
    let mut named = rules.filter_map(|rule| Some((placed.at(rule.at)?, &rule.label)));
    let (at, label) = named.next()?;
    let at = indent + (at.round() as usize).min(length);
    let from = at.saturating_sub(label.width() / 2);
    let from = from.min((indent + length).saturating_sub(label.width()));
    Some(format!("{}{label}", " ".repeat(from)))
}

fn track(panel: &Panel, placed: &Placed, row: usize, length: usize, signs: Signs) -> String {
    let mut cells = vec![' '; length];
    let mut set = |place: usize, sign: char| {
        if let Some(cell) = cells.get_mut(place) {
            *cell = sign;
        }
    };
    let at = |value: f64| placed.at(value).map(|at| at.round() as usize);
    let rule = match signs {
        Signs::Unicode => '┊',
        Signs::Ascii => '!',
    };
    for mark in &panel.marks {
        match mark {
            Mark::Rule(one) if one.along == Along::X => {
                if let Some(place) = at(one.at) {
                    set(place, rule);
                }
            }
            Mark::Bar(bar) if bar.row == row => {
                let from = bar.from.map_or(Some(0), at);
                if let (Some(from), Some(to)) = (from, at(bar.to)) {
                    let sign = match (bar.from, signs) {
                        (Some(_), _) => bar_mark(bar.series, signs),
                        (None, Signs::Unicode) => '▬',
                        (None, Signs::Ascii) => '=',
                    };
                    (from..to.max(from + 1)).for_each(|place| set(place, sign));
                    let ends = bar.reach.map(|reach| (reach, bar.to));
                    interval(ends, placed, signs, &mut set);
                    if bar.from.is_none() {
                        set(to, self::mark(bar.fill, signs));
                    }
                }
            }
            Mark::Dot(dot) if dot.y == row as f64 => {
                let ends = dot.reach.map(|reach| (reach, dot.x));
                interval(ends, placed, signs, &mut set);
                if let Some(place) = at(dot.x) {
                    set(place, self::mark(dot.fill, signs));
                }
            }
            Mark::Dot(_) | Mark::Bar(_) | Mark::Line(_) | Mark::Column(_) | Mark::Rule(_) => {}
        }
    }
    cells.into_iter().collect()
}

/// The bounds of a figure, and where it is.
fn interval(
    of: Option<(Reach, f64)>,
    placed: &Placed,
    signs: Signs,
    set: &mut impl FnMut(usize, char),
) {
    let Some((reach, x)) = of.filter(|(reach, _)| reach.along == Along::X) else {
        return;
    };
    let (line, begin, end) = match signs {
        Signs::Unicode => ('─', '├', '┤'),
        Signs::Ascii => ('-', '|', '|'),
    };
    let (first, last) = placed.ends();
    let place = |bound: Option<f64>, open: f64, sign: char, arrow: char| {
        let held = bound.filter(|bound| placed.holds(*bound));
        match held.and_then(|bound| placed.at(bound)) {
            Some(at) => (at.round() as usize, sign),
            None => (open.max(0.0) as usize, arrow),
        }
    };
    let here = placed.at(x).unwrap_or(first);
    // Without a bound a side is open.
    let open = |bound: Option<f64>, end: f64, beside: f64| bound.map_or(beside, |_| end);
    let low = place(reach.low, open(reach.low, first, here - 2.0), begin, '<');
    let high = place(reach.high, open(reach.high, last, here + 2.0), end, '>');
    (low.0..=high.0).for_each(|place| set(place, line));
    set(low.0, low.1);
    set(high.0, high.1);
}
