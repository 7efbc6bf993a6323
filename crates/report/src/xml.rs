//! XML as text: escaped, lengths to a hundredth of a pixel, attributes in the order they are given, so that the same chart
//! is the same bytes.

use std::fmt::{self, Write as _};

use askama::filters::Escaper;

use crate::visible::visible;

/// Elements, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Xml {
    out: String,
}

/// The start of an element, which takes attributes until it is ended.
#[must_use]
pub(crate) struct Tag<'x> {
    xml: &'x mut Xml,
    name: &'static str,
}

impl Xml {
    /// Begins an element.
    pub(crate) fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Tag { xml: self, name }
    }

    /// Ends an element that was left open.
    pub(crate) fn close(&mut self, name: &'static str) {
        let _ = writeln!(self.out, "</{name}>");
    }

    /// What was written elsewhere.
    pub(crate) fn append(&mut self, other: &Self) {
        self.out.push_str(&other.out);
    }

    pub(crate) fn into_text(self) -> String {
        self.out
    }
}

impl Tag<'_> {
    /// An attribute, as it is.
    pub(crate) fn attr(self, name: &str, value: &str) -> Self {
        let _ = write!(self.xml.out, " {name}=\"{}\"", escaped(value));
        self
    }

    /// A length or a place, in pixels.
    pub(crate) fn px(self, name: &str, value: f64) -> Self {
        let text = px(value);
        self.attr(name, &text)
    }

    /// A value of the data; one that is no number is left out.
    pub(crate) fn datum(self, name: &str, value: Option<f64>) -> Self {
        match value.filter(|value| value.is_finite()) {
            Some(value) => self.attr(name, &format!("{value:?}")),
            None => self,
        }
    }

    /// An attribute, if there is one.
    pub(crate) fn maybe(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// Nothing in it.
    pub(crate) fn end(self) {
        self.xml.out.push_str("/>\n");
    }

    /// Text in it.
    pub(crate) fn text(self, text: &str) {
        let name = self.name;
        let _ = writeln!(self.xml.out, ">{}</{name}>", escaped(text));
    }

    /// Other elements in it, until it is closed.
    pub(crate) fn open(self) {
        self.xml.out.push_str(">\n");
    }
}

/// Text in a template: visible, and escaped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct XmlText;

impl Escaper for XmlText {
    fn write_escaped_str<W: fmt::Write>(&self, mut to: W, text: &str) -> fmt::Result {
        to.write_str(&escaped(&visible(text)))
    }
}

/// To a hundredth, without zeros at the end.
pub(crate) fn px(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// Without what has a meaning in XML, and without what XML 1.0 cannot hold (§2.2), for which U+FFFD stands.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            // What turns the direction of text, or is not seen (UAX #9 §2).
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_numbers_are_short() {
        let mut xml = Xml::default();
        xml.tag("text")
            .attr("data-case", "\"><script>")
            .px("x", 1.0 / 3.0)
            .px("y", f64::NAN)
            .datum("data-x", Some(f64::INFINITY))
            .text("</text>&\u{0}\u{1b}[2J\u{202e}");
        assert_eq!(
            xml.into_text(),
            "<text data-case=\"&quot;&gt;&lt;script&gt;\" x=\"0.33\" y=\"0\">&lt;/text&gt;&amp;\u{fffd}\u{fffd}[2J\u{fffd}</text>\n"
        );
        assert_eq!(
            (px(-0.001), px(10.0), px(1.5)),
            ("0".into(), "10".into(), "1.5".into())
        );
    }
}
