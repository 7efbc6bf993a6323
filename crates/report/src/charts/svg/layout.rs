//! Places: margins as wide as their text, the legend above the data and never on it; and the legend itself, which
//! names series and fills.

use std::collections::BTreeSet;

use super::marks::RADIUS;
use super::{Breadth, Canvas, SMALL, TEXT, text_width, title_size};
use crate::charts::chart::{Along, Axis, Chart, Fill, Mark, Panel, Rule};
use crate::charts::metrics::{self, Weight};
use crate::charts::scale::{self, Placed};
use crate::xml::px;

/// Around everything.
pub(super) const EDGE: f64 = 16.0;
const WIDTH: f64 = 800.0;
const NARROW: f64 = 380.0;
/// Above a row in a narrow picture, where there is no room next to it.
const ABOVE: f64 = 13.0;
/// A picture that is higher also has its axis above the data.
const TALL: f64 = 480.0;
pub(super) const NOTE_LINE: f64 = 15.0;
pub(super) const LEGEND_LINE: f64 = 19.0;
pub(super) const ROW: f64 = 21.0;
pub(super) const HEADING: f64 = 23.0;
/// Between figures and their text on either side.
pub(super) const GAP: f64 = 10.0;
const LABEL_LINE: f64 = 16.0;
/// Names longer than this are cut; the whole is in the mark's title.
pub(super) const LABELS: f64 = 300.0;
pub(super) const VALUES: f64 = 150.0;
const RULES: f64 = 215.0;
/// Between ticks that have their text next to each other, and above each other: it is wider than high.
pub(super) const APART: f64 = 60.0;
pub(super) const ABOVE_EACH_OTHER: f64 = 28.0;

/// Places of all there is.
#[derive(Debug)]
pub(super) struct Layout {
    pub width: f64,
    pub height: f64,
    pub title: Vec<String>,
    pub legend: Vec<Item>,
    pub legend_top: f64,
    /// The data, from left to right.
    pub left: f64,
    pub right: f64,
    pub panels: Vec<Area>,
    /// The lower end of the last panel.
    pub bottom: f64,
    pub notes_top: f64,
    pub notes: Vec<String>,
    pub breadth: Breadth,
    /// Tells if the axis of x is above the data also.
    pub tall: bool,
}

/// Place of a panel.
#[derive(Debug)]
pub(super) struct Area {
    /// Top of the heading and the axis' name.
    pub top: f64,
    /// Top of the data.
    pub from: f64,
    pub to: f64,
    /// Lines of labels of rules above the data: for each rule of x its line.
    pub rules: Vec<usize>,
}

impl Layout {
    pub(super) fn of(chart: &Chart, breadth: Breadth) -> Self {
        let panels = || chart.panels.iter();
        let width = match breadth {
            Breadth::Page => WIDTH,
            Breadth::Narrow => NARROW,
        };
        let beside = beside(width);
        let left = panels().map(|panel| left_of(panel, breadth));
        let right = panels().map(|panel| right_of(panel, beside));
        let heights = panels().map(|panel| height_of(panel, breadth));
        let tall = heights.sum::<f64>() > TALL;
        let room = width - 2.0 * EDGE;
        let size = title_size(breadth);
        let title = metrics::wrap(&chart.title, size, Weight::Bold, room);
        let mut layout = Self {
            width,
            height: 0.0,
            legend: items(chart, room),
            legend_top: EDGE + 6.0 + title.len() as f64 * (size + 5.0),
            title,
            left: EDGE + left.fold(0.0, f64::max),
            right: width - EDGE - right.fold(8.0, f64::max),
            panels: Vec::new(),
            bottom: 0.0,
            notes_top: 0.0,
            notes: chart
                .notes
                .iter()
                .flat_map(|note| metrics::wrap(note, SMALL, Weight::Regular, room))
                .collect(),
            breadth,
            tall,
        };
        layout.stack(chart);
        let axis = if chart.x.label.is_empty() { 22.0 } else { 40.0 };
        let gap = if chart.notes.is_empty() { 0.0 } else { 8.0 };
        layout.notes_top = layout.bottom + axis + gap;
        let notes = layout.notes.len() as f64 * NOTE_LINE;
        layout.height = (layout.notes_top + notes + EDGE).ceil();
        layout
    }

    /// Width and height, as the picture says them.
    pub(super) fn size(&self) -> (String, String) {
        (px(self.width), px(self.height))
    }

    /// Panels, one below the other.
    fn stack(&mut self, chart: &Chart) {
        let lines = self.legend.last().map_or(0, |item| item.line + 1);
        let mut y = self.legend_top + lines as f64 * LEGEND_LINE + 4.0;
        y += if self.tall { 20.0 } else { 0.0 };
        for panel in &chart.panels {
            let top = y;
            let named =
                usize::from(panel.heading.is_some()) + usize::from(y_label(panel).is_some());
            let rules = self.rule_lines(chart, panel);
            let above = rules.iter().map(|line| line + 1).max().unwrap_or(0);
            let from = top + named as f64 * LABEL_LINE + above as f64 * LABEL_LINE + 6.0;
            let to = from + height_of(panel, self.breadth);
            self.panels.push(Area {
                top,
                from,
                to,
                rules,
            });
            y = to + 14.0;
        }
        self.bottom = y - 14.0;
    }

    /// Labels of references above the data, in as many lines as keep them apart.
    fn rule_lines(&self, chart: &Chart, panel: &Panel) -> Vec<usize> {
        let placed = scale::of_chart(chart, (self.left, self.right));
        let mut taken: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut lines = Vec::new();
        for rule in rules(panel, Along::X) {
            let (from, to) = self.rule_text(&placed, rule);
            let free =
                |line: &Vec<(f64, f64)>| line.iter().all(|(a, b)| to + 8.0 < *a || from > *b + 8.0);
            let line = taken.iter().position(free).unwrap_or(taken.len());
            if line == taken.len() {
                taken.push(Vec::new());
            }
            if let Some(line) = taken.get_mut(line) {
                line.push((from, to));
            }
            lines.push(line);
        }
        lines
    }

    /// Ends of a reference's text: centered, but within the data.
    pub(super) fn rule_text(&self, placed: &Placed, rule: &Rule) -> (f64, f64) {
        let width = text_width(&rule.label, SMALL).min(self.right - self.left);
        let at = placed.at(rule.at).unwrap_or(self.left);
        let from = (at - width / 2.0).min(self.right - width).max(self.left);
        (from, from + width)
    }
}

/// References that have their place on an axis.
pub(super) fn rules(panel: &Panel, along: Along) -> impl Iterator<Item = &Rule> {
    let rules = panel.marks.iter().filter_map(Mark::try_as_rule_ref);
    rules.filter(move |rule| rule.along == along)
}

/// Name of an axis of values, above it.
pub(super) fn y_label(panel: &Panel) -> Option<&str> {
    match &panel.y {
        Axis::Scale(scale) => Some(scale.label.as_str()).filter(|label| !label.is_empty()),
        Axis::Rows(_) => None,
    }
}

/// Room for names of lines and references next to the data.
pub(super) const fn beside(width: f64) -> f64 {
    RULES.min(width * 0.3)
}

fn left_of(panel: &Panel, breadth: Breadth) -> f64 {
    match &panel.y {
        Axis::Scale(scale) => {
            let placed = scale::of_panel(panel, scale, (panel.height, 0.0));
            let ticks = placed.ticks(scale, ABOVE_EACH_OTHER, |_| 18.0);
            let labels = ticks.iter().filter_map(|tick| tick.label.as_deref());
            widest(labels, SMALL, f64::INFINITY) + 8.0
        }
        Axis::Rows(_) if breadth == Breadth::Narrow => 0.0,
        Axis::Rows(groups) => {
            let rows = groups.iter().flat_map(|group| &group.rows);
            widest(rows.map(|row| &*row.label), TEXT, LABELS) + GAP
        }
    }
}

fn right_of(panel: &Panel, beside: f64) -> f64 {
    let rules = rules(panel, Along::Y).map(|rule| rule.label.as_str());
    let lines = panel.marks.iter().filter_map(Mark::try_as_line_ref);
    let labels = rules.chain(lines.filter_map(|line| line.label.as_deref()));
    let rules = widest(labels, SMALL, beside);
    let values = match &panel.y {
        Axis::Rows(groups) => {
            let rows = groups.iter().flat_map(|group| &group.rows);
            widest(rows.map(|row| &*row.value), SMALL, VALUES)
        }
        Axis::Scale(_) => 0.0,
    };
    let widest = rules.max(values);
    if widest > 0.0 { widest + GAP } else { 8.0 }
}

/// Returns the width of the widest text, `most` at most.
fn widest<'t>(texts: impl Iterator<Item = &'t str>, size: f64, most: f64) -> f64 {
    let widths = texts.map(|text| text_width(text, size).min(most));
    widths.fold(0.0, f64::max)
}

/// Height of a row.
pub(super) const fn row_height(breadth: Breadth) -> f64 {
    ROW + above(breadth)
}

/// Height of the text above a row.
pub(super) const fn above(breadth: Breadth) -> f64 {
    match breadth {
        Breadth::Page => 0.0,
        Breadth::Narrow => ABOVE,
    }
}

fn height_of(panel: &Panel, breadth: Breadth) -> f64 {
    match &panel.y {
        Axis::Rows(groups) => {
            let row = row_height(breadth);
            let headings = groups.iter().filter(|group| group.heading.is_some());
            let rows = groups.iter().map(|group| group.rows.len() as f64 * row);
            headings.count() as f64 * HEADING + rows.sum::<f64>() + 6.0
        }
        Axis::Scale(_) => panel.height.clamp(40.0, 1_000.0),
    }
}

/// An entry and its place.
#[derive(Debug)]
pub(super) struct Item {
    pub line: usize,
    x: f64,
    text: String,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Series(usize),
    Fill(Fill),
}

const SWATCH: f64 = 22.0;
const BETWEEN: f64 = 16.0;

/// Entries in lines of so much room.
pub(super) fn items(chart: &Chart, room: f64) -> Vec<Item> {
    // Lines that have their name next to them need no entry.
    let named = chart
        .marks()
        .filter_map(Mark::try_as_line_ref)
        .filter(|line| line.label.is_some());
    let named: BTreeSet<usize> = named.map(|line| line.series).collect();
    let keys = (0..).zip(&chart.keys);
    let keys = keys.filter(|(number, key)| !key.is_empty() && !named.contains(number));
    let keys = keys.map(|(number, key)| (What::Series(number), key.as_str()));
    // That all was measured goes without saying.
    let measured = matches!(chart.fills.as_slice(), [(Fill::Solid, _)]);
    let fills = chart.fills.iter().filter(|_| !measured);
    let fills = fills.map(|(fill, words)| (What::Fill(*fill), words.as_str()));
    let (mut line, mut x) = (0, 0.0);
    let mut items: Vec<Item> = Vec::new();
    for (what, text) in keys.chain(fills) {
        let text = metrics::cut(text, SMALL, Weight::Regular, room - SWATCH);
        let width = SWATCH + text_width(&text, SMALL);
        // Fills begin a line of their own, if there are series above them.
        let changes = matches!(
            (items.last().map(|item| item.what), what),
            (Some(What::Series(_)), What::Fill(_))
        );
        if x > 0.0 && (x + width > room || changes) {
            (line, x) = (line + 1, 0.0);
        }
        items.push(Item {
            line,
            x,
            text,
            what,
        });
        x += width + BETWEEN;
    }
    items
}

impl Canvas<'_> {
    pub(super) fn legend(&mut self) {
        let mut marks = self.chart.marks();
        let lines = marks.clone().any(|mark| mark.try_as_line_ref().is_some());
        let bars = marks.any(|mark| mark.try_as_bar_ref().is_some());
        // Where all figures were had alike, series show it.
        let alike = match self.chart.fills.as_slice() {
            [(only, _)] => *only,
            _ => Fill::Solid,
        };
        let (top, palette) = (self.layout.legend_top, self.paint.palette);
        for item in std::mem::take(&mut self.layout.legend) {
            let (x, y) = (EDGE + item.x, top + (item.line as f64 + 0.5) * LEGEND_LINE);
            let (series, fill, ink) = match item.what {
                What::Series(number) => (number, alike, palette.series(number)),
                What::Fill(fill) => (0, fill, palette.muted),
            };
            if bars {
                self.rect((x + 1.0, y - 5.5), (15.0, 11.0), fill, ink, None);
            } else {
                if lines && matches!(item.what, What::Series(_)) {
                    self.line((x, y), (x + SWATCH - 5.0, y), ink, 1.8);
                }
                self.marker(RADIUS, series, fill, ink, (x + 8.5, y));
            }
            self.text((x + SWATCH, y + 4.0), SMALL, palette.text, &item.text);
        }
    }
}
