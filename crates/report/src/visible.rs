//! Text as it is shown: what is from outside is made harmless (`keymark_bench::outside::visible`); in the forms that
//! programs read; in lines that have room, broken between words.

use std::borrow::Cow;
use std::io;

use keymark_bench::outside::visible::is_unseen;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};
use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

pub use keymark_bench::outside::visible::{excerpt, message, visible, visible_lines};

/// JSON in which everything unseen is escaped: it may be printed as well.
pub fn write_json(value: &impl Serialize, to: impl io::Write) -> serde_json::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(to, Visible))
}

/// Returns JSON in which everything unseen is escaped.
pub fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    write_json(value, &mut text)?;
    String::from_utf8(text).map_err(<serde_json::Error as serde::ser::Error>::custom)
}

/// Formatter like [`CompactFormatter`] that also escapes unseen characters above ASCII.
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
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

/// Makes a sentence: a capital letter at the beginning, a point at the end.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// A field of CSV that no spreadsheet takes for a formula (OWASP, "CSV Injection"): such a one gets an
/// apostrophe in front.
pub fn no_formula(text: &str) -> Cow<'_, str> {
    let seen = visible(text);
    let formula = |c| matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠');
    if seen.trim_start().starts_with(formula) {
        Cow::Owned(format!("'{seen}"))
    } else {
        seen
    }
}

/// Units that stay on the line of their number.
const UNITS: [&str; 6] = ["s", "ms", "µs", "ns", "%", "MHz"];

/// Breaks a text into lines of as many words as fit.
pub(crate) fn wrapped(
    text: &str,
    limit: usize,
    indent: &str,
    words: for<'a> fn(&'a str) -> Box<dyn Iterator<Item = Word<'a>> + 'a>,
) -> Vec<String> {
    let options = Options::new(limit)
        .initial_indent(indent)
        .subsequent_indent(indent)
        .break_words(false)
        .word_separator(WordSeparator::Custom(words))
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let lines = textwrap::wrap(text, options).into_iter();
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// Words, and numbers with their units.
pub(crate) fn words(text: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let is_unit = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%');
        UNITS.contains(&word)
    };
    split(text, |piece, rest| {
        let number = piece.ends_with(|c: char| c.is_ascii_digit());
        !(number && is_unit(rest.split(' ').next().unwrap_or_default()))
    })
}

/// Pieces of a text that end at those of its spaces at which they may.
pub(crate) fn split<'a>(
    text: &'a str,
    may_end: impl Fn(&str, &str) -> bool,
) -> Box<dyn Iterator<Item = Word<'a>> + 'a> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    for (space, _) in text.match_indices(' ') {
        if may_end(&text[start..space], &text[space + 1..]) {
            pieces.push(Word::from(&text[start..=space]));
            start = space + 1;
        }
    }
    pieces.push(Word::from(&text[start..]));
    Box::new(pieces.into_iter())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
        fn json_shows_everything_and_says_the_same(text in "[\\PC\\p{Cf}\\p{Cc}]*") {
            let written = json(&text).unwrap();
            prop_assert!(!written.contains(is_unseen));
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
