//! Text from outside, made harmless: names of devices and readers, imported records, what firmware prints.
//! What would move a terminal's cursor, end a line or turn its direction is written out, and so is what is not
//! seen at all; in messages it is as short as a reader needs.

use std::borrow::Cow;

/// Characters of a piece of foreign text in a message.
pub const EXCERPT: usize = 100;
/// Characters of a whole message, whatever it is made of.
pub const MESSAGE: usize = 2_000;

/// Characters that are displayed as nothing: `Default_Ignorable_Code_Point` of Unicode 16 (UAX #44), in which are
/// the marks of direction (UAX #9 §2), and the other format characters without a form.
const NOTHING: [(char, char); 18] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Control characters, and those of which nothing is seen, or that turn or end a line.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || NOTHING
            .iter()
            .any(|&(first, last)| (first..=last).contains(&c))
}

/// Returns text for one line, with everything invisible as Rust writes it: `\u{1b}`, `\n`.
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

/// Returns text of several lines, which stay separate, with everything invisible as Rust writes it.
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

/// A piece of foreign text in a message: visible, in one line, and not longer than [`EXCERPT`].
pub fn excerpt(text: &str) -> String {
    shortened(text, EXCERPT)
}

/// Returns one line of at most that many characters. A longer text loses its middle, so that the end of another
/// library's message, with the place of the error, stays.
pub fn shortened(text: &str, most: usize) -> String {
    // Cut first, so that little has to be made visible.
    let seen = cut(text, most);
    cut(&visible(&seen), most).into_owned()
}

/// Returns a parser's message with its line, without the line's text and the strings in it: a file that was named by
/// mistake may have a password there.
pub fn located(text: &str, span: Option<std::ops::Range<usize>>, reason: &str) -> String {
    let parts = reason.split('"').enumerate();
    let reason: String = parts
        .map(|(number, part)| if number % 2 == 1 { "\"…\"" } else { part })
        .collect();
    let before = span.and_then(|span| text.get(..span.start));
    let line = before.map(|before| 1 + before.matches('\n').count());
    let place = line.map_or_else(String::new, |line| format!("line {line}: "));
    format!("{place}{}", excerpt(&reason))
}

/// A message of several lines, which stay apart: visible, and of at most [`MESSAGE`] characters.
pub fn message(text: &str) -> String {
    cut(&visible_lines(&cut(text, MESSAGE)), MESSAGE).into_owned()
}

/// The first three quarters and the last one of what is longer.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    // A character has a byte or more.
    if text.len() <= most || text.char_indices().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let end = most / 4;
    let begin = most - end - 1;
    let at = |found: Option<(usize, char)>| found.map_or(0, |(at, _)| at);
    let first = at(text.char_indices().nth(begin));
    let last = at(text.char_indices().nth_back(end.saturating_sub(1)));
    Cow::Owned(format!("{}…{}", &text[..first], &text[last..]))
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
            visible("a\u{200b}b\u{ad}c\u{2060}d\u{e0041}"),
            "a\\u{200b}b\\u{ad}c\\u{2060}d\\u{e0041}"
        );
        assert_eq!(
            visible_lines("a\n\tb\u{1b}\r\nc\u{85}"),
            "a\n\tb\\u{1b}\\r\nc\\u{85}"
        );
    }

    #[test]
    fn what_is_long_keeps_its_beginning_and_its_end() {
        let long = format!("begin {} end", "µ".repeat(1_000));
        let short = excerpt(&long);
        assert_eq!(short.chars().count(), EXCERPT);
        assert!(
            short.starts_with("begin µ") && short.ends_with("µ end"),
            "{short}"
        );
        assert_eq!(excerpt("as it is\n"), "as it is\\n");
        assert_eq!(message("two\nlines"), "two\nlines");
        assert_eq!(located("a\nb\n", Some(2..3), "not\nb"), "line 2: not\\nb");
        assert_eq!(located("a", None, "not b"), "not b");
        let quoted = located("a", None, "invalid type: string \"secret\", expected u32");
        assert_eq!(quoted, "invalid type: string \"…\", expected u32");
    }

    proptest! {
        #[test]
        fn nothing_unseen_is_left_and_nothing_is_long(text in any::<String>(), most in 8_usize..40) {
            prop_assert!(!visible(&text).contains(is_unseen));
            prop_assert!(!visible_lines(&text).contains(|c| is_unseen(c) && c != '\n' && c != '\t'));
            let short = shortened(&text, most);
            prop_assert!(short.chars().count() <= most);
            prop_assert!(!short.contains(is_unseen));
        }
    }
}
