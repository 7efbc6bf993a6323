//! What holds for every report, picture and page, whatever was measured.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod agreement;
mod charts;
mod document;
mod formats;
mod golden_reports;
mod html;
mod libraries;
mod limits;
mod pictures;
mod pipeline;
mod queues;
mod scaling;

use std::path::Path;

use keymark_bench::record::Record;
use keymark_records::exchange;
use keymark_report::Document;
use keymark_report::render::{Width, text};

/// Imports a record from `tests/`.
fn imported(name: &str) -> Record {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    exchange::import(&tests.join(format!("{name}.json"))).unwrap()
}

/// Renders a document as a terminal shows it, without escape codes.
fn plain(document: &Document, width: Width) -> String {
    anstream::adapter::strip_str(&text::render(document, width)).to_string()
}

/// Keeps the sections whose headings begin so, and removes conditions and warnings.
fn only(mut document: Document, begin: &str) -> Document {
    document.sections.retain(|section| {
        let heading = section.heading.as_deref();
        heading.is_some_and(|heading| heading.starts_with(begin))
    });
    document.head.clear();
    document.warnings.clear();
    document
}
