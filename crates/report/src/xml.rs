//! XML as text: escaped, and lengths to a hundredth of a pixel, so that the same chart is the same bytes.

use std::fmt;

use askama::filters::Escaper;
use keymark_bench::outside::visible::is_unseen;

use crate::visible::visible;

/// An attribute whose value may be from outside; nothing without one.
pub(crate) fn attribute(name: &str, value: Option<&str>) -> String {
    value.map_or_else(String::new, |value| {
        format!(" {name}=\"{}\"", escaped(value))
    })
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

/// Escapes text for XML. U+FFFD replaces invisible characters and those that XML 1.0 cannot hold (§2.2).
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_unseen(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
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
        assert_eq!(
            attribute("data-case", Some("\"><script>")),
            " data-case=\"&quot;&gt;&lt;script&gt;\""
        );
        assert_eq!(attribute("data-case", None), "");
        assert_eq!(
            escaped("</text>&\u{0}\u{1b}[2J\u{202e}"),
            "&lt;/text&gt;&amp;\u{fffd}\u{fffd}[2J\u{fffd}"
        );
        assert_eq!((px(1.0 / 3.0), px(f64::NAN)), ("0.33".into(), "0".into()));
        assert_eq!(
            (px(-0.001), px(10.0), px(1.5)),
            ("0".into(), "10".into(), "1.5".into())
        );
    }
}
