//! Records that somebody else wrote, with what would harm a terminal, a spreadsheet or the reader's patience.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use keymark_testkit::place::{Place, objects, said, text};
use keymark_testkit::{assert_says, assert_silent};
use serde_json::{Value, json};

use crate::KEYMARK;

/// Clears the screen, turns the direction, forges a line, is a formula.
const EVIL: &str = "=cmd|'/C calc'!A0\u{1b}[2J\u{9b}31m\u{202e}\nerror: forged\r\u{200b}";

/// A small run of this machine, to be changed and imported under another name.
fn exported(place: &Place) -> Value {
    place.stdout("bench --algorithm ed25519 --stack raw --operation sign --runs 3 --warmup 0");
    let exported = place.stdout("export last --format json");
    objects(&exported).into_iter().next().unwrap()
}

fn is_harmless(output: &str) {
    let harmful = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{200b}');
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
    record["id"] = json!("evil");
    record["stores"][0]["device"] = json!(EVIL);
    record["stores"][0]["product"] = json!(EVIL);
    record["environment"]["cpu_model"] = json!(EVIL);
    record["environment"]["versions"]["openssl"] = json!(EVIL);
    record["plan"]["cases"][0]["device"] = json!(EVIL);
    record["cases"][0]["case"]["device"] = json!(EVIL);
    record["cases"][0]["ending"] = json!({"stopped": "failed", "reason": EVIL});
    is_harmless(&place.import(&record));
    for arguments in [
        "runs",
        "runs --json",
        "show evil",
        "show evil --long",
        "show evil --json",
        "compare evil last",
        "export evil --format json",
        "export evil --format csv",
        "export evil --format markdown",
        "export evil --format document",
        "profile evil",
        "show evil\u{1b}[2Jx",
    ] {
        is_harmless(&said(&place.output(arguments)));
    }
    let shown = place.stdout("show evil --long");
    assert_says(&shown, ["\\u{1b}[2J\\u{9b}31m\\u{202e}\\nerror: forged"]);
    let csv = place.stdout("export evil --format csv");
    assert!(csv.lines().nth(1).unwrap().starts_with("'=cmd|"), "{csv}");
    let again = objects(&place.stdout("export evil --format json"));
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
    place.import(&record);
    let rows = objects(&place.stdout("show many --json"));
    assert_eq!(
        (&rows[0]["concurrency"], &rows[0]["n"]),
        (&json!(WORKERS), &json!(WORKERS))
    );
    let shown = text(&place.output("show many --long").stdout);
    assert_says(&shown, ["c=100000"]);
}

/// What keymark says of a file that it refuses.
fn refused(place: &Place, file: &Path) -> String {
    let output = place.output(&format!("import {}", file.display()));
    let told = said(&output);
    assert!(!output.status.success(), "{told}");
    is_harmless(&told);
    told
}

#[test]
fn no_more_is_read_than_a_record_may_have() {
    let place = Place::new(KEYMARK);
    // A line of 500 MB, in a tenth of that as memory.
    let line = place.path("line.csv");
    std::fs::write(&line, "device,algorithm,").unwrap();
    File::options()
        .write(true)
        .open(&line)
        .unwrap()
        .set_len(500_000_000)
        .unwrap();
    let limited = format!("ulimit -v 200000; exec {KEYMARK} import {}", line.display());
    let mut limited = Command::new("sh")
        .args(["-c", &limited])
        .env("KEYMARK_ARCHIVE", place.archive())
        .output();
    let told = said(limited.as_mut().unwrap());
    assert_says(&told, ["line 1 has more than 65536 bytes"]);
    let told = refused(&place, Path::new("/dev/zero"));
    assert_says(&told, ["more than 65536 bytes"]);
}

#[test]
fn what_is_said_of_a_foreign_file_is_short() {
    let place = Place::new(KEYMARK);
    let write = |name: &str, content: &[u8]| {
        let file = place.path(name);
        std::fs::write(&file, content).unwrap();
        file
    };
    // Columns that are not known are shown in part, and nothing of a file that is no table.
    let columns = write(
        "columns.csv",
        format!("device,{}\n", "x\u{1b}[2J".repeat(8_000)).as_bytes(),
    );
    let told = refused(&place, &columns);
    assert!(
        told.contains("has the columns device, x\\u{1b}[2J") && told.len() < 600,
        "{told}"
    );
    let word = write(
        "word.csv",
        format!(
            "device,algorithm,operation,stack,mean_s,n,note\nCPU,{},sign,raw,1,,\n",
            "y".repeat(9_000)
        )
        .as_bytes(),
    );
    let told = refused(&place, &word);
    assert!(
        told.contains("unknown algorithm 'yyy") && told.len() < 600,
        "{told}"
    );
    let other = write("linked", b"root:secret:1:2\nmore\n");
    let told = refused(&place, &other);
    assert_says(&told, ["is neither a run exported by keymark"]);
    assert_silent(&told, ["secret"]);
    let long = write(
        "long.json",
        format!("{{\"schema\": 1, \"{}\": 2}}", "z".repeat(9_000)).as_bytes(),
    );
    let told = refused(&place, &long);
    assert!(told.contains("zzz") && told.len() < 600, "{told}");
    let profile = write(
        "long.toml",
        format!("schema = 1\n{} = 1\n", "z".repeat(50_000)).as_bytes(),
    );
    let profile = profile.display();
    for arguments in [
        format!("bench --device twin:{profile}"),
        format!("mcu storage --geometry {profile}"),
        format!("mcu run --mcu {profile} /dev/zero"),
    ] {
        let told = said(&place.output(&arguments));
        assert!(
            told.contains("zzz") && told.len() < 900,
            "{arguments:?}: {told}"
        );
    }
}

#[test]
fn a_file_called_json_is_told_what_is_wrong_with_its_json() {
    let place = Place::new(KEYMARK);
    let record = exported(&place).to_string();
    let file = place.path("run.json");
    for (content, reason) in [
        (b"x".to_vec(), "it begins with 'x' and not with '{'"),
        (b"\x8f{}".to_vec(), "it begins with the byte 0x8f"),
        (b"\xff\xfe{\0}\0".to_vec(), "it is in UTF-16"),
    ] {
        std::fs::write(&file, content).unwrap();
        let told = refused(&place, &file);
        assert_says(&told, [reason]);
        assert_silent(&told, ["columns"]);
    }
    // What editors put there is no part of it.
    std::fs::write(&file, format!("\u{feff}{record}")).unwrap();
    place.stdout(&format!("import {}", file.display()));
}

#[test]
fn what_is_refused_leaves_no_run() {
    let place = Place::new(KEYMARK);
    let mut record = exported(&place);
    record["id"] = json!("refused");
    // Beyond what an archive can hold, and seen only when it gets there.
    let block = record.pointer_mut("/cases/0/blocks/0/reference_ns");
    *block.unwrap() = json!(u64::MAX);
    let file = place.path("run.json");
    std::fs::write(&file, record.to_string()).unwrap();
    refused(&place, &file);
    assert_eq!(place.rows("runs --json").len(), 1);
}
