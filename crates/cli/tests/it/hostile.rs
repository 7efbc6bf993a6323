//! Records from others, with content that would harm a terminal, a spreadsheet or the reader's patience.

use std::fs::File;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends, Place, assert_has};
use serde_json::{Value, json};

use crate::KEYMARK;

/// Clears the screen, turns the direction, forges a line, is a formula.
const EVIL: &str = "=cmd|'/C calc'!A0\u{1b}[2J\u{9b}31m\u{202e}\nerror: forged\r\u{200b}";

/// A small run of this machine, to be changed and imported under another name.
fn exported(place: &Place, id: &str) -> Value {
    place.bench("--algorithm ed25519 --stack raw --operation sign --samples 3 --warmup 0");
    let mut record = place.record();
    record["id"] = id.into();
    record
}

fn is_harmless(output: &str) {
    let harmful = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{200b}');
    assert!(!output.contains(harmful), "{output:?}");
    let forged = output
        .lines()
        .find(|line| line.starts_with("error: forged"));
    assert_eq!(forged, None, "{output}");
}

#[test]
fn names_from_elsewhere_are_written_out() {
    let place = Place::new(KEYMARK);
    let mut record = exported(&place, "evil");
    for name in [
        "/stores/0/device",
        "/stores/0/product",
        "/environment/cpu_model",
        "/environment/versions/openssl",
        "/plan/cases/0/device",
        "/cases/0/case/device",
    ] {
        *record.pointer_mut(name).unwrap() = json!(EVIL);
    }
    record["cases"][0]["ending"] = json!({"stopped": "failed", "reason": EVIL});
    is_harmless(&place.import(&record));
    for arguments in [
        "runs",
        "runs --format json",
        "show evil",
        "show evil --long",
        "show evil --format json",
        "compare evil last",
        "export evil --format csv",
        "export evil --format md",
        "export evil --format record",
        "twin make evil",
        "show evil\u{1b}[2Jx",
    ] {
        is_harmless(&keymark_testkit::place::said(&place.output(arguments)));
    }
    assert_says(
        &place.stdout("show evil --long"),
        ["\\u{1b}[2J\\u{9b}31m\\u{202e}\\nerror: forged"],
    );
    assert_says(&place.stdout("export evil --format csv"), ["\n'=cmd|"]);
    // It is escaped, not changed.
    let again: Value = serde_json::from_str(&place.stdout("export evil --format record")).unwrap();
    assert_eq!(again["stores"][0]["device"], EVIL);
}

#[test]
fn a_hundred_thousand_workers_are_shown() {
    const WORKERS: u64 = 100_000;
    let place = Place::new(KEYMARK);
    let mut record = exported(&place, "many");
    for case in ["/cases/0/case", "/plan/cases/0"] {
        let load = record.pointer_mut(&format!("{case}/load/workers"));
        *load.unwrap() = json!(WORKERS);
    }
    let sample = |worker| json!([worker, worker, worker, 200_000, "done", null, null]);
    let samples: Vec<Value> = (0..WORKERS).map(sample).collect();
    record["cases"][0]["blocks"] = json!([{"round": 0, "samples": samples}]);
    place.import(&record);
    let rows = place.rows("show many --format json");
    assert_has(&rows[0], json!({"workers": WORKERS, "n": WORKERS}));
    assert_says(&place.stdout("show many --long"), ["w=100000"]);
}

#[test]
fn what_is_said_of_a_foreign_file_is_short_and_leaves_no_run() {
    let place = Place::new(KEYMARK);
    let long = |letter: &str| letter.repeat(9_000);
    // Beyond what an archive can hold, and seen only when it gets there.
    let mut record = exported(&place, "refused");
    let whole = record.to_string();
    *record
        .pointer_mut("/cases/0/blocks/0/reference_ns")
        .unwrap() = json!(u64::MAX);
    for (name, content, shown) in [
        (
            "columns.csv",
            format!("device,{}\n", long("x\u{1b}[2J")),
            "x\\u{1b}[2J",
        ),
        (
            "word.csv",
            format!(
                "device,firmware,algorithm,operation,stack,mean_s,ops_per_s,concurrency,n,date,grade,source,note\n\
                 CPU,,{},sign,chip,1,,,,,measured,here,\n",
                long("y")
            ),
            "'yyy",
        ),
        (
            "long.json",
            format!("{{\"schema\": 1, \"{}\": 2}}", long("z")),
            "zzz",
        ),
        ("begins.json", "x".to_owned(), "'x'"),
        ("wide.json", "\u{feff}{\0".to_owned(), "wide.json"),
        ("linked", "root:secret:1:2\nmore\n".to_owned(), "linked"),
        ("large.json", record.to_string(), "large.json"),
        (
            "long.toml",
            format!("schema = 1\n{} = 1\n", long("t")),
            "long.toml",
        ),
    ] {
        let file = place.path(name);
        std::fs::write(&file, content).unwrap();
        let said = place.refused(&format!("import {}", file.display()), 1);
        is_harmless(&said);
        assert!(said.contains(shown) && said.len() < 700, "{name}: {said}");
        assert!(!said.contains("secret"), "{said}");
    }
    let profile = place.path("long.toml");
    for command in [
        "bench --device twin:",
        "mcu storage --geometry ",
        "mcu run /dev/zero --mcu ",
    ] {
        let output = place.output(&format!("{command}{}", profile.display()));
        let said = keymark_testkit::place::said(&output);
        assert!(
            said.contains("ttt") && said.len() < 900,
            "{command}: {said}"
        );
    }
    assert_eq!(place.rows("runs --format json").len(), 1);
    // Editors may put a mark of the order of bytes before a record.
    let file = place.path("marked.json");
    std::fs::write(&file, format!("\u{feff}{whole}")).unwrap();
    place.stdout(&format!("import {}", file.display()));
}

/// A line of 500 MB is refused in a tenth of that as memory.
#[test]
fn no_more_is_read_than_a_record_may_have() {
    let place = Place::new(KEYMARK);
    let line = place.path("line.csv");
    std::fs::write(&line, "device,algorithm,").unwrap();
    let file = File::options().write(true).open(&line).unwrap();
    file.set_len(500_000_000).unwrap();
    for file in [&*line.display().to_string(), "/dev/zero"] {
        let limited = format!("ulimit -v 200000; exec {KEYMARK} import {file}");
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", &limited])
            .env("KEYMARK_ARCHIVE", place.archive());
        assert_says(&shell.ends(1).stderr, ["65536 bytes"]);
    }
}
