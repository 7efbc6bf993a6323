//! Axes, rows, columns and headings of panels.

use super::layout::{self, Area, EDGE, GAP, HEADING, Layout};
use super::{Breadth, Canvas, SMALL, TEXT, at, text_width};
use crate::charts::chart::{Along, Axis, Chart, Group, Mark, Panel, Scale};
use crate::charts::metrics::{self, Weight};
use crate::charts::scale::{self, Placed};

/// Where values of a panel are.
pub(super) struct Space {
    pub x: Placed,
    pub y: Down,
}

/// From top to bottom.
pub(super) enum Down {
    Scale(Placed),
    /// The middle of each row.
    Rows(Vec<f64>),
}

impl Space {
    fn of(chart: &Chart, panel: &Panel, place: &Area, layout: &Layout) -> Self {
        let y = match &panel.y {
            Axis::Scale(scale) => {
                Down::Scale(scale::of_panel(panel, scale, (place.to, place.from)))
            }
            Axis::Rows(groups) => Down::Rows(middles(groups, place.from, layout.breadth)),
        };
        Self {
            x: scale::of_chart(chart, (layout.left, layout.right)),
            y,
        }
    }

    pub(super) fn x(&self, value: f64) -> Option<f64> {
        self.x.at(value)
    }

    pub(super) fn y(&self, value: f64) -> Option<f64> {
        match &self.y {
            Down::Scale(placed) => placed.at(value),
            Down::Rows(rows) if value >= 0.0 => rows.get(value as usize).copied(),
            Down::Rows(_) => None,
        }
    }

    pub(super) fn scale(&self, along: Along) -> Option<&Placed> {
        match (along, &self.y) {
            (Along::X, _) => Some(&self.x),
            (Along::Y, Down::Scale(placed)) => Some(placed),
            (Along::Y, Down::Rows(_)) => None,
        }
    }
}

fn middles(groups: &[Group], top: f64, breadth: Breadth) -> Vec<f64> {
    let (row, above) = (layout::row_height(breadth), layout::above(breadth));
    let mut y = top;
    let mut middles = Vec::new();
    for group in groups {
        if group.heading.is_some() {
            y += HEADING;
        }
        for _ in &group.rows {
            middles.push(y + (row + above) / 2.0);
            y += row;
        }
    }
    middles
}

impl Canvas<'_> {
    pub(super) fn panel(&mut self, number: usize) {
        let chart = self.chart;
        let (Some(panel), Some(place)) = (chart.panels.get(number), self.layout.panels.get(number))
        else {
            return;
        };
        let (left, right) = (self.layout.left, self.layout.right);
        let space = Space::of(chart, panel, place, &self.layout);
        let (top, from, to) = (place.top, place.from, place.to);
        let lines = place.rules.clone();
        self.names_of(panel, top);
        self.x_grid(&space, (from, to));
        match &panel.y {
            Axis::Scale(scale) => self.y_axis(scale, &space),
            Axis::Rows(groups) => self.rows(groups, from),
        }
        self.line((left, to), (right, to), self.paint.palette.axis, 1.0);
        self.rules(panel, &space, &lines, (from, to));
        for mark in &panel.marks {
            self.mark(mark, &space);
        }
        self.labels(panel, &space);
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
    fn x_grid(&mut self, space: &Space, (from, to): (f64, f64)) {
        let ticks = space
            .x
            .ticks(&self.chart.x, |label| scale::tick_room(label, SMALL));
        let ink = self.paint.palette.grid;
        for tick in ticks {
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
        for tick in placed.ticks(scale, |label| scale::tick_room(label, SMALL)) {
            let Some(label) = tick.label else {
                continue;
            };
            self.line((tick.at, from), (tick.at, to), axis, 1.0);
            // At the ends of the axis a label stays on the paper.
            let half = text_width(&label, SMALL) / 2.0;
            let x = tick
                .at
                .clamp(half + 2.0, (self.layout.width - half - 2.0).max(half + 2.0));
            self.anchored((x, line), SMALL, text, "middle", &label);
        }
    }

    fn y_axis(&mut self, scale: &Scale, space: &Space) {
        let Some(placed) = space.scale(Along::Y).cloned() else {
            return;
        };
        let (left, right) = (self.layout.left, self.layout.right);
        let (grid, text) = (self.paint.palette.grid, self.paint.palette.text);
        for tick in placed.ticks(scale, |_| 18.0) {
            let width = if tick.label.is_some() { 1.0 } else { 0.5 };
            self.line((left, tick.at), (right, tick.at), grid, width);
            if let Some(label) = tick.label {
                self.anchored((left - 6.0, tick.at + 4.0), SMALL, text, "end", &label);
            }
        }
        let (from, to) = placed.ends();
        self.line((left, from), (left, to), self.paint.palette.axis, 1.0);
    }

    fn rows(&mut self, groups: &[Group], top: f64) {
        let breadth = self.layout.breadth;
        let (row, above) = (layout::row_height(breadth), layout::above(breadth));
        let (left, right) = (self.layout.left, self.layout.right);
        let (text, muted, grid) = {
            let palette = self.paint.palette;
            (palette.text, palette.muted, palette.grid)
        };
        let mut y = top;
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
                let label = layout::row_label(&entry.label);
                match breadth {
                    Breadth::Page => {
                        self.anchored((left - GAP + 2.0, middle + 4.0), TEXT, text, "end", &label);
                    }
                    Breadth::Narrow => self.text((EDGE, y + above - 1.0), SMALL, text, &label),
                }
                if !entry.value.is_empty() {
                    let x = self.layout.width - EDGE;
                    self.anchored(
                        (x, middle + 4.0),
                        SMALL,
                        muted,
                        "end",
                        &layout::row_value(&entry.value),
                    );
                }
                y += row;
            }
        }
    }

    /// References: a broken line, with its text above or beside the data.
    fn rules(&mut self, panel: &Panel, space: &Space, lines: &[usize], (from, to): (f64, f64)) {
        let ink = self.paint.palette.rule;
        for (rule, line) in layout::rules(panel, Along::X).zip(lines) {
            let Some(x) = space.x(rule.at) else {
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
        for line in panel.marks.iter().filter_map(Mark::line) {
            let end = line.points.last().and_then(|(_, y)| space.y(*y));
            if let (Some(y), Some(label)) = (end, &line.label) {
                names.push((y, label, self.paint.palette.series(line.series)));
            }
        }
        self.beside(names);
    }

    /// Names beside the data, each as near to its height as the others let it.
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
            let label = layout::beside_label(label, self.layout.width);
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
