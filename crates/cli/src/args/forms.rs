//! The forms of files, by the words for them.

use clap::builder::TypedValueParser;
use keymark_report::formats::FORMATS;
use keymark_report::render::{Format, html};

/// What `keymark export` writes.
pub(super) fn exported() -> impl TypedValueParser<Value = &'static Format> {
    let all = FORMATS.iter().copied();
    super::one_of(all.map(|format| (format, format.word, format.about)))
}

/// What `keymark report` writes, as files of the form are called.
pub(super) fn reported() -> impl TypedValueParser<Value = &'static Format> {
    let all = FORMATS.iter().copied();
    super::one_of(all.filter_map(|format| Some((format, *format.endings.last()?, format.about))))
}

/// The form of a file with that ending.
pub(super) fn of_ending(ending: &str) -> &'static Format {
    let mut known = FORMATS.iter();
    let found = known.find(|format| format.endings.contains(&ending));
    found.copied().unwrap_or(&html::FORMAT)
}
