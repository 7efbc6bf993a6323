//! Every form of the report, of the records in `golden/`: those of the first release stay there for good, and
//! must be read and shown for ever.

use std::fs;
use std::path::Path;

use keymark_records::archive::{Archive, RunSelector};
use keymark_report::analysis::Analysis;
use keymark_report::render::html::{self, ReadIn};
use keymark_report::render::{json, markdown};
use keymark_report::report::{Part, report};
use keymark_report::table;
use keymark_testkit::layers::layers;

use crate::imported;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

/// Records of the first release.
pub const RECORDS: [&str; 4] = ["everything", "stacks", "schemes", "predicted"];

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

/// The archive of the first release has the same records: it was made by `keymark import`.
#[test]
fn the_first_releases_archive_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("runs.sqlite3");
    let shipped = Path::new(GOLDEN).with_file_name("archive-0.1.0.sqlite3");
    fs::copy(shipped, &copy).unwrap();
    let archive = Archive::open(&copy).unwrap();
    for name in RECORDS {
        let imported = imported(&format!("golden/{name}"));
        let own = RunSelector::Id(imported.id.0.clone());
        assert_eq!(archive.load(&own).unwrap(), imported);
    }
}

#[test]
fn golden_records_have_every_form() {
    for name in RECORDS {
        let imported = imported(&format!("golden/{name}"));
        let directory = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(&directory.path().join("runs.sqlite3")).unwrap();
        archive.insert(&imported).unwrap();
        let all = RunSelector::Id(imported.id.0.clone());
        let record = archive.load(&all).unwrap();
        assert_eq!(record, imported);
        let analysis = Analysis::of(&record, &layers());
        let part = Part {
            record: &record,
            document: analysis.document(&record, &[]),
            rerun: None,
        };
        let document = report(vec![part], None);
        for (form, content) in [
            ("csv", table::csv(table::RUN, &analysis.rows).unwrap()),
            ("markdown", markdown::render(&document).unwrap()),
            ("json", json(&document).unwrap()),
            ("html", own(&html::render(document, ReadIn::File).unwrap())),
        ] {
            // A page has the same words and figures: its own form is seen where a run has everything.
            if name == "everything" || form != "html" {
                insta::assert_snapshot!(format!("{name}_{form}"), content);
            }
        }
    }
    let files = fs::read_dir(GOLDEN).unwrap().count();
    assert_eq!(files, 4, "a record is not looked at");
}
