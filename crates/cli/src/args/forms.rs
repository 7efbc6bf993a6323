//! The forms of files, by the words for them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use keymark_report::formats::FORMATS;
use keymark_report::render::{Format, html};

/// What `keymark export` writes.
pub(super) fn exported() -> impl TypedValueParser<Value = &'static Format> {
    one_of(|format| Some(format.word))
}

/// What `keymark report` writes, as files of the form are called.
pub(super) fn reported() -> impl TypedValueParser<Value = &'static Format> {
    one_of(|format| format.endings.last().copied())
}

fn one_of(
    word: fn(&Format) -> Option<&'static str>,
) -> impl TypedValueParser<Value = &'static Format> {
    let known = FORMATS.iter().filter_map(move |format| {
        let word = word(format)?;
        Some(PossibleValue::new(word).help(format.about))
    });
    PossibleValuesParser::new(known).try_map(move |wanted| {
        let mut known = FORMATS.iter();
        let found = known.find(|format| word(format) == Some(&*wanted));
        found.copied().ok_or("no form is called so")
    })
}

/// The form of a file with that ending.
pub(super) fn of_ending(ending: &str) -> &'static Format {
    let mut known = FORMATS.iter();
    let found = known.find(|format| format.endings.contains(&ending));
    found.copied().unwrap_or(&html::FORMAT)
}
