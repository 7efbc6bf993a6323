//! What leaves the archive by the real binary: comparisons of many runs, histories, exports, files for others.

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, SHORT, assert_schema_allows, ended, text};
use serde_json::{Value, json};

use crate::KEYMARK;

/// A place with one real run, and what it is as JSON.
fn with_a_run() -> (Place, Value) {
    let place = Place::new(KEYMARK);
    place.stdout(SHORT);
    let record = place.stdout("export last --format json");
    let record = serde_json::from_str(&record).unwrap();
    (place, record)
}

/// The record under another name, with latencies of so many microseconds, more or less.
fn made_up(record: &Value, id: &str, minute: u32, microseconds: u64) -> Value {
    let mut record = record.clone();
    record["id"] = id.into();
    record["started"] = format!("2026-01-01T{:02}:{:02}:00Z", minute / 60, minute % 60).into();
    for case in record["cases"].as_array_mut().unwrap() {
        let blocks = case["blocks"].as_array_mut().unwrap().iter_mut();
        for sample in blocks.flat_map(|block| block["samples"].as_array_mut().unwrap()) {
            let start = sample[2].as_u64().unwrap();
            sample[1] = start.into();
            sample[3] = (start + microseconds * 1000 + u64::from(minute * 37 % 7) * 500).into();
        }
    }
    record
}

#[test]
fn a_profile_is_written_whole_or_not_at_all() {
    let place = Place::new(KEYMARK);
    let file = place.path("my-card.toml");
    let profile = format!("profile last -o {}", file.display());
    let bench = "bench --device virtual --algorithm ed25519 --operation sign --stack raw --runs";
    place.stdout(&format!("{bench} 3"));
    let refused = place.refused(&profile, 1);
    assert_says(&refused, ["at least 20 operations"]);
    assert!(!file.exists());
    place.stdout(&format!("{bench} 20"));
    assert_eq!(place.stdout(&profile), "");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, place.stdout("profile last"));
    // It is replaced, and a link goes on leading to it.
    let link = place.path("link.toml");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let link = link.to_str().unwrap();
    place.stdout(&format!("mcu profile stm32f405 --kernel x25519 -o {link}"));
    let replaced = std::fs::read_to_string(&file).unwrap();
    assert_says(&replaced, ["predicted by keymark"]);
    let twin = format!("twin:{link}");
    place.stdout(&format!("bench --device {twin} --stack raw --dry-run"));
}

#[test]
fn many_runs_are_compared_with_any_baseline() {
    let (place, record) = with_a_run();
    for (id, microseconds) in [("one", 100), ("two", 200), ("three", 400)] {
        place.import(&made_up(&record, id, 1, microseconds));
    }
    let compared = |arguments: &str| {
        let rows = place.rows(&format!("compare --json {arguments}"));
        let ratios = rows.iter().filter_map(|row| {
            let ratio = row["ratio"].as_f64()?;
            Some((
                row["run"].as_str().unwrap().to_owned(),
                ratio.round() as u32,
            ))
        });
        ratios.collect::<Vec<_>>()
    };
    let expected = [("two", 2), ("three", 4)].map(|(run, ratio)| (run.to_owned(), ratio));
    let found = compared("one two three");
    assert_eq!((&found[..2], found.len()), (&expected[..], 6));
    assert_eq!(compared("two three --baseline one"), found);
    let within = place.rows("compare one two --baseline rsa2048 --json");
    assert_eq!(within.len(), 2, "ed25519 of each run");
    assert!(
        within
            .iter()
            .all(|row| row["case"].as_str().unwrap().starts_with("rsa2048 sign"))
    );
    let over_all = place.rows("compare one two --geometric-mean --json");
    let mean = over_all.last().unwrap()["geometric_mean"].as_f64().unwrap();
    assert!((mean - 2.0).abs() < 0.01, "{mean}");
    let published = place.rows("compare one --published tokens --json");
    let of_others = published
        .iter()
        .all(|row| row["second_provenance"] == "published");
    assert!(!published.is_empty() && of_others);
    assert!(published.iter().all(|row| row["verdict"] == "no interval"));
    let unknown = place.refused("compare one --published lwn-1999", 2);
    assert_says(&unknown, ["lwn-2017-keycards"]);
}

#[test]
fn published_figures_are_shown_beside_a_run() {
    let (place, _) = with_a_run();
    let shown = place.stdout("show last --published tokens --long");
    assert_says(
        &shown,
        ["beside published figures", "published-tokens-tpm-javacard"],
    );
    let rows = place.rows("show last --published tokens --json");
    let kinds = |kind: &str| rows.iter().filter(|row| row["provenance"] == kind).count();
    assert!(kinds("published") > 100 && kinds("measured") > 1);
    let output = place.output("show last --published lwn-2017");
    let said = text(&output.stderr);
    assert_says(&said, ["no operation of this run"]);
}

#[test]
fn published_figures_are_drawn_and_reported_beside_a_run() {
    let place = Place::new(KEYMARK);
    place.stdout("bench --algorithm rsa2048 --operation decrypt --stack gnupg --runs 5");
    let svg = place.path("run.svg");
    let draw = |more: &str| {
        place.stdout(&format!(
            "plot last --kind means -o {} {more}",
            svg.display()
        ));
        std::fs::read_to_string(&svg).unwrap()
    };
    assert!(!draw("").contains("FST-01"));
    let drawn = draw("--published lwn-2017");
    assert_says(&drawn, ["FST-01", "published"]);
    let report = "report last --format markdown";
    let alone = place.stdout(report);
    assert_says(&alone, ["keycards of 2017: decrypt, gnupg, published"]);
    assert!(!alone.contains("beside published figures"));
    let beside = place.stdout(&format!("{report} --published lwn-2017"));
    assert!(!beside.contains("keycards of 2017"));
    let mut rows = beside.lines().filter(|line| line.contains("FST-01"));
    let whole = |row: &str| row.contains("published-lwn-2017-keycards");
    assert!(rows.any(whole), "{beside}");
}

#[test]
fn every_form_is_written_of_runs_and_series() {
    let (place, record) = with_a_run();
    for number in 0..3 {
        let mut run = made_up(&record, &format!("s-{number}"), number, 100);
        let pause = json!({"secs": 0, "nanos": 0});
        run["series"] = json!({"id": "s", "number": number, "runs": 3, "pause": pause});
        place.import(&run);
    }
    for run in ["last", "series:s"] {
        let of = |format: &str| place.stdout(&format!("export {run} --format {format}"));
        let metrics = of("openmetrics");
        assert!(metrics.ends_with("# EOF\n"), "{metrics}");
        assert_says(&metrics, ["keymark_operation_mean_seconds{"]);
        assert!(of("junit").contains("<testsuite name="));
        let entries: Value = serde_json::from_str(&of("github-benchmark")).unwrap();
        assert_eq!(entries.as_array().unwrap().len(), 3);
        assert_eq!(of("csv").lines().count(), 4);
        assert!(of("markdown").contains("| rsa2048"));
    }
    let records = place.stdout("export series:s --format json");
    assert_eq!(records.lines().count(), 3);
}

#[test]
fn a_file_for_others_has_no_names_and_can_be_imported() {
    let (place, mut record) = with_a_run();
    record["id"] = "telling".into();
    record["stores"][0]["serial"] = "S-4711-0815".into();
    record["environment"]["versions"]["gnupg"] =
        "/home/zacharias/bin/gpg on wintermute: 2.4".into();
    place.import(&record);
    let file = place.path("shared.json");
    let file = file.to_str().unwrap();
    let share = |more: &str| {
        let mut command = place.keymark(&format!("share telling -o {file} {more}"));
        command
            .env("HOME", "/home/zacharias")
            .env("USER", "zacharias")
            .env("HOSTNAME", "wintermute")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    };
    let asked = ended(share(""), 2);
    let said = text(&asked.stdout);
    for secret in ["S-4711-0815", "wintermute", "/home/zacharias"] {
        assert!(said.contains(secret), "{secret} is shown before: {said}");
    }
    assert!(
        !std::path::Path::new(file).exists(),
        "nothing is written unasked"
    );
    assert!(share("--yes").status.success());
    let written = std::fs::read_to_string(file).unwrap().to_lowercase();
    for secret in ["S-4711-0815", "wintermute", "zacharias"] {
        assert!(
            !written.contains(&secret.to_lowercase()),
            "{secret}: {written}"
        );
    }
    assert_eq!(
        share("--yes").status.code(),
        Some(1),
        "what is there is left alone"
    );
    assert_schema_allows(&serde_json::from_str(&written).unwrap());
    place.stdout(&format!("import {file}"));
    let shown = place.stdout("show telling-shared");
    assert_says(&shown, ["rsa2048"]);
}

#[test]
fn what_finds_no_room_leaves_no_file() {
    let (place, record) = with_a_run();
    let mut long = made_up(&record, "long", 1, 100);
    for case in long["cases"].as_array_mut().unwrap() {
        let blocks = case["blocks"].as_array().unwrap().clone();
        let many = std::iter::repeat_n(blocks, 40).flatten();
        case["blocks"] = many.collect();
    }
    place.import(&long);
    let run = |blocks: u32, arguments: &str| {
        // So many blocks of 512 bytes a file may have: writing fails as on a full disk. SQLite needs 64 of them.
        let limited = format!("ulimit -f {blocks}; exec {KEYMARK} {arguments}");
        let output = std::process::Command::new("sh")
            .args(["-c", &limited])
            .env("KEYMARK_ARCHIVE", place.archive())
            .current_dir(place.directory())
            .output();
        output.unwrap()
    };
    let files = || {
        let files = std::fs::read_dir(place.directory()).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        files.sort();
        files
    };
    let before = files();
    for (blocks, arguments) in [
        (128, "share long -o shared.json --yes"),
        (80, "report long -o report.html"),
    ] {
        let refused = run(blocks, arguments);
        assert_eq!(
            refused.status.code(),
            Some(1),
            "{arguments}: {}",
            text(&refused.stderr)
        );
        assert_eq!(files(), before, "{arguments}");
    }
    let shared = place.path("shared.json");
    let share = ["share", "last", "-o", shared.to_str().unwrap(), "--yes"];
    place.stdout(&share);
    let whole = std::fs::read(&shared).unwrap();
    let refused = place.output(&share);
    assert_says(
        &text(&refused.stderr),
        ["shared.json exists, and nothing was written"],
    );
    assert_eq!(std::fs::read(&shared).unwrap(), whole);
}

#[test]
fn help_that_is_lost_is_no_success() {
    let place = Place::new(KEYMARK);
    for arguments in ["help", "--version", "bench --help"] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = place.keymark(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_says(&text(&output.stderr), ["cannot write to stdout"]);
    }
}
