//! Every form of the report, of a run from an archive of each version that was released.

use std::fs;
use std::path::Path;

use crate::layers::layers;
use keymark_bench::record::Record;
use keymark_report::analysis::Analysis;
use keymark_report::archive::{Archive, RunSelector};
use keymark_report::document::Document;
use keymark_report::render::html::{self, Place};
use keymark_report::render::{json, latex, markdown};
use keymark_report::report::{Part, report};
use keymark_report::table;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

fn documents(record: &Record) -> (Document, Analysis) {
    let analysis = Analysis::of(record, &layers());
    let part = Part {
        record,
        document: analysis.document(record, &[]),
        again: None,
    };
    (report(vec![part], None), analysis)
}

/// What a page has of its own, without what is the same in all.
fn own(page: &str) -> String {
    let (_, body) = page.split_once("<body>").unwrap();
    let (body, _) = body.split_once("<script").unwrap();
    // Pictures have tests of their own.
    let mut pieces = body.split("<svg");
    let mut own = pieces.next().unwrap().to_owned();
    for piece in pieces {
        own += "(a picture)";
        own += piece.split_once("</svg>").unwrap().1;
    }
    own
}

#[test]
fn every_version_has_every_form() {
    let mut versions = 0;
    for entry in fs::read_dir(GOLDEN).unwrap() {
        let golden = entry.unwrap().path();
        let version = golden.file_stem().unwrap().to_str().unwrap().to_owned();
        // It is brought up to date when it is opened.
        let directory = tempfile::tempdir().unwrap();
        let copy = directory.path().join("runs.sqlite3");
        fs::copy(&golden, &copy).unwrap();
        let archive = Archive::open(Path::new(&copy)).unwrap();
        for line in archive.runs().unwrap() {
            let record = archive.load(&RunSelector::Id(line.id.0.clone())).unwrap();
            let (document, analysis) = documents(&record);
            let name = |form: &str| format!("{}_{form}", version.replace('-', "_"));
            let mut csv = Vec::new();
            table::csv(&analysis.rows, &mut csv).unwrap();
            insta::assert_snapshot!(name("csv"), String::from_utf8(csv).unwrap());
            insta::assert_snapshot!(name("markdown"), markdown::render(&document));
            insta::assert_snapshot!(name("latex"), latex::render(&document));
            insta::assert_snapshot!(name("json"), json::render(&document).unwrap());
            let page = html::render(document, Place::File).unwrap();
            insta::assert_snapshot!(name("html"), own(&page));
        }
        versions += 1;
    }
    assert!(versions >= 8, "{versions} archives");
}
