//! SVG of a chart. Colours are resolved and there are no styles, so that it looks the same wherever it is shown, also under a
//! Content-Security-Policy without styles. A mark that carries figures is a `<g>` with `data-mark`, `data-case` and
//! its values, and a `<title>`.
//!
//! Colours are presentation attributes: resvg ignores `var()` and `@media`, and a Content-Security-Policy without
//! styles has nothing to forbid. Identifiers begin with a hash of the chart and its theme, so that pictures may
//! stand in one page.

mod axes;
mod layout;
mod legend;
mod marks;
mod paint;

use layout::Layout;
use paint::Paint;

use crate::charts::chart::Chart;
use crate::charts::metrics::{self, Weight};
use crate::charts::theme::Theme;
use crate::xml::{Xml, px};

/// Verdana has the same widths.
const FONT: &str = "DejaVu Sans, Verdana, Geneva, sans-serif";
pub(crate) const TEXT: f64 = 12.0;
pub(crate) const SMALL: f64 = 11.0;
const TITLE: f64 = 16.0;

/// What is drawn on, and with.
struct Canvas<'c> {
    chart: &'c Chart,
    layout: Layout,
    paint: Paint,
    xml: Xml,
}

/// How much room a picture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breadth {
    /// That of a page.
    Page,
    /// That of a telephone held upright.
    Narrow,
}

/// The chart as an SVG file of its own, which may stand in HTML as it is.
pub fn draw(chart: &Chart, theme: Theme) -> String {
    draw_within(chart, theme, Breadth::Page)
}

/// The same for so much room; text has the same size in each.
pub fn draw_within(chart: &Chart, theme: Theme, breadth: Breadth) -> String {
    let layout = Layout::of(chart, breadth);
    let mut canvas = Canvas {
        chart,
        paint: Paint::new(theme, &prefix(chart, theme, breadth)),
        layout,
        xml: Xml::default(),
    };
    canvas.header();
    canvas.legend();
    for number in 0..chart.panels.len() {
        canvas.panel(number);
    }
    canvas.x_axis();
    canvas.notes();
    canvas.finish(theme)
}

/// Identifiers in it begin with this: several pictures may stand in one page, in both themes.
fn prefix(chart: &Chart, theme: Theme, breadth: Breadth) -> String {
    // FNV-1a: the same in every build, as a hash of the standard library is not.
    let Chart {
        kind,
        title,
        summary,
        ..
    } = chart;
    let text = format!("{kind} {title} {summary}");
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let narrow = match breadth {
        Breadth::Page => "",
        Breadth::Narrow => "n",
    };
    format!("k{:08x}{}{narrow}", hash >> 32, &theme.word()[..1])
}

impl Canvas<'_> {
    /// A line of text with its baseline there.
    fn text(&mut self, (x, y): (f64, f64), size: f64, ink: &str, text: &str) {
        self.anchored((x, y), size, ink, "start", text);
    }

    /// As much of the text as the paper has room for, which is all unless it is from somebody who wants it not to be.
    fn anchored(&mut self, (x, y): (f64, f64), size: f64, ink: &str, anchor: &str, text: &str) {
        let right = self.layout.width - x;
        let room = match anchor {
            "middle" => 2.0 * x.min(right),
            "end" => x,
            _ => right,
        };
        let text = metrics::cut(text, size, Weight::Regular, room - 2.0);
        let tag = self.xml.tag("text").px("x", x).px("y", y);
        let tag = tag.px("font-size", size).attr("fill", ink);
        let anchor = (anchor != "start").then_some(anchor);
        tag.maybe("text-anchor", anchor).text(&text);
    }

    fn bold(&mut self, (x, y): (f64, f64), size: f64, text: &str) {
        let text = metrics::cut(text, size, Weight::Bold, self.layout.width - x - 2.0);
        let ink = self.paint.palette.text;
        let tag = self.xml.tag("text").px("x", x).px("y", y);
        let tag = tag.px("font-size", size).attr("font-weight", "bold");
        tag.attr("fill", ink).text(&text);
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: &str, width: f64) {
        let path = format!("M{} {}L{} {}", px(from.0), px(from.1), px(to.0), px(to.1));
        let tag = self.xml.tag("path").attr("d", &path).attr("stroke", ink);
        tag.px("stroke-width", width).end();
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

    fn finish(self, theme: Theme) -> String {
        let Self {
            chart,
            layout,
            paint,
            xml,
        } = self;
        let (width, height) = (px(layout.width), px(layout.height));
        let (title, summary) = (paint.id("title"), paint.id("desc"));
        let mut out = Xml::default();
        out.tag("svg")
            .attr("xmlns", "http://www.w3.org/2000/svg")
            .attr("viewBox", &format!("0 0 {width} {height}"))
            .attr("width", &width)
            .attr("height", &height)
            .attr("role", "img")
            .attr("aria-labelledby", &format!("{title} {summary}"))
            .attr("font-family", FONT)
            .attr("data-chart", chart.kind)
            .attr("data-theme", theme.word())
            .open();
        out.tag("title").attr("id", &title).text(&chart.title);
        out.tag("desc").attr("id", &summary).text(&chart.summary);
        paint.definitions(&mut out);
        out.tag("rect")
            .attr("width", &width)
            .attr("height", &height)
            .attr("fill", paint.palette.ground)
            .end();
        out.append(&xml);
        out.close("svg");
        out.into_text()
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
