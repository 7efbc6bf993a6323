//! Runs of the real binary: what is printed, saved, exported, refused.

use std::process::Command;
use std::time::Duration;

use itertools::Itertools;
use keymark_bench::clock::{Clock as _, MonotonicClock};
use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends, Place, SHORT, assert_has};
use serde_json::json;

use crate::{KEYMARK, verdict};

#[test]
fn a_run_is_shown_without_colours_and_saved_to_the_sample() {
    let place = Place::new(KEYMARK);
    let shown = place.stdout(SHORT);
    assert_says(&shown, ["ed25519", "rsa2048"]);
    assert!(!shown.contains('\u{1b}'), "colors without a terminal");
    let runs = place.rows("runs --format json");
    assert_eq!(runs.len(), 1);
    assert_has(&runs[0], json!({"state": "finished", "samples": 150}));
    assert_eq!(place.stdout("show last"), shown);
}

#[test]
fn json_is_one_object_a_case_with_every_field() {
    let cases = Place::new(KEYMARK).rows(&format!("{SHORT} --format json"));
    assert_eq!(cases.len(), 3);
    let fields = "device store algorithm operation stack workers mean_s ci_low_s ci_high_s median_s ops_per_s ratio";
    for case in &cases {
        for field in fields.split(' ') {
            assert!(!case[field].is_null(), "{field} of {case}");
        }
        // 50 operations bound no p99.
        assert_has(
            case,
            json!({"n": 50, "failed": 0, "provenance": "measured", "p99_s": null}),
        );
        assert!(case["ci_low_s"].as_f64() <= case["mean_s"].as_f64());
    }
}

#[test]
fn an_export_fits_its_schema_and_comes_back_whole() {
    let (here, there) = (Place::new(KEYMARK), Place::new(KEYMARK));
    here.stdout(SHORT);
    let exported = here.stdout("export last --format record");
    there.import(&here.record());
    assert_eq!(there.stdout("export last --format record"), exported);
    let file = there.path("cut.json");
    std::fs::write(&file, &exported[..exported.len() / 2]).unwrap();
    let said = there.refused(&format!("import {}", file.display()), 1);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(there.rows("runs --format json").len(), 1);
}

#[test]
fn a_run_that_cannot_be_saved_is_shown_all_the_same() {
    let place = Place::new(KEYMARK);
    let file = place.path("a-file");
    std::fs::write(&file, "x".repeat(200)).unwrap();
    let newer = place.path("newer-than-a-file");
    place.stdout(&format!("runs --archive {}", newer.display()));
    let later = rusqlite::Connection::open(&newer).unwrap();
    later.pragma_update(None, "user_version", 99).unwrap();
    drop(later);
    for archive in [&file, &file.join("runs.sqlite3"), &newer] {
        let ended = place.ends(&format!("{SHORT} --archive {}", archive.display()), 1);
        assert_says(&ended.stderr, ["a-file"]);
        assert_says(&ended.stdout, ["ed25519"]);
    }
    // A file of this process may not grow beyond 64 blocks of 512 bytes: writing on yields a signal, unless that is
    // ignored, and an error as on a full disk.
    for before in ["", "trap '' XFSZ;"] {
        let long = SHORT.replace("50", "5000");
        let script = format!("{before} ulimit -f 64; exec {KEYMARK} {long}");
        let archive = place.path(&format!("full{}.sqlite3", before.len()));
        let mut limited = Command::new("sh");
        let limited = limited
            .args(["-c", &script])
            .env("KEYMARK_ARCHIVE", archive);
        let ended = limited.ends(1);
        assert_says(&ended.stderr, ["cannot save"]);
        assert_says(&ended.stdout, ["rsa2048"]);
    }
}

#[test]
fn a_time_that_is_given_is_kept_whatever_arrives_or_thinks() {
    let (place, clock) = (Place::new(KEYMARK), MonotonicClock::new());
    for load in [
        "--rate 1000000000/s",
        "--rate 500000000/s --workers 2",
        "--users 1 --think 1000s",
        "--users 4 --think 1000s",
    ] {
        let begun = clock.now();
        let common = "--algorithm ed25519 --operation sign --stack raw --case-time 1s --no-save";
        place.ends(&format!("bench {common} {load}"), 0);
        // Checks are slow without optimization.
        assert!(clock.now().since(begun) < Duration::from_secs(20), "{load}");
    }
}

#[test]
fn output_that_is_lost_is_no_success_and_a_reader_that_leaves_is_no_failure() {
    let place = Place::new(KEYMARK);
    for arguments in ["man", "help", "--version", "bench --help"] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let lost = place.keymark(arguments).stdout(full.unwrap()).ends(1);
        assert_says(&lost.stderr, ["stdout"]);
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(place.keymark("man").stdout(writer).ends(0).stderr, "");
}

#[test]
fn without_gnupg_its_stacks_are_named_with_the_command_that_brings_it() {
    let place = Place::new(KEYMARK);
    let without = |options: &str, status| {
        let mut keymark = place.keymark(&format!("bench --algorithm ed25519 {options}"));
        keymark.env("PATH", "/nonexistent").ends(status)
    };
    assert_says(&without("--stack gpg", 3).stderr, ["apt-get install"]);
    let raw = without("--samples 5", 0);
    assert_says(&raw.stderr, ["gpg on software"]);
    assert_says(&raw.stdout, ["ed25519"]);
}

#[test]
fn gnupg_is_measured_end_to_end_with_all_three_layers() {
    let place = Place::new(KEYMARK);
    place.stdout("bench --algorithm cv25519,ed25519 --workers 1,2,3 --samples 12");
    let rows = place.rows("show last --format json");
    assert_eq!(rows.len(), 18);
    let of_gpg = rows.iter().filter(|row| row["stack"] == "gpg");
    assert_eq!(of_gpg.filter(|row| row["user_s"].is_number()).count(), 6);
    let verdict = verdict(&place);
    let finding = &verdict["finding"];
    assert!(finding["kind"].is_string(), "{verdict}");
    let lists = ["hidden", "dominant", "between", "gains"].map(|list| finding[list].as_array());
    let figures = lists.into_iter().flatten().flatten();
    for id in figures.filter_map(|one| one["rows"].as_array()).flatten() {
        assert!(rows.iter().any(|row| row["id"] == *id), "{id}: {verdict}");
    }
}

#[test]
fn completions_and_man_pages_come_from_the_definition() {
    let place = Place::new(KEYMARK);
    for (page, mark) in [
        ("completions bash", "_keymark"),
        ("completions zsh", "#compdef keymark"),
        ("completions fish", "complete -c keymark"),
        ("man", ".TH keymark 1"),
    ] {
        assert_says(&place.stdout(page), [mark]);
    }
    let pages = place.path("man");
    place.stdout(&format!("man --directory {}", pages.display()));
    let bench = std::fs::read_to_string(pages.join("keymark-bench.1")).unwrap();
    assert_says(&bench, ["precision"]);
}

#[test]
fn devices_lists_every_stack_with_what_it_offers() {
    let place = Place::new(KEYMARK);
    let ways = place.rows("devices --format json");
    let stacks = |device: &str| -> Vec<&str> {
        let own = ways.iter().filter(|way| way["device"] == device);
        own.filter(|way| {
            way["parameters"]["library"].is_null() && way["parameters"]["scheme"].is_null()
        })
        .map(|way| way["stack"].as_str().unwrap())
        .dedup()
        .collect()
    };
    // The program openssl knows files, and tokens behind a PKCS#11 module.
    assert_eq!(stacks("virtual"), ["raw", "agent", "gpg", "ssh", "git"]);
    let of_software = ["raw", "agent", "gpg", "ssh", "openssl", "sop", "git"];
    assert_eq!(stacks("software"), of_software);
    for way in ways.iter().filter(|way| way["device"] == "software") {
        // rsop is there after `make sop` only.
        if way["stack"] == "sop" && way["usable"] == false {
            continue;
        }
        assert_eq!(way["usable"], true, "{way}");
        if way["parameters"]["library"] == "libgcrypt" || !way["parameters"]["scheme"].is_null() {
            assert_eq!(way["stack"], "raw", "{way}");
            continue;
        }
        let ssh = way["stack"] == "ssh";
        let offered = &way["offers"][if ssh { "authenticate" } else { "sign" }];
        assert!(
            offered.as_array().unwrap().contains(&"ed25519".into()),
            "{way}"
        );
    }
    let mut without = place.keymark("devices --long");
    let without = without.env("PATH", "/nonexistent").ends(0).stdout;
    assert_says(&without, ["apt-get install"]);
    for name in ["apache", "nginx", "caddy"] {
        let server = ways.iter().find(|row| row["server"] == name).unwrap();
        assert_eq!(server["usable"] == true, server["missing"].is_null());
        assert_says(&without, [&format!("\n  {name} ")]);
    }
}

#[test]
fn advice_measures_first_and_rests_on_that() {
    let place = Place::new(KEYMARK);
    let rows =
        place.rows("advise ssh --measure --format json --device software --algorithm ed25519");
    assert_eq!(rows.len(), 1, "{rows:?}");
    let run = &place.rows("runs --format json")[0]["id"];
    assert_has(&rows[0], json!({"provenance": "measured", "source": run}));
}
