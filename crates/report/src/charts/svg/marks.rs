//! Marks of a panel.

use itertools::Itertools;

use super::axes::Space;
use super::layout::ROW;
use super::paint::Surface;
use super::{Canvas, Paint, SMALL, at, broken, text_width};
use crate::charts::chart::{About, Bar, Dot, Fill, Interval, Mark, Path, Polyline};
use crate::xml::{attribute, escaped, px};

/// Width of the line of bounds.
const REACH: &str = "1.6";
/// Half a mark's width.
pub(super) const RADIUS: f64 = 5.0;
/// Half a bar's height.
const BAR: f64 = 7.5;

/// Corners of what is no circle, for half a width of one.
const CORNERS: [&[(f64, f64)]; 4] = [
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)],
    &[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
    &[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)],
];

/// Path of a series' shape, which differs from others without color; that of the first is a circle.
fn shape(series: usize, (x, y): (f64, f64), r: f64) -> String {
    let corners = (series % 5).checked_sub(1).map(|other| CORNERS[other]);
    let Some(corners) = corners else {
        let (start, over, back) = (at((x - r, y)), px(2.0 * r), px(-2.0 * r));
        let r = px(r);
        return format!("M{start}a{r} {r} 0 1 0 {over} 0a{r} {r} 0 1 0 {back} 0Z");
    };
    let corners = corners.iter().map(|(dx, dy)| at((x + dx * r, y + dy * r)));
    format!("M{}Z", corners.format("L"))
}

impl Canvas<'_> {
    pub(super) fn mark(&mut self, mark: &Mark, space: &Space) {
        match mark {
            Mark::Dot(dot) => self.dot(dot, space),
            Mark::Bar(bar) => self.bar(bar, space),
            Mark::Line(line) => self.path(line, space),
            // Below the marks.
            Mark::Rule(_) => {}
        }
    }

    /// Opens the group of a mark that carries figures.
    fn about(&mut self, word: &str, series: usize, about: &About, data: &[(&str, Option<f64>)]) {
        let key = self.chart.keys.get(series).map(String::as_str);
        let key = attribute("data-series", key.filter(|name| !name.is_empty()));
        let case = attribute("data-case", about.case.as_deref());
        let data = data.iter().filter_map(|(name, value)| {
            let value = value.filter(|value| value.is_finite())?;
            Some(format!(r#" {name}="{value:?}""#))
        });
        let (data, title) = (data.format(""), escaped(&about.text));
        self.add(format_args!(
            "<g data-mark=\"{word}\"{case}{key}{data}>\n<title>{title}</title>"
        ));
    }

    fn dot(&mut self, dot: &Dot, space: &Space) {
        let (Some(x), Some(y)) = (space.x.at(dot.x), space.y(dot.y)) else {
            return;
        };
        let ink = self.paint.palette.series(dot.series);
        let data = [
            ("data-x", Some(dot.x)),
            ("data-y", Some(dot.y)),
            ("data-low", dot.interval.and_then(|interval| interval.low)),
            ("data-high", dot.interval.and_then(|interval| interval.high)),
        ];
        self.about("dot", dot.series, &dot.about, &data);
        if let Some(interval) = dot.interval {
            self.interval(interval, (x, y), ink, space);
        }
        self.marker(space.radius, dot.series, dot.fill, ink, (x, y));
        self.add(format_args!("</g>"));
    }

    pub(super) fn marker(
        &mut self,
        radius: f64,
        series: usize,
        fill: Fill,
        ink: &'static str,
        at: (f64, f64),
    ) {
        let painted = self.paint.fill(fill, Surface::Dot, ink);
        let width = if radius < RADIUS { "0.9" } else { "1.6" };
        let (path, dashes) = (shape(series, at, radius), broken(Paint::outline(fill)));
        self.add(format_args!(
            r#"<path d="{path}" fill="{painted}" stroke="{ink}" stroke-width="{width}"{dashes}/>"#
        ));
    }

    /// A bar with an end where there is a bound on the axis, and an arrow where there is none.
    fn interval(&mut self, interval: Interval, (x, y): (f64, f64), ink: &str, space: &Space) {
        // In a row it lies along x.
        let (placed, middle) = space.y.as_ref().map_or((&space.x, x), |placed| (placed, y));
        if (interval.low, interval.high) == (None, None) {
            return;
        }
        let (from, to) = placed.ends();
        let towards = (to - from).signum();
        let open = 16.0 * towards;
        let ends = [
            (placed.bound(interval.low, from, middle - open), -1.0),
            (placed.bound(interval.high, to, middle + open), 1.0),
        ];
        let place = |along: f64, across: f64| match space.y {
            None => at((along, y + across)),
            Some(_) => at((x + across, along)),
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
        self.add(format_args!(
            r#"<path d="{path}" fill="none" stroke="{ink}" stroke-width="{REACH}"/>"#
        ));
    }

    fn bar(&mut self, bar: &Bar, space: &Space) {
        let (Some(from), Some(to)) = (space.x.at(bar.from), space.x.at(bar.to)) else {
            return;
        };
        let edges = match &space.y {
            // From zero upwards.
            Some(placed) => placed.at(bar.y).zip(placed.at(0.0)),
            None => space.y(bar.y).map(|middle| (middle - BAR, middle + BAR)),
        };
        let Some((head, foot)) = edges else {
            return;
        };
        let ink = self.paint.palette.series(bar.series);
        let height = space.y.as_ref().map(|_| bar.y);
        let data = [
            ("data-from", Some(bar.from)),
            ("data-to", Some(bar.to)),
            ("data-y", height),
        ];
        self.about("bar", bar.series, &bar.about, &data);
        let width = (to - from).max(0.5);
        let outline = height.map(|_| "0.8");
        self.rect((from, head), (width, foot - head), bar.fill, ink, outline);
        self.add(format_args!("</g>"));
        if !bar.label.is_empty() && text_width(&bar.label, SMALL) + 10.0 <= width {
            let middle = (f64::midpoint(from, from + width), f64::midpoint(head, foot));
            self.inside(bar.fill, middle, &bar.label);
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
        let (left, top, wide) = (px(x - width / 2.0), px(y - 6.5), px(width));
        let ground = palette.ground;
        self.add(format_args!(
            r#"<rect x="{left}" y="{top}" width="{wide}" height="13" rx="2" fill="{ground}"/>"#
        ));
        self.anchored((x, y + 4.0), SMALL, palette.text, "middle", label);
    }

    fn path(&mut self, line: &Polyline, space: &Space) {
        let place = |&(x, y): &(f64, f64)| Some((space.x.at(x)?, space.y(y)?));
        let places: Vec<(f64, f64)> = line.points.iter().filter_map(place).collect();
        if places.len() < 2 {
            return;
        }
        let path = places.into_iter().map(at).join("L");
        let ink = self.paint.palette.series(line.series);
        let (width, dashes) = match line.path {
            Path::Fitted => ("1.2", Some("6 3")),
            Path::Straight => ("1.8", Paint::dashes(line.fill)),
        };
        self.about("line", line.series, &line.about, &[]);
        let dashes = broken(dashes);
        self.add(format_args!(
            r#"<path d="M{path}" fill="none" stroke="{ink}" stroke-width="{width}" stroke-linejoin="round"{dashes}/>"#
        ));
        self.add(format_args!("</g>"));
    }
}

const _: () = assert!(2.0 * BAR < ROW, "bars of two rows do not touch");
