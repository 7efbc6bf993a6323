//! SVG of a chart. Colors are resolved and there are no styles, so that it looks the same wherever it is shown, also under a
//! Content-Security-Policy without styles. A mark that carries figures is a `<g>` with `data-mark`, `data-case` and
//! its values, and a `<title>`.
//!
//! Colors are presentation attributes: converters to PNG ignore `var()` and `@media`, and a Content-Security-Policy without
//! styles has nothing to forbid. Identifiers begin with a hash of the chart and its theme, so that pictures may
//! be in one page.

mod axes;
mod layout;
mod marks;
mod paint;

use std::collections::HashSet;
use std::fmt::{Arguments, Write as _};

use askama::Template;

use super::chart::{Chart, Fill};
use super::metrics::{self, Weight};
use crate::xml::{attribute, escaped, px};
use layout::Layout;
use paint::{Paint, Surface};
pub use paint::{Theme, light_and_dark};

pub(crate) const TEXT: f64 = 12.0;
pub(crate) const SMALL: f64 = 11.0;
const TITLE: f64 = 16.0;

/// Canvas of a picture. Verdana has the widths of its font.
#[derive(Template)]
#[template(path = "chart.svg")]
struct Canvas<'c> {
    chart: &'c Chart,
    layout: Layout,
    paint: Paint,
    /// Elements, one after the other.
    marks: String,
}

/// Width of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breadth {
    /// Width of a page.
    Page,
    /// Width of an upright telephone.
    Narrow,
}

/// The chart as an SVG file of its own, which may be in HTML as it is.
pub fn draw(chart: &Chart, theme: Theme) -> String {
    draw_within(chart, theme, Breadth::Page, &mut HashSet::new())
}

/// Draws the chart in this width, with text of the same size, for a page in which these identifiers are used.
pub fn draw_within(
    chart: &Chart,
    theme: Theme,
    breadth: Breadth,
    used: &mut HashSet<String>,
) -> String {
    let layout = Layout::of(chart, breadth);
    let mut canvas = Canvas {
        chart,
        paint: Paint::new(theme, prefix(chart, theme, breadth, used)),
        layout,
        marks: String::new(),
    };
    canvas.header();
    canvas.legend();
    for number in 0..chart.panels.len() {
        canvas.panel(number);
    }
    canvas.x_axis();
    canvas.notes();
    canvas.to_string()
}

/// Identifiers in it begin with this: several pictures may be in one page, in both themes, and one of them twice.
fn prefix(chart: &Chart, theme: Theme, breadth: Breadth, used: &mut HashSet<String>) -> String {
    // FNV-1a: the same in every build, as a hash of the standard library is not.
    let text = format!("{} {} {}", chart.kind, chart.title, chart.summary);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let narrow = match breadth {
        Breadth::Page => "",
        Breadth::Narrow => "n",
    };
    let mut prefix = format!("k{:08x}{}{narrow}", hash >> 32, &theme.word()[..1]);
    while !used.insert(prefix.clone()) {
        prefix.push('x');
    }
    prefix
}

/// A place, as paths have it.
fn at((x, y): (f64, f64)) -> String {
    format!("{} {}", px(x), px(y))
}

/// Attribute of a broken outline.
fn broken(dashes: Option<&str>) -> String {
    attribute("stroke-dasharray", dashes)
}

impl Canvas<'_> {
    /// Text in it is escaped.
    fn add(&mut self, element: Arguments<'_>) {
        let _ = writeln!(self.marks, "{element}");
    }

    /// A line of text with its baseline there.
    fn text(&mut self, at: (f64, f64), size: f64, ink: &str, text: &str) {
        self.anchored(at, size, ink, "start", text);
    }

    /// Writes the text as far as the paper has room, which is all unless it is hostile.
    fn anchored(&mut self, (x, y): (f64, f64), size: f64, ink: &str, anchor: &str, text: &str) {
        let right = self.layout.width - x;
        let room = match anchor {
            "middle" => 2.0 * x.min(right),
            "end" => x,
            _ => right,
        };
        let text = escaped(&metrics::cut(text, size, Weight::Regular, room - 2.0));
        let (x, y, size) = (px(x), px(y), px(size));
        let anchor = attribute("text-anchor", (anchor != "start").then_some(anchor));
        self.add(format_args!(
            r#"<text x="{x}" y="{y}" font-size="{size}" fill="{ink}"{anchor}>{text}</text>"#
        ));
    }

    fn bold(&mut self, (x, y): (f64, f64), size: f64, text: &str) {
        let room = self.layout.width - x - 2.0;
        let text = escaped(&metrics::cut(text, size, Weight::Bold, room));
        let (x, y, size, ink) = (px(x), px(y), px(size), self.paint.palette.text);
        self.add(format_args!(
            r#"<text x="{x}" y="{y}" font-size="{size}" font-weight="bold" fill="{ink}">{text}</text>"#
        ));
    }

    /// A bar between these edges, of a series or for what its fill means; its outline is as wide as this.
    fn rect(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        fill: Fill,
        ink: &'static str,
        outline: Option<&str>,
    ) {
        let painted = self.paint.fill(fill, Surface::Bar, ink);
        let (x, y, width, height) = (px(x), px(y), px(width), px(height));
        let look = attribute("stroke-width", outline) + &broken(Paint::outline(fill));
        self.add(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{painted}" stroke="{ink}"{look}/>"#
        ));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: &str, width: f64) {
        let (from, to, width) = (at(from), at(to), px(width));
        self.add(format_args!(
            r#"<path d="M{from}L{to}" stroke="{ink}" stroke-width="{width}"/>"#
        ));
    }

    fn header(&mut self) {
        let lines = self.layout.title.clone();
        let size = title_size(self.layout.breadth);
        for (number, line) in lines.iter().enumerate() {
            let y = layout::EDGE + size + number as f64 * (size + 5.0);
            self.bold((layout::EDGE, y), size, line);
        }
    }

    fn notes(&mut self) {
        let (lines, mut y) = (self.layout.notes.clone(), self.layout.notes_top);
        for line in lines {
            y += layout::NOTE_LINE;
            self.text((layout::EDGE, y), SMALL, self.paint.palette.muted, &line);
        }
    }
}

const fn title_size(breadth: Breadth) -> f64 {
    match breadth {
        Breadth::Page => TITLE,
        Breadth::Narrow => 13.0,
    }
}

/// Width of ordinary text.
fn text_width(text: &str, size: f64) -> f64 {
    crate::charts::metrics::width(text, size, Weight::Regular)
}
