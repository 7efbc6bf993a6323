//! Axes, rows, columns and headings of panels.

use super::layout::{self, EDGE, GAP, HEADING, Names, Place, ROW, SLANT};
use super::{Canvas, SMALL, TEXT, text_width};
use crate::charts::chart::{Along, Axis, Chart, Group, Panel, Scale};
use crate::charts::metrics::{self, Weight};
use crate::charts::scale::{self, Placed};
use crate::xml::px;

/// Where values of a panel are.
pub(super) struct Space {
    pub x: Across,
    pub y: Down,
}

/// From left to right.
pub(super) enum Across {
    Scale(Placed),
    /// The left end, the width of a column, and how many there are.
    Columns(f64, f64, usize),
}

/// From top to bottom.
pub(super) enum Down {
    Scale(Placed),
    /// The middle of each row.
    Rows(Vec<f64>),
}

impl Space {
    fn of(chart: &Chart, panel: &Panel, place: &Place, (left, right): (f64, f64)) -> Self {
        let x = match &chart.x {
            Axis::Scale(scale) => Across::Scale(scale::of_chart(chart, scale, (left, right))),
            Axis::Columns(columns) => {
                let count = columns.len();
                Across::Columns(left, (right - left) / count.max(1) as f64, count)
            }
            Axis::Rows(_) => Across::Columns(left, right - left, 1),
        };
        let y = match &panel.y {
            Axis::Scale(scale) => {
                Down::Scale(scale::of_panel(panel, scale, (place.to, place.from)))
            }
            Axis::Rows(groups) => Down::Rows(middles(groups, &chart.x, place.from)),
            Axis::Columns(_) => Down::Rows(Vec::new()),
        };
        Self { x, y }
    }

    pub(super) fn x(&self, value: f64) -> Option<f64> {
        match &self.x {
            Across::Scale(placed) => placed.at(value),
            Across::Columns(left, width, count) => {
                let held = (0.0..*count as f64).contains(&value);
                held.then(|| left + (value + 0.5) * width)
            }
        }
    }

    pub(super) fn y(&self, value: f64) -> Option<f64> {
        match &self.y {
            Down::Scale(placed) => placed.at(value),
            Down::Rows(rows) if value >= 0.0 => rows.get(value as usize).copied(),
            Down::Rows(_) => None,
        }
    }

    pub(super) fn scale(&self, along: Along) -> Option<&Placed> {
        match (along, &self.x, &self.y) {
            (Along::X, Across::Scale(placed), _) | (Along::Y, _, Down::Scale(placed)) => {
                Some(placed)
            }
            (Along::X, Across::Columns(..), _) | (Along::Y, _, Down::Rows(_)) => None,
        }
    }
}

fn middles(groups: &[Group], x: &Axis, top: f64) -> Vec<f64> {
    let row = layout::row_height(x);
    let mut y = top;
    let mut middles = Vec::new();
    for group in groups {
        if group.heading.is_some() {
            y += HEADING;
        }
        for _ in &group.rows {
            middles.push(y + row / 2.0);
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
        let space = Space::of(chart, panel, place, (left, right));
        let (top, from, to) = (place.top, place.from, place.to);
        let lines = place.rules.clone();
        self.names_of(panel, top);
        if let Axis::Columns(columns) = &chart.x {
            self.column_names(columns, &space, from);
        }
        self.x_grid(&space, (from, to));
        match &panel.y {
            Axis::Scale(scale) => self.y_axis(scale, &space),
            Axis::Rows(groups) => self.rows(groups, from, chart),
            Axis::Columns(_) => {}
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
        let (Axis::Scale(scale), Some(placed)) = (&self.chart.x, space.scale(Along::X)) else {
            return;
        };
        let ticks = placed.ticks(scale, |label| scale::tick_room(label, SMALL));
        let ink = self.paint.palette.grid;
        for tick in ticks {
            let width = if tick.label.is_some() { 1.0 } else { 0.5 };
            self.line((tick.at, from), (tick.at, to), ink, width);
        }
    }

    pub(super) fn x_axis(&mut self) {
        let chart = self.chart;
        let Axis::Scale(scale) = &chart.x else {
            return;
        };
        let (left, right) = (self.layout.left, self.layout.right);
        let placed = scale::of_chart(chart, scale, (left, right));
        let y = self.layout.bottom;
        let (text, muted, axis) = {
            let palette = self.paint.palette;
            (palette.text, palette.muted, palette.axis)
        };
        for tick in placed.ticks(scale, |label| scale::tick_room(label, SMALL)) {
            let Some(label) = tick.label else {
                continue;
            };
            self.line((tick.at, y), (tick.at, y + 4.0), axis, 1.0);
            // At the ends of the axis a label stays on the paper.
            let half = text_width(&label, SMALL) / 2.0;
            let x = tick
                .at
                .clamp(half + 2.0, (self.layout.width - half - 2.0).max(half + 2.0));
            self.anchored((x, y + 16.0), SMALL, text, "middle", &label);
        }
        if !scale.label.is_empty() {
            let middle = f64::midpoint(left, right);
            let room = self.layout.width - 2.0 * EDGE;
            let label = metrics::cut(&scale.label, SMALL, Weight::Regular, room);
            let half = text_width(&label, SMALL) / 2.0;
            let x = middle.clamp(half + 2.0, self.layout.width - half - 2.0);
            self.anchored((x, y + 33.0), SMALL, muted, "middle", &label);
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

    fn rows(&mut self, groups: &[Group], top: f64, chart: &Chart) {
        let row = layout::row_height(&chart.x);
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
                let middle = y + row / 2.0;
                if row == ROW {
                    self.line((left, middle), (right, middle), grid, 1.0);
                }
                let label = layout::row_label(&entry.label);
                self.anchored((left - GAP + 2.0, middle + 4.0), TEXT, text, "end", &label);
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

    fn column_names(&mut self, columns: &[String], space: &Space, from: f64) {
        let ink = self.paint.palette.text;
        for (number, name) in columns.iter().enumerate() {
            let Some(x) = space.x(number as f64) else {
                continue;
            };
            match self.layout.names {
                Names::Level => self.anchored((x, from - 6.0), SMALL, ink, "middle", name),
                Names::Slanted => {
                    let (x, y) = (px(x - 2.0), px(from - 5.0));
                    let turned = format!("rotate(-{SLANT} {x} {y})");
                    let tag = self.xml.tag("text").attr("x", &x).attr("y", &y);
                    let tag = tag.px("font-size", SMALL).attr("fill", ink);
                    tag.attr("transform", &turned)
                        .text(&layout::column_label(name));
                }
            }
        }
    }

    /// References: a broken line, with its text above or beside the data.
    fn rules(&mut self, panel: &Panel, space: &Space, lines: &[usize], (from, to): (f64, f64)) {
        let ink = self.paint.palette.rule;
        for (rule, line) in layout::rules(panel, Along::X).zip(lines) {
            let (Some(placed), Some(x)) = (space.scale(Along::X), space.x(rule.at)) else {
                continue;
            };
            let (start, _) = self.layout.rule_text(placed, rule);
            let y = from - 9.0 - *line as f64 * 16.0;
            self.broken((x, y + 4.0), (x, to));
            self.text((start, y), SMALL, ink, &rule.label);
        }
        let (left, right) = (self.layout.left, self.layout.right);
        let mut beside: Vec<(f64, &str)> = Vec::new();
        for rule in layout::rules(panel, Along::Y) {
            if let Some(y) = space.y(rule.at) {
                self.broken((left, y), (right, y));
                beside.push((y, &rule.label));
            }
        }
        beside.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut lowest = f64::NEG_INFINITY;
        for (y, label) in beside {
            let y = y.max(lowest + 14.0);
            lowest = y;
            // Of more than there is room for, the lines have to do.
            if y + 8.0 > self.layout.height {
                break;
            }
            let label = layout::rule_label(label);
            self.text((right + 6.0, y + 4.0), SMALL, ink, &label);
        }
    }

    fn broken(&mut self, from: (f64, f64), to: (f64, f64)) {
        let path = format!("M{} {}L{} {}", px(from.0), px(from.1), px(to.0), px(to.1));
        let ink = self.paint.palette.rule;
        let tag = self.xml.tag("path").attr("d", &path).attr("stroke", ink);
        tag.px("stroke-width", 1.2)
            .attr("stroke-dasharray", "5 3")
            .end();
    }
}
