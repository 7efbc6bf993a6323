//! Text from outside, made harmless: names of devices and readers, imported records, what firmware prints.
//! What would move a terminal's cursor, end a line or turn its direction is written out.

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};

/// Control characters, and those that turn or break a line where none is seen (UAX #9 §2, Unicode's
/// "Trojan Source" report TR #36).
fn is_unseen(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// With everything unseen as Rust writes it: `\u{1b}`, `\n`. For what stands in one line.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_unseen(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The same for text of several lines, which stay apart.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    let kept = |c| matches!(c, '\n' | '\t');
    if !text.contains(|c| is_unseen(c) && !kept(c)) {
        return Cow::Borrowed(text);
    }
    let pieces = text.split_inclusive(kept).map(|piece| {
        let end = piece.strip_suffix(kept).unwrap_or(piece);
        format!("{}{}", visible(end), &piece[end.len()..])
    });
    Cow::Owned(pieces.collect())
}

/// JSON in which everything unseen is escaped: it may be printed as well.
///
/// # Errors
/// When writing fails, or the value has no form in JSON.
pub fn write_json(value: &impl Serialize, to: impl io::Write) -> serde_json::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(to, Visible))
}

/// The same, as text.
///
/// # Errors
/// When the value has no form in JSON.
pub fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    write_json(value, &mut text)?;
    String::from_utf8(text).map_err(<serde_json::Error as serde::ser::Error>::custom)
}

/// As [`CompactFormatter`], which leaves control characters above ASCII as they are.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_unseen(*c)) {
            CompactFormatter.write_string_fragment(writer, &rest[..at])?;
            // None of them is beyond the first plane.
            write!(writer, "\\u{:04x}", u32::from(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

/// A field of CSV that no spreadsheet takes for a formula (OWASP, "CSV Injection"): such a one gets an
/// apostrophe in front.
#[must_use]
pub fn no_formula(text: &str) -> Cow<'_, str> {
    let seen = visible(text);
    let formula = |c| matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠');
    if seen.trim_start().starts_with(formula) {
        Cow::Owned(format!("'{seen}"))
    } else {
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_seen_is_written_out() {
        assert_eq!(visible("Nitrokey 3 – µs"), "Nitrokey 3 – µs");
        assert_eq!(
            visible("a\u{1b}[2Jb\r\n\u{9b}c\u{202e}d\u{7f}"),
            "a\\u{1b}[2Jb\\r\\n\\u{9b}c\\u{202e}d\\u{7f}"
        );
        assert_eq!(
            visible_lines("a\n\tb\u{1b}\r\nc\u{85}"),
            "a\n\tb\\u{1b}\\r\nc\\u{85}"
        );
    }

    #[test]
    fn a_formula_is_none_any_more() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "＝1"] {
            assert_eq!(no_formula(text), format!("'{text}"));
        }
        assert_eq!(no_formula("\t=1"), "\\t=1");
        assert_eq!(no_formula("twin:=x"), "twin:=x");
    }

    proptest! {
        #[test]
        fn nothing_unseen_is_left_and_json_says_the_same(text in any::<String>()) {
            prop_assert!(!visible(&text).contains(is_unseen));
            prop_assert!(!visible_lines(&text).contains(|c| is_unseen(c) && c != '\n' && c != '\t'));
            let written = json(&text).unwrap();
            prop_assert!(!written.contains(is_unseen));
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
