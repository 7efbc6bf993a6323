//! The forms in which runs are written, for people and for other programs. A form is a file with a
//! [`Format`](crate::render::Format), and its line in [`FORMATS`].

mod csv;
mod github;
mod junit;
mod measured;
mod openmetrics;
mod record;
pub mod suite;
#[cfg(test)]
mod tests;

use crate::render::{Format, html, json, latex, markdown};

/// All there are.
pub static FORMATS: &[&Format] = &[
    &record::FORMAT,
    &csv::FORMAT,
    &markdown::FORMAT,
    &json::FORMAT,
    &openmetrics::FORMAT,
    &junit::FORMAT,
    &github::FORMAT,
    &html::FORMAT,
    &latex::FORMAT,
];
