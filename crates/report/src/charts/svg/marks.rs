//! Marks of a panel.

use itertools::Itertools;

use super::axes::Space;
use super::layout::ROW;
use super::paint::Surface;
use super::{Canvas, Paint, SMALL, text_width};
use crate::charts::chart::{
    About, Along, Bar, Column, Dot, Fill, Line, Mark, Panel, Path, Reach, Size,
};
use crate::xml::px;

/// Width of the line of bounds.
const REACH: f64 = 1.6;
/// Half a mark's width.
const RADIUS: f64 = 5.0;
const CROWD: f64 = 2.4;
/// Half a bar's height.
const BAR: f64 = 7.5;

/// Shape of a series, told from others without colour.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
}

impl Shape {
    pub(super) const fn of(series: usize) -> Self {
        match series % 5 {
            0 => Self::Circle,
            1 => Self::Square,
            2 => Self::Diamond,
            3 => Self::Up,
            _ => Self::Down,
        }
    }

    fn path(self, (x, y): (f64, f64), r: f64) -> String {
        let points = |corners: &[(f64, f64)]| {
            let corners = corners.iter().map(|(dx, dy)| {
                let (x, y) = (px(x + dx * r), px(y + dy * r));
                format!("{x} {y}")
            });
            format!("M{}Z", corners.format("L"))
        };
        match self {
            Self::Circle => {
                let (left, y, over, back) = (px(x - r), px(y), px(2.0 * r), px(-2.0 * r));
                let r = px(r);
                format!("M{left} {y}a{r} {r} 0 1 0 {over} 0a{r} {r} 0 1 0 {back} 0Z")
            }
            Self::Square => points(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Self::Diamond => points(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]),
            Self::Up => points(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]),
            Self::Down => points(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]),
        }
    }
}

impl Canvas<'_> {
    pub(super) fn mark(&mut self, mark: &Mark, space: &Space) {
        match mark {
            Mark::Dot(dot) => self.dot(dot, space),
            Mark::Bar(bar) => self.bar(bar, space),
            Mark::Line(line) => self.path(line, space),
            Mark::Column(column) => self.column(column, space),
            // Below the marks.
            Mark::Rule(_) => {}
        }
    }

    fn key(&self, series: usize) -> Option<&str> {
        let key = self.chart.keys.get(series)?;
        Some(key.as_str()).filter(|name| !name.is_empty())
    }

    /// Opens the group of a mark that carries figures.
    fn about(&mut self, word: &str, series: usize, about: &About, data: &[(&str, Option<f64>)]) {
        let series = self.key(series).map(str::to_owned);
        let tag = self.xml.tag("g").attr("data-mark", word);
        let tag = tag.maybe("data-case", about.case.as_deref());
        let mut tag = tag.maybe("data-series", series.as_deref());
        for (name, value) in data {
            tag = tag.datum(name, *value);
        }
        tag.open();
        self.xml.tag("title").text(&about.text);
    }

    fn dot(&mut self, dot: &Dot, space: &Space) {
        let (Some(x), Some(y)) = (space.x(dot.x), space.y(dot.y)) else {
            return;
        };
        let ink = self.paint.palette.series(dot.series);
        let data = [
            ("data-x", Some(dot.x)),
            ("data-y", Some(dot.y)),
            ("data-low", dot.reach.and_then(|reach| reach.low)),
            ("data-high", dot.reach.and_then(|reach| reach.high)),
        ];
        self.about("dot", dot.series, &dot.about, &data);
        if let Some(reach) = dot.reach {
            self.reach(reach, (x, y), (ink, REACH), space);
        }
        match dot.size {
            Size::Figure => self.marker(Shape::of(dot.series), dot.fill, ink, (x, y)),
            Size::Crowd => self.marker_of(CROWD, Shape::of(dot.series), dot.fill, ink, (x, y)),
        }
        self.xml.close("g");
    }

    pub(super) fn marker(&mut self, shape: Shape, fill: Fill, ink: &str, at: (f64, f64)) {
        self.marker_of(RADIUS, shape, fill, ink, at);
    }

    fn marker_of(&mut self, radius: f64, shape: Shape, fill: Fill, ink: &str, at: (f64, f64)) {
        let painted = self.paint.fill(fill, Surface::Dot, ink);
        let width = if radius < RADIUS { 0.9 } else { 1.6 };
        let tag = self.xml.tag("path").attr("d", &shape.path(at, radius));
        tag.attr("fill", &painted)
            .attr("stroke", ink)
            .px("stroke-width", width)
            .maybe("stroke-dasharray", Paint::outline(fill))
            .end();
    }

    /// A bar with an end where there is a bound on the axis, and an arrow where there is none.
    fn reach(
        &mut self,
        reach: Reach,
        (x, y): (f64, f64),
        (ink, width): (&str, f64),
        space: &Space,
    ) {
        let Some(placed) = space.scale(reach.along) else {
            return;
        };
        if (reach.low, reach.high) == (None, None) {
            return;
        }
        let (from, to) = placed.ends();
        let middle = match reach.along {
            Along::X => x,
            Along::Y => y,
        };
        let towards = (to - from).signum();
        let end = |bound: Option<f64>, sign: f64| {
            let held = bound.filter(|bound| placed.holds(*bound));
            let at = held.and_then(|bound| placed.at(bound));
            match (at, bound) {
                (Some(at), _) => (at, true),
                // Beyond the axis.
                (None, Some(_)) => (if sign > 0.0 { to } else { from }, false),
                (None, None) => (middle + 16.0 * sign * towards, false),
            }
        };
        let ends = [(end(reach.low, -1.0), -1.0), (end(reach.high, 1.0), 1.0)];
        let place = |along: f64, across: f64| match reach.along {
            Along::X => format!("{} {}", px(along), px(y + across)),
            Along::Y => format!("{} {}", px(x + across), px(along)),
        };
        let mut path = format!("M{}L{}", place(ends[0].0.0, 0.0), place(ends[1].0.0, 0.0));
        for ((at, bounded), sign) in ends {
            let back = if bounded { 0.0 } else { 4.0 * sign * towards };
            let (a, b) = (place(at - back, -4.0), place(at - back, 4.0));
            path += &if bounded {
                format!("M{a}L{b}")
            } else {
                format!("M{a}L{}L{b}", place(at, 0.0))
            };
        }
        let tag = self.xml.tag("path").attr("d", &path).attr("fill", "none");
        tag.attr("stroke", ink).px("stroke-width", width).end();
    }

    fn bar(&mut self, bar: &Bar, space: &Space) {
        let (placed, Some(y)) = (&space.x, space.y(bar.row as f64)) else {
            return;
        };
        let from = bar
            .from
            .map_or(Some(placed.ends().0), |from| placed.at(from));
        let (Some(from), Some(to)) = (from, placed.at(bar.to)) else {
            return;
        };
        let ink = self.paint.palette.series(bar.series);
        let data = [
            ("data-from", bar.from),
            ("data-to", Some(bar.to)),
            ("data-low", bar.reach.and_then(|reach| reach.low)),
            ("data-high", bar.reach.and_then(|reach| reach.high)),
        ];
        self.about("bar", bar.series, &bar.about, &data);
        let width = (to - from).max(0.5);
        self.rect((from, y - BAR), (width, 2.0 * BAR), bar.fill, ink);
        if let Some(reach) = bar.reach {
            // On its own bar a line needs a ground.
            let palette = self.paint.palette;
            self.reach(reach, (to, y), (palette.ground, 3.0 * REACH), space);
            self.reach(reach, (to, y), (palette.text, REACH), space);
        }
        self.xml.close("g");
        let label = bar
            .label
            .as_deref()
            .filter(|label| text_width(label, SMALL) + 10.0 <= width);
        if let Some(label) = label {
            let middle = f64::midpoint(from, from + width);
            self.inside(bar.fill, (middle, y), label);
        }
    }

    /// Text on a bar; on what is no even surface it has a ground of its own.
    fn inside(&mut self, fill: Fill, (x, y): (f64, f64), label: &str) {
        let palette = self.paint.palette;
        if fill == Fill::Solid {
            self.anchored((x, y + 4.0), SMALL, palette.ground, "middle", label);
            return;
        }
        let width = text_width(label, SMALL) + 6.0;
        let (left, top) = (x - width / 2.0, y - 6.5);
        let tag = self.xml.tag("rect").px("x", left).px("y", top);
        let tag = tag.px("width", width).px("height", 13.0).px("rx", 2.0);
        tag.attr("fill", palette.ground).end();
        self.anchored((x, y + 4.0), SMALL, palette.text, "middle", label);
    }

    fn path(&mut self, line: &Line, space: &Space) {
        let places = line
            .points
            .iter()
            .filter_map(|&(x, y)| Some((space.x(x)?, space.y(y)?)));
        let places: Vec<(f64, f64)> = places.collect();
        if places.len() < 2 {
            return;
        }
        let places = places.into_iter();
        let places = places.map(|(x, y)| format!("{} {}", px(x), px(y)));
        let path = format!("M{}", places.format("L"));
        let ink = self.paint.palette.series(line.series);
        let (width, dashes) = match line.path {
            Path::Fitted => (1.2, Some("6 3")),
            Path::Straight => (1.8, Paint::dashes(line.fill)),
        };
        self.about("line", line.series, &line.about, &[]);
        let tag = self.xml.tag("path").attr("d", &path).attr("fill", "none");
        tag.attr("stroke", ink)
            .px("stroke-width", width)
            .attr("stroke-linejoin", "round")
            .maybe("stroke-dasharray", dashes)
            .end();
        self.xml.close("g");
    }

    fn column(&mut self, column: &Column, space: &Space) {
        let (Some(from), Some(to)) = (space.x(column.from), space.x(column.to)) else {
            return;
        };
        let (Some(foot), Some(head)) = (space.y(0.0), space.y(column.height)) else {
            return;
        };
        let ink = self.paint.palette.series(column.series);
        let data = [
            ("data-from", Some(column.from)),
            ("data-to", Some(column.to)),
            ("data-y", Some(column.height)),
        ];
        self.about("column", column.series, &column.about, &data);
        let painted = self.paint.fill(column.fill, Surface::Bar, ink);
        let tag = self.xml.tag("rect").px("x", from).px("y", head);
        let tag = tag
            .px("width", (to - from).max(0.5))
            .px("height", foot - head);
        tag.attr("fill", &painted)
            .attr("stroke", ink)
            .px("stroke-width", 0.8)
            .maybe("stroke-dasharray", Paint::outline(column.fill))
            .end();
        self.xml.close("g");
    }

    /// Names beside dots, where they cover neither dots nor each other nor the edge.
    pub(super) fn labels(&mut self, panel: &Panel, space: &Space) {
        let dots = panel.marks.iter().filter_map(Mark::dot);
        let dots = dots.filter_map(|dot| Some((dot, space.x(dot.x)?, space.y(dot.y)?)));
        let dots: Vec<(&Dot, f64, f64)> = dots.collect();
        let around = |x: f64, y: f64| [x - 7.0, y - 7.0, x + 7.0, y + 7.0];
        let mut taken: Vec<[f64; 4]> = dots.iter().map(|&(_, x, y)| around(x, y)).collect();
        let room = [self.layout.left, self.layout.right];
        for (dot, x, y) in dots {
            let Some(label) = &dot.label else { continue };
            let width = text_width(label, SMALL);
            let places = [
                (x + 9.0, y + 4.0),
                (x - 9.0 - width, y + 4.0),
                (x - width / 2.0, y - 10.0),
                (x - width / 2.0, y + 18.0),
                (x + 7.0, y - 7.0),
                (x + 7.0, y + 15.0),
            ];
            let found = places.into_iter().find_map(|(x, y)| {
                let own = [x, y - 9.0, x + width, y + 3.0];
                let free = taken.iter().all(|other| apart(&own, other));
                (free && own[0] >= room[0] && own[2] <= room[1]).then_some((x, y, own))
            });
            if let Some((x, y, own)) = found {
                taken.push(own);
                self.text((x, y), SMALL, self.paint.palette.muted, label);
            }
        }
    }
}

/// Whether two rectangles have nothing in common.
fn apart(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1]
}

const _: () = assert!(2.0 * BAR < ROW, "bars of two rows do not touch");
