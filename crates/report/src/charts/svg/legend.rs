//! What series and fills mean, in lines above the data.

use std::collections::BTreeSet;

use super::layout::{EDGE, LEGEND_LINE};
use super::marks::Shape;
use super::paint::Surface;
use super::{Canvas, Paint, SMALL, text_width};
use crate::charts::chart::{Chart, Fill, Mark};
use crate::charts::metrics::{self, Weight};
use crate::xml::px;

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
    // Lines that have their name beside them need no entry.
    let marks = chart.panels.iter().flat_map(|panel| &panel.marks);
    let named = marks
        .filter_map(Mark::line)
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

/// What stands for a series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Swatch {
    Dot,
    Line,
    Bar,
}

fn swatch(chart: &Chart) -> Swatch {
    let mut marks = chart.panels.iter().flat_map(|panel| &panel.marks);
    let bars = |mark: &Mark| matches!(mark, Mark::Bar(_) | Mark::Column(_));
    let lines = |mark: &Mark| matches!(mark, Mark::Line(_));
    if marks.clone().any(bars) {
        Swatch::Bar
    } else if marks.any(lines) {
        Swatch::Line
    } else {
        Swatch::Dot
    }
}

impl Canvas<'_> {
    pub(super) fn legend(&mut self) {
        let (top, swatch) = (self.layout.legend_top, swatch(self.chart));
        // Where all figures were had alike, series show it.
        let fill = match self.chart.fills.as_slice() {
            [(only, _)] => *only,
            _ => Fill::Solid,
        };
        for item in std::mem::take(&mut self.layout.legend) {
            let (x, y) = (EDGE + item.x, top + (item.line as f64 + 0.5) * LEGEND_LINE);
            match item.what {
                What::Series(number) => self.series_swatch(number, fill, swatch, (x, y)),
                What::Fill(fill) => self.fill_swatch(fill, swatch, (x, y)),
            }
            let ink = self.paint.palette.text;
            self.text((x + SWATCH, y + 4.0), SMALL, ink, &item.text);
        }
    }

    fn series_swatch(&mut self, number: usize, fill: Fill, swatch: Swatch, (x, y): (f64, f64)) {
        let ink = self.paint.palette.series(number);
        match swatch {
            Swatch::Bar => self.bar_swatch(fill, ink, (x, y)),
            Swatch::Line => {
                self.line((x, y), (x + SWATCH - 5.0, y), ink, 1.8);
                self.marker(Shape::of(number), fill, ink, (x + 8.5, y));
            }
            Swatch::Dot => self.marker(Shape::of(number), fill, ink, (x + 8.5, y)),
        }
    }

    fn fill_swatch(&mut self, fill: Fill, swatch: Swatch, (x, y): (f64, f64)) {
        let ink = self.paint.palette.muted;
        match swatch {
            Swatch::Bar => self.bar_swatch(fill, ink, (x, y)),
            Swatch::Line | Swatch::Dot => self.marker(Shape::Circle, fill, ink, (x + 8.5, y)),
        }
    }

    fn bar_swatch(&mut self, fill: Fill, ink: &str, (x, y): (f64, f64)) {
        let painted = self.paint.fill(fill, Surface::Bar, ink);
        let tag = self.xml.tag("rect").px("x", x + 1.0).px("y", y - 5.5);
        let tag = tag.attr("width", &px(15.0)).attr("height", &px(11.0));
        tag.attr("fill", &painted)
            .attr("stroke", ink)
            .maybe("stroke-dasharray", Paint::outline(fill))
            .end();
    }
}
