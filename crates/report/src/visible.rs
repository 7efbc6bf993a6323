//! Text as it is shown: what is from outside is made harmless (`keymark_bench::outside::visible`); in the forms that
//! programs read; in lines that have room, broken between words.

use std::borrow::Cow;

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

pub use keymark_bench::outside::visible::{excerpt, message, visible, visible_lines};
pub use keymark_records::visible::{json, write_json};

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
    use super::*;

    #[test]
    fn a_formula_is_none_any_more() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "＝1"] {
            assert_eq!(no_formula(text), format!("'{text}"));
        }
        assert_eq!(no_formula("\t=1"), "\\t=1");
        assert_eq!(no_formula("twin:=x"), "twin:=x");
    }
}
