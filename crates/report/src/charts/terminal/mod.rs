//! Charts as text, for a terminal.

mod grid;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::chart::{Along, Axis, Chart, Fill, Group, Mark, Panel, RowText};
use super::scale::{self, Placed};
use crate::visible::{words, wrapped};
use grid::Drawing;

/// Signs that a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    /// Lines and circles.
    Unicode,
    /// Nothing but ASCII.
    Ascii,
}

impl Signs {
    /// Returns one of two by the signs.
    fn either<T>(self, unicode: T, ascii: T) -> T {
        match self {
            Self::Unicode => unicode,
            Self::Ascii => ascii,
        }
    }
}

/// Narrower than this, nothing can be told apart.
const NARROWEST: usize = 40;
/// Wider than this, a picture is no small one.
const WIDEST: usize = 110;

/// The chart in lines of at most that number of columns.
pub fn draw(chart: &Chart, signs: Signs, columns: usize) -> String {
    let width = columns.clamp(NARROWEST, WIDEST);
    let mut lines = wrapped(&chart.title, width, "", words);
    let mut legend = legend(chart, signs, width);
    if let ([title], [only]) = (lines.as_mut_slice(), legend.as_slice())
        && title.width() + only.width() + 2 <= width
    {
        *title = format!("{title}: {only}");
        legend.clear();
    }
    lines.extend(legend);
    for panel in &chart.panels {
        if let Some(heading) = &panel.heading {
            lines.push(String::new());
            lines.push(heading.clone());
        }
        match &panel.y {
            Axis::Rows(groups) => lines.extend(rows(chart, panel, groups, signs, width)),
            Axis::Scale(scale) => lines.extend(grid::draw(chart, panel, scale, signs, width)),
        }
    }
    lines.extend(
        chart
            .notes
            .iter()
            .flat_map(|note| wrapped(note, width, "", words)),
    );
    let mut text = String::new();
    for line in lines {
        text += &cut(written(&line, signs).trim_end(), width);
        text.push('\n');
    }
    text
}

/// Sign of a figure by its kind.
const fn mark(fill: Fill, signs: Signs) -> char {
    const MARKS: [[char; 5]; 2] = [['●', '◐', '◍', '◌', '○'], ['*', '%', '#', ':', 'o']];
    MARKS[signs as usize][fill as usize]
}

/// Sign of a series among lines.
fn series_mark(series: usize) -> char {
    char::from(b'a' + u8::try_from(series % 26).unwrap_or(0))
}

/// Sign of a series' bar.
const fn bar_mark(series: usize, signs: Signs) -> char {
    const MARKS: [[char; 6]; 2] = [
        ['█', '░', '▒', '▚', '▓', '▤'],
        ['#', '-', '=', '+', '%', ':'],
    ];
    MARKS[signs as usize][series % 6]
}

/// Sign of an upright bar.
const fn column_mark(fill: Fill, signs: Signs) -> char {
    const MARKS: [[char; 5]; 2] = [['█', '▌', '▒', ':', 'o'], ['#', '%', '/', ':', 'o']];
    MARKS[signs as usize][fill as usize]
}

/// Kind of a series' figures, where letters replace its dots.
fn fill_of(chart: &Chart, series: usize) -> Option<Fill> {
    let mut fills = chart.marks().filter_map(|mark| match mark {
        Mark::Dot(dot) => (dot.series == series).then_some(dot.fill),
        Mark::Line(line) => (line.series == series).then_some(line.fill),
        Mark::Bar(_) | Mark::Rule(_) => None,
    });
    fills.next()
}

/// Tells if kinds of figures are marked: bars of one kind that was measured need no sign.
fn is_marked(chart: &Chart) -> bool {
    let stacked = chart.marks().any(|mark| mark.try_as_bar_ref().is_some());
    !stacked || chart.fills.iter().any(|(fill, _)| *fill != Fill::Solid)
}

/// Entries in lines.
fn legend(chart: &Chart, signs: Signs, width: usize) -> Vec<String> {
    let named = (0..).zip(&chart.keys).filter(|(_, key)| !key.is_empty());
    let stacked = chart.marks().any(|mark| mark.try_as_bar_ref().is_some());
    let by_letter = chart
        .panels
        .iter()
        .any(|panel| matches!(panel.y, Axis::Scale(_)));
    let series = named.filter(|_| stacked || by_letter).map(|(number, key)| {
        if stacked {
            return format!("{} {}", bar_mark(number, signs), key);
        }
        let fill = fill_of(chart, number).map(|fill| format!("{} ", mark(fill, signs)));
        let fill = fill.unwrap_or_default();
        format!("{} {fill}{key}", series_mark(number))
    });
    let fills = chart.fills.iter().filter(|_| is_marked(chart));
    let fills = fills.map(|(fill, words)| format!("{} {words}", mark(*fill, signs)));
    let mut lines: Vec<String> = Vec::new();
    for entry in series.chain(fills) {
        match lines.last_mut() {
            Some(line) if line.width() + entry.width() + 3 <= width => {
                line.push_str("   ");
                line.push_str(&entry);
            }
            _ => lines.push(entry),
        }
    }
    lines
}

/// Replaces signs that the terminal lacks.
fn written(text: &str, signs: Signs) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match (signs, c) {
            // Nothing that moves a cursor or turns a line.
            (_, c) if c.is_control() || c.width() == Some(0) => out.push('?'),
            (Signs::Unicode, c) => out.push(c),
            (Signs::Ascii, c) if c.is_ascii() => out.push(c),
            (Signs::Ascii, 'µ') => out.push('u'),
            (Signs::Ascii, '×') => out.push('x'),
            (Signs::Ascii, '–' | '−' | '—') => out.push('-'),
            (Signs::Ascii, '…') => out.push_str("..."),
            (Signs::Ascii, '≤') => out.push_str("<="),
            (Signs::Ascii, '±') => out.push_str("+-"),
            (Signs::Ascii, _) => out.push('?'),
        }
    }
    out
}

/// Text of at most that number of columns.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if kept.width() + c.width().unwrap_or(0) + 2 > width {
            break;
        }
        kept.push(c);
    }
    kept + ".."
}

/// Filled up on the left.
fn right(text: &str, width: usize) -> String {
    let text = cut(text, width);
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// Ticks of the axis of x, one line; the axis begins `indent` columns from the left.
fn ticks(chart: &Chart, indent: usize, length: usize) -> Vec<String> {
    let axis = &chart.x;
    let placed = scale::of_chart(chart, (0.0, length.saturating_sub(1) as f64));
    let mut line: Vec<char> = vec![' '; indent + length];
    let mut free = 0;
    for tick in placed.ticks(axis, 12.0, |label| label.width() as f64 + 2.0) {
        let Some(label) = tick.label else { continue };
        let middle = indent + tick.at.round() as usize;
        // The last one stays on the screen.
        let from = middle.saturating_sub(label.width() / 2);
        let from = from.min(line.len().saturating_sub(label.width()));
        if from < free {
            continue;
        }
        for (place, c) in (from..).zip(label.chars()) {
            if let Some(cell) = line.get_mut(place) {
                *cell = c;
            }
        }
        free = from + label.width() + 2;
    }
    let mut lines = vec![line.into_iter().collect()];
    if !axis.label.is_empty() {
        lines.push(format!("{}{}", " ".repeat(indent), axis.label));
    }
    lines
}

/// Labels longer than this are cut.
const LABELS: usize = 36;

fn rows(chart: &Chart, panel: &Panel, groups: &[Group], signs: Signs, width: usize) -> Vec<String> {
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let count = rows().count();
    let written = |text: &str| written(text, signs);
    let widest = |of: fn(&RowText) -> &str| {
        let widths = rows().map(|row| written(of(row)).width());
        widths.max().unwrap_or(0)
    };
    let labels = widest(|row| &row.label).min(LABELS).min(width / 2);
    let values = widest(|row| &row.value);
    let indent = labels + 2;
    let length = width.saturating_sub(indent + values + 2).max(10);
    let mut lines = Vec::new();
    let placed = scale::of_chart(chart, (0.0, (length - 1) as f64));
    lines.extend(rules(panel, &placed, indent, length));
    let in_rows = |row: f64| (0.0..count as f64).contains(&row).then_some(row);
    let drawing = Drawing {
        lines: vec![vec![' '; length]; count],
        x: &placed,
        y: &in_rows,
        signs,
        lettered: false,
        in_rows: true,
    };
    let mut tracks = drawing.of(panel).into_iter().enumerate();
    for group in groups {
        lines.extend(group.heading.clone());
        for (RowText { label, value }, (number, track)) in group.rows.iter().zip(&mut tracks) {
            let label = right(&written(label), labels);
            let value = right(&written(value), values);
            let had = had(panel, number).filter(|_| is_marked(chart));
            let had = had.map_or(' ', |fill| mark(fill, signs));
            lines.push(format!("{label}  {track} {had}{value}"));
        }
    }
    // Bars have their values next to them.
    if had(panel, 0).is_none() {
        lines.extend(ticks(chart, indent, length));
    }
    lines
}

/// Kind of a row's bar.
fn had(panel: &Panel, row: usize) -> Option<Fill> {
    let mut bars = panel.marks.iter().filter_map(Mark::try_as_bar_ref);
    bars.find(|bar| bar.y == row as f64).map(|bar| bar.fill)
}

/// Names of references, each above its place.
fn rules(panel: &Panel, placed: &Placed, indent: usize, length: usize) -> Option<String> {
    let rules = panel.marks.iter().filter_map(Mark::try_as_rule_ref);
    let rules = rules.filter(|rule| rule.along == Along::X);
    let mut named = rules.filter_map(|rule| Some((placed.at(rule.at)?, &rule.label)));
    let (at, label) = named.next()?;
    let at = indent + (at.round() as usize).min(length);
    let from = at.saturating_sub(label.width() / 2);
    let from = from.min((indent + length).saturating_sub(label.width()));
    Some(format!("{}{label}", " ".repeat(from)))
}
