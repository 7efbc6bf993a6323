//! Axes, rows, columns and headings of panels.

use super::layout::{self, EDGE, GAP, HEADING, LABELS, VALUES};
use super::marks::RADIUS;
use super::{Breadth, Canvas, SMALL, TEXT, at, text_width};
use crate::charts::chart::{Along, Axis, Group, Mark, Panel, Scale};
use crate::charts::metrics::{self, Weight};
use crate::charts::scale::{self, Placed};

/// More dots than this over one scale are small.
const MANY: usize = 40;
/// Half the width of a small dot.
const CROWD: f64 = 2.4;

/// Places of a panel's values.
pub(super) struct Space {
    pub x: Placed,
    /// Scale from bottom to top; none in rows.
    pub y: Option<Placed>,
    /// Middle of each row; none over a scale.
    rows: Vec<f64>,
    /// Half a dot's width.
    pub radius: f64,
}

impl Space {
    pub(super) fn y(&self, value: f64) -> Option<f64> {
        match &self.y {
            Some(placed) => placed.at(value),
            None if value >= 0.0 => self.rows.get(value as usize).copied(),
            None => None,
        }
    }
}

/// A tick's text below an axis, with a gap.
fn tick_room(label: &str) -> f64 {
    text_width(label, SMALL) + 14.0
}

impl Canvas<'_> {
    pub(super) fn panel(&mut self, number: usize) {
        let chart = self.chart;
        let (Some(panel), Some(place)) = (chart.panels.get(number), self.layout.panels.get(number))
        else {
            return;
        };
        let (left, right) = (self.layout.left, self.layout.right);
        let (top, from, to) = (place.top, place.from, place.to);
        let lines = place.rules.clone();
        self.names_of(panel, top);
        let x = scale::of_chart(chart, (left, right));
        self.x_grid(&x, (from, to));
        let (y, rows) = match &panel.y {
            Axis::Scale(scale) => {
                let placed = scale::of_panel(panel, scale, (to, from));
                self.y_axis(scale, &placed);
                (Some(placed), Vec::new())
            }
            Axis::Rows(groups) => (None, self.rows(groups, from)),
        };
        let dots = panel.marks.iter().filter_map(Mark::try_as_dot_ref).count();
        let crowded = y.is_some() && dots > MANY;
        let radius = if crowded { CROWD } else { RADIUS };
        let space = Space { x, y, rows, radius };
        self.line((left, to), (right, to), self.paint.palette.axis, 1.0);
        self.rules(panel, &space, &lines, (from, to));
        for mark in &panel.marks {
            self.mark(mark, &space);
        }
    }

    fn names_of(&mut self, panel: &Panel, top: f64) {
        let mut y = top;
        if let Some(heading) = &panel.heading {
            y += 13.0;
            self.bold((EDGE, y), TEXT, heading);
            y += 3.0;
        }
        if let Some(label) = layout::y_label(panel) {
            let ink = self.paint.palette.muted;
            self.text((EDGE, y + 12.0), SMALL, ink, label);
        }
    }

    /// Ticks of the axis of x, right through.
    fn x_grid(&mut self, placed: &Placed, (from, to): (f64, f64)) {
        let ink = self.paint.palette.grid;
        for tick in placed.ticks(&self.chart.x, layout::APART, tick_room) {
            let width = if tick.label.is_some() { 1.0 } else { 0.5 };
            self.line((tick.at, from), (tick.at, to), ink, width);
        }
    }

    pub(super) fn x_axis(&mut self) {
        let chart = self.chart;
        let scale = &chart.x;
        let (left, right) = (self.layout.left, self.layout.right);
        let placed = scale::of_chart(chart, (left, right));
        let y = self.layout.bottom;
        self.x_ticks(&placed, scale, (y, y + 4.0), y + 16.0);
        if let Some(first) = self.layout.panels.first().filter(|_| self.layout.tall) {
            let y = first.from;
            self.x_ticks(&placed, scale, (y - 4.0, y), first.top - 6.0);
        }
        let muted = self.paint.palette.muted;
        if !scale.label.is_empty() {
            let middle = f64::midpoint(left, right);
            let room = self.layout.width - 2.0 * EDGE;
            let label = metrics::cut(&scale.label, SMALL, Weight::Regular, room);
            let half = text_width(&label, SMALL) / 2.0;
            let x = middle.clamp(half + 2.0, self.layout.width - half - 2.0);
            self.anchored((x, y + 33.0), SMALL, muted, "middle", &label);
        }
    }

    /// Ticks between two heights, with their text on that line.
    fn x_ticks(&mut self, placed: &Placed, scale: &Scale, (from, to): (f64, f64), line: f64) {
        let (text, axis) = (self.paint.palette.text, self.paint.palette.axis);
        for tick in placed.ticks(scale, layout::APART, tick_room) {
            let Some(label) = tick.label else { continue };
            self.line((tick.at, from), (tick.at, to), axis, 1.0);
            // At the ends of the axis a label stays on the paper.
            let half = text_width(&label, SMALL) / 2.0;
            let most = (self.layout.width - half - 2.0).max(half + 2.0);
            let x = tick.at.clamp(half + 2.0, most);
            self.anchored((x, line), SMALL, text, "middle", &label);
        }
    }

    fn y_axis(&mut self, scale: &Scale, placed: &Placed) {
        let (left, right) = (self.layout.left, self.layout.right);
        let (grid, text) = (self.paint.palette.grid, self.paint.palette.text);
        for tick in placed.ticks(scale, layout::ABOVE_EACH_OTHER, |_| 18.0) {
            let width = if tick.label.is_some() { 1.0 } else { 0.5 };
            self.line((left, tick.at), (right, tick.at), grid, width);
            if let Some(label) = tick.label {
                self.anchored((left - 6.0, tick.at + 4.0), SMALL, text, "end", &label);
            }
        }
        let (from, to) = placed.ends();
        self.line((left, from), (left, to), self.paint.palette.axis, 1.0);
    }

    /// Yields the middle of each row.
    fn rows(&mut self, groups: &[Group], top: f64) -> Vec<f64> {
        let breadth = self.layout.breadth;
        let (row, above) = (layout::row_height(breadth), layout::above(breadth));
        let (left, right) = (self.layout.left, self.layout.right);
        let palette = self.paint.palette;
        let (text, muted, grid) = (palette.text, palette.muted, palette.grid);
        let (mut y, mut middles) = (top, Vec::new());
        for (number, group) in groups.iter().enumerate() {
            if let Some(heading) = &group.heading {
                if number > 0 {
                    self.line((EDGE, y + 4.0), (right, y + 4.0), grid, 1.0);
                }
                self.bold((EDGE, y + 17.0), TEXT, heading);
                y += HEADING;
            }
            for entry in &group.rows {
                let middle = y + (row + above) / 2.0;
                self.line((left, middle), (right, middle), grid, 1.0);
                let label = metrics::cut(&entry.label, TEXT, Weight::Regular, LABELS);
                match breadth {
                    Breadth::Page => {
                        self.anchored((left - GAP + 2.0, middle + 4.0), TEXT, text, "end", &label);
                    }
                    Breadth::Narrow => self.text((EDGE, y + above - 1.0), SMALL, text, &label),
                }
                if !entry.value.is_empty() {
                    let at = (self.layout.width - EDGE, middle + 4.0);
                    // Only an absurd one has no room.
                    let value = metrics::cut(&entry.value, SMALL, Weight::Regular, VALUES);
                    self.anchored(at, SMALL, muted, "end", &value);
                }
                middles.push(middle);
                y += row;
            }
        }
        middles
    }

    /// References: a broken line, with its text above or next to the data.
    fn rules(&mut self, panel: &Panel, space: &Space, lines: &[usize], (from, to): (f64, f64)) {
        let ink = self.paint.palette.rule;
        for (rule, line) in layout::rules(panel, Along::X).zip(lines) {
            let Some(x) = space.x.at(rule.at) else {
                continue;
            };
            let (start, _) = self.layout.rule_text(&space.x, rule);
            let y = from - 9.0 - *line as f64 * 16.0;
            self.broken((x, y + 4.0), (x, to));
            self.text((start, y), SMALL, ink, &rule.label);
        }
        let (left, right) = (self.layout.left, self.layout.right);
        let mut names: Vec<(f64, &str, &'static str)> = Vec::new();
        for rule in layout::rules(panel, Along::Y) {
            if let Some(y) = space.y(rule.at) {
                self.broken((left, y), (right, y));
                names.push((y, &rule.label, ink));
            }
        }
        for line in panel.marks.iter().filter_map(Mark::try_as_line_ref) {
            let end = line.points.last().and_then(|(_, y)| space.y(*y));
            if let (Some(y), Some(label)) = (end, &line.label) {
                names.push((y, label, self.paint.palette.series(line.series)));
            }
        }
        self.beside(names);
    }

    /// Names next to the data, each as near to its height as the others let it.
    fn beside(&mut self, mut names: Vec<(f64, &str, &'static str)>) {
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut lowest = f64::NEG_INFINITY;
        for (y, label, ink) in names {
            let y = y.max(lowest + 14.0);
            lowest = y;
            // Of more than there is room for, the lines have to do.
            if y + 8.0 > self.layout.height {
                break;
            }
            let room = layout::beside(self.layout.width);
            let label = metrics::cut(label, SMALL, Weight::Regular, room);
            let x = self.layout.right + 6.0;
            self.text((x, y + 4.0), SMALL, ink, &label);
        }
    }

    fn broken(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (from, to, ink) = (at(from), at(to), self.paint.palette.rule);
        self.add(format_args!(
            r#"<path d="M{from}L{to}" stroke="{ink}" stroke-width="1.2" stroke-dasharray="5 3"/>"#
        ));
    }
}
