//! Ways out of the archive by the real binary: comparisons of many runs, published figures, files for others.

use std::process::{Command, Stdio};

use keymark_testkit::place::{Ends, Place, SHORT, assert_has, assert_schema_allows};
use keymark_testkit::{assert_says, assert_silent};
use serde_json::{Value, json};

use crate::KEYMARK;
use crate::series::with_latencies;

/// A place with one real run, and the run as JSON.
fn with_a_run() -> (Place, Value) {
    let place = Place::new(KEYMARK);
    place.stdout(SHORT);
    let record = place.record();
    (place, record)
}

/// The record under another name, with latencies of about that many microseconds.
fn made_up(record: &Value, id: &str, microseconds: u64) -> Value {
    with_latencies(record, id, |_, disorder| microseconds * 1000 + 5 * disorder)
}

#[test]
fn a_profile_is_written_whole_or_not_at_all() {
    let place = Place::new(KEYMARK);
    let file = place.path("my-card.toml");
    let profile = format!("twin make last -o {}", file.display());
    let bench = "--device virtual --algorithm ed25519 --operation sign --stack raw --samples";
    place.bench(&format!("{bench} 3"));
    place.refused(&profile, 1);
    assert!(!file.exists());
    place.bench(&format!("{bench} 20"));
    assert_eq!(place.stdout(&profile), "");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, place.stdout("twin make last"));
    // It is replaced, and a link goes on leading to it.
    let link = place.path("link.toml");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let link = link.display();
    place.stdout(&format!(
        "twin make --mcu stm32f405 --algorithm x25519 -o {link}"
    ));
    assert_ne!(std::fs::read_to_string(&file).unwrap(), written);
    place.stdout(&format!("bench --device twin:{link} --stack raw --dry-run"));
}

#[test]
fn many_runs_are_compared_with_any_baseline() {
    let (place, record) = with_a_run();
    for (id, microseconds) in [("one", 100), ("two", 200), ("three", 400)] {
        place.import(&made_up(&record, id, microseconds));
    }
    let compared = |arguments: &str| place.rows(&format!("compare {arguments} --format json"));
    let ratios = |rows: &[Value]| -> Vec<(Value, f64)> {
        let ratios = rows
            .iter()
            .filter_map(|row| Some((row["run"].clone(), row["ratio"].as_f64()?.round())));
        ratios.collect()
    };
    let found = ratios(&compared("one two three"));
    assert_eq!(found[..2], [("two".into(), 2.0), ("three".into(), 4.0)]);
    assert_eq!(found.len(), 6);
    assert_eq!(ratios(&compared("two three --baseline one")), found);
    // The case ed25519 of each run.
    assert_eq!(compared("one two --baseline rsa2048").len(), 2);
    let over_all = compared("one two --geometric-mean");
    let mean = over_all.last().unwrap()["geometric_mean"].as_f64().unwrap();
    assert!((mean - 2.0).abs() < 0.01, "{mean}");
    let mut published = compared("one published:tokens");
    published.retain(|row| row.get("missing_case").is_none());
    assert!(!published.is_empty());
    for row in published {
        assert_has(
            &row,
            json!({"second_provenance": "published", "verdict": "no interval"}),
        );
    }
    let unknown = place.refused("compare one published:lwn-1999", 2);
    assert_says(&unknown, ["lwn-2017-keycards"]);
}

#[test]
fn published_figures_are_beside_a_run_in_each_form() {
    let place = Place::new(KEYMARK);
    place.bench("--algorithm rsa2048 --operation decrypt --stack gpg --samples 5");
    let rows = place.rows("show last --published lwn-2017 --format json");
    let kinds = |kind: &str| rows.iter().filter(|row| row["provenance"] == kind).count();
    assert!(kinds("published") > 3 && kinds("measured") == 1, "{rows:?}");
    let svg = place.path("run.svg");
    let plot = format!("export last --picture means -o {}", svg.display());
    for form in ["show last --long", "export last --format md", &plot] {
        let read = |options: &str| {
            let printed = place.stdout(&format!("{form} {options}"));
            std::fs::read_to_string(&svg).unwrap_or(printed)
        };
        // Tables have them at any rate, in a part of their own.
        if form.contains("--picture") {
            assert_silent(&read(""), ["FST-01"]);
        }
        assert_says(&read("--published lwn-2017"), ["FST-01", "published"]);
    }
}

#[test]
fn a_file_for_others_has_no_names_and_can_be_imported() {
    let (place, mut record) = with_a_run();
    let secrets = ["S-4711-0815", "wintermute", "zacharias"];
    record["id"] = "telling".into();
    record["stores"][0]["serial"] = secrets[0].into();
    record["environment"]["versions"]["gnupg"] = "/home/zacharias/bin/gpg on wintermute".into();
    place.import(&record);
    let file = place.path("shared.json");
    let share = |more: &str, status| {
        let mut share = place.keymark(&format!("share telling -o {} {more}", file.display()));
        share
            .env("HOME", "/home/zacharias")
            .env("USER", "zacharias")
            .env("HOSTNAME", "wintermute");
        share.stdin(Stdio::null()).ends(status).stdout
    };
    // It shows what it removes, and writes nothing unasked.
    assert_says(&share("", 2), secrets);
    assert!(!file.exists());
    share("--yes", 0);
    let written = std::fs::read_to_string(&file).unwrap().to_lowercase();
    assert_silent(&written, secrets.map(str::to_lowercase));
    // What is there is left alone.
    share("--yes", 1);
    assert_schema_allows(&serde_json::from_str(&written).unwrap());
    place.stdout(&format!("import {}", file.display()));
    place.stdout("show telling-shared");
}

#[test]
fn what_finds_no_room_leaves_no_file() {
    let (place, record) = with_a_run();
    let mut long = made_up(&record, "long", 100);
    for case in long["cases"].as_array_mut().unwrap() {
        let blocks = case["blocks"].as_array().unwrap().clone();
        case["blocks"] = std::iter::repeat_n(blocks, 40).flatten().collect();
    }
    place.import(&long);
    let files = || {
        let files = std::fs::read_dir(place.directory()).unwrap();
        files
            .map(|file| file.unwrap().file_name())
            .collect::<std::collections::BTreeSet<_>>()
    };
    let before = files();
    // A file may have that many blocks of 512 bytes: writing fails as on a full disk. SQLite needs 64 of them.
    for (blocks, arguments) in [
        (128, "share long -o shared.json --yes"),
        (80, "export long -o report.html"),
    ] {
        let limited = format!("ulimit -f {blocks}; exec {KEYMARK} {arguments}");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &limited])
            .env("KEYMARK_ARCHIVE", place.archive());
        shell.current_dir(place.directory()).ends(1);
        assert_eq!(files(), before, "{arguments}");
    }
}
