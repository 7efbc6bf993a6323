//! What a text has to say, and what it must not.

use std::fmt::Display;

/// Asserts that a text has all of these words in it.
#[track_caller]
pub fn assert_says<W: AsRef<str>>(
    text: &(impl Display + ?Sized),
    words: impl IntoIterator<Item = W>,
) {
    let text = text.to_string();
    for word in words {
        let word = word.as_ref();
        assert!(text.contains(word), "'{word}' is missing: {text}");
    }
}

/// Asserts that a text has none of these words in it.
#[track_caller]
pub fn assert_silent<W: AsRef<str>>(
    text: &(impl Display + ?Sized),
    words: impl IntoIterator<Item = W>,
) {
    let text = text.to_string();
    for word in words {
        let word = word.as_ref();
        assert!(!text.contains(word), "'{word}' stands there: {text}");
    }
}
