//! Records that somebody else wrote, with what would harm a terminal, a spreadsheet or the reader's patience.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use keymark_testkit::place::{Place, objects, said, text};
use serde_json::{Value, json};

const KEYMARK: &str = env!("CARGO_BIN_EXE_keymark");
/// Clears the screen, turns the direction, forges a line, is a formula.
const EVIL: &str = "=cmd|'/C calc'!A0\u{1b}[2J\u{9b}31m\u{202e}\nerror: forged\r";

/// A small run of this machine, to be changed and imported under another name.
fn exported(place: &Place) -> Value {
    let run = [
        "bench",
        "--algorithm",
        "ed25519",
        "--stack",
        "raw",
        "--operation",
        "sign",
    ];
    let settings = ["--runs", "3", "--warmup", "0"];
    place.stdout(&[&run[..], &settings].concat());
    let exported = place.stdout(&["export", "last", "--format", "json"]);
    objects(&exported).into_iter().next().unwrap()
}

fn import(place: &Place, record: &Value) -> String {
    let file = place.path("run.json");
    std::fs::write(&file, record.to_string()).unwrap();
    place.stdout(&["import", &file.to_string_lossy()])
}

fn is_harmless(output: &str) {
    let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!output.contains(harmful), "{output:?}");
    assert!(
        !output.lines().any(|line| line.starts_with("error: forged")),
        "{output}"
    );
}

#[test]
fn names_from_elsewhere_are_written_out() {
    let place = Place::new(KEYMARK);
    let mut record = exported(&place);
    record["id"] = json!("evil\u{1b}[2J");
    record["stores"][0]["device"] = json!(EVIL);
    record["stores"][0]["product"] = json!(EVIL);
    record["environment"]["cpu_model"] = json!(EVIL);
    record["environment"]["versions"]["openssl"] = json!(EVIL);
    record["plan"]["cases"][0]["device"] = json!(EVIL);
    record["cases"][0]["case"]["device"] = json!(EVIL);
    record["cases"][0]["ending"] = json!({"stopped": "failed", "reason": EVIL});
    is_harmless(&import(&place, &record));
    for arguments in [
        &["runs"][..],
        &["runs", "--json"],
        &["show", "evil"],
        &["show", "evil", "--json"],
        &["compare", "evil", "last"],
        &["export", "evil", "--format", "json"],
        &["export", "evil", "--format", "csv"],
        &["export", "evil", "--format", "markdown"],
        &["export", "evil", "--format", "document"],
        &["profile", "evil"],
        &["show", "evil\u{1b}[2Jx"],
    ] {
        is_harmless(&said(&place.output(arguments)));
    }
    let shown = place.stdout(&["show", "evil"]);
    assert!(
        shown.contains("\\u{1b}[2J\\u{9b}31m\\u{202e}\\nerror: forged"),
        "{shown}"
    );
    let csv = place.stdout(&["export", "evil", "--format", "csv"]);
    assert!(csv.lines().nth(1).unwrap().starts_with("'=cmd|"), "{csv}");
    let again = objects(&place.stdout(&["export", "evil", "--format", "json"]));
    assert_eq!(
        again[0]["stores"][0]["device"], EVIL,
        "it is escaped, not changed"
    );
}

#[test]
fn a_hundred_thousand_workers_are_shown() {
    const WORKERS: u64 = 100_000;
    let place = Place::new(KEYMARK);
    let mut record = exported(&place);
    record["id"] = json!("many");
    for case in ["/cases/0/case", "/plan/cases/0"] {
        let load = record.pointer_mut(&format!("{case}/load/concurrency"));
        *load.unwrap() = json!(WORKERS);
    }
    let samples =
        (0..WORKERS).map(|worker| json!([worker, worker, worker, 200_000, "done", null, null]));
    record["cases"][0]["blocks"] = json!([{"round": 0, "samples": samples.collect::<Vec<_>>()}]);
    import(&place, &record);
    let rows = objects(&place.stdout(&["show", "many", "--json"]));
    assert_eq!(
        (&rows[0]["concurrency"], &rows[0]["n"]),
        (&json!(WORKERS), &json!(WORKERS))
    );
    let shown = text(&place.output(&["show", "many"]).stdout);
    assert!(shown.contains("c=100000"), "{shown}");
}
