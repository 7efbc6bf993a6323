//! Series of runs by the real binary: made, shown, compared, judged.

use std::os::unix::fs::PermissionsExt;

use keymark_testkit::place::{Place, SHORT, ended, said, text};
use keymark_testkit::{assert_says, assert_silent};
use serde_json::{Value, json};

use crate::KEYMARK;

/// Of it a series, without a pause worth the name.
const SERIES: &str = "--repeat 3 --pause 1ms";

/// The record with latencies around 100 µs, whatever the machine did, and rsa2048's multiplied.
fn made_up(record: &Value, id: &str, factor: u64, series: &Value) -> Value {
    let mut record = record.clone();
    record["id"] = id.into();
    if !series.is_null() {
        record["series"] = series.clone();
    }
    let mut disorder = 0;
    for case in record["cases"].as_array_mut().unwrap() {
        let factor = if case["case"]["algorithm"] == "rsa2048" {
            factor
        } else {
            1
        };
        let blocks = case["blocks"].as_array_mut().unwrap().iter_mut();
        for sample in blocks.flat_map(|block| block["samples"].as_array_mut().unwrap()) {
            disorder = (disorder + 37) % 101;
            let start = sample[2].as_u64().unwrap();
            sample[3] = (start + (100_000 + 20 * disorder) * factor).into();
        }
    }
    record
}

/// A place with a run called `one`, and series of three runs called `before`, `same` and `slower`.
fn with_made_up_runs() -> Place {
    let place = Place::new(KEYMARK);
    place.stdout(SHORT);
    let measured = place.record();
    let import = |id: &str, factor: u64, series: &Value| {
        place.import(&made_up(&measured, id, factor, series));
    };
    import("one", 3, &Value::Null);
    for (name, factor) in [("before", 1), ("same", 1), ("slower", 3)] {
        for number in 0..3 {
            let pause = json!({"secs": 0, "nanos": 0});
            let series = json!({"id": name, "number": number, "runs": 3, "pause": pause});
            import(&format!("{name}-{number}"), factor, &series);
        }
    }
    place
}

#[test]
fn compare_fails_above_a_limit_only_when_something_is_slower() {
    let place = with_made_up_runs();
    let compared = |old, new| {
        let output = place.output(&format!("compare {old} {new} --fail-above 5%"));
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(compared("before-0", "same-2"), (Some(0), String::new()));
    assert_eq!(
        compared("series:slower", "series:before"),
        (Some(0), String::new())
    );
    let (status, said) = compared("series:before", "slower-1");
    assert_eq!(status, Some(1));
    assert_says(&said, ["rsa2048"]);
    assert_silent(&said, ["ed25519"]);
    let several = compared("before-0,before-1,before-2", "slower-0,slower-1,slower-2");
    assert_eq!(several.0, Some(1), "{several:?}");
    let noise = "compare before-0 slower-0 --fail-above 5% --noise 400%";
    assert_eq!(place.output(noise).status.code(), Some(0));
}

#[test]
fn single_runs_are_shown_but_not_judged() {
    let place = with_made_up_runs();
    let alone = "before-0,before-1";
    let output = ended(place.output(&format!("compare {alone} one")), 0);
    let said = said(&output);
    assert_says(&said, ["not distinguishable"]);
    assert_says(&said, ["here (standard deviation of 8 earlier runs)"]);
    let judged = ended(
        place.output(&format!("compare {alone} one --fail-above 5%")),
        4,
    );
    assert_says(&text(&judged.stderr), ["undecided", "--repeat 10"]);
}

#[test]
fn one_series_is_not_compared_with_itself_by_mistake() {
    let place = with_made_up_runs();
    let refused = place.refused("compare before-0 before-1", 2);
    assert_says(&refused, ["runs of one series, before"]);
    let refused = place.refused("compare before-0,before-0 one", 1);
    assert_says(&refused, ["twice"]);
    let refused = place.refused("compare series:nowhere one", 1);
    assert_says(&refused, ["no run 'series:nowhere'"]);
}

#[test]
fn a_series_is_made_of_runs_in_the_archive() {
    let place = Place::new(KEYMARK);
    let output = ended(place.output(&format!("{SHORT} {SERIES}")), 0);
    let said = said(&output);
    assert_says(&said, ["run 3 of 3", "runs differ by"]);
    let runs = place.rows("runs --json");
    assert_eq!(runs.len(), 3);
    let series = runs[0]["series"].as_str().unwrap().to_owned();
    assert!(runs.iter().all(|run| run["series"] == series.as_str()));
    assert!(place.stdout("runs").contains(&format!("series:{series}")));
    let record = place.record();
    assert_eq!(
        (&record["series"]["number"], &record["series"]["runs"]),
        (&2.into(), &3.into())
    );
    assert!(record["series"]["pause"]["nanos"].as_u64().unwrap() > 0);
    assert_eq!(
        record["plan"]["settings"]["seed"], 3,
        "each run has its own seed"
    );
    let rows = place.rows("show series:last --json");
    assert_eq!(rows.len(), 3);
    assert!(
        rows.iter()
            .all(|row| row["runs"] == 3 && row["mean_s"]["high"].is_number())
    );
    assert_eq!(place.leftovers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn two_programs_take_turns_and_are_compared_in_pairs() {
    let place = Place::new(KEYMARK);
    let other = place.path("other");
    std::fs::write(&other, format!("#!/bin/sh\nexec {KEYMARK} \"$@\"\n")).unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let pairs = place.rows(&format!(
        "{SHORT} {SERIES} --against {} --json",
        other.display()
    ));
    assert_eq!(pairs.len(), 3);
    assert!(
        pairs
            .iter()
            .all(|pair| pair["first_runs"] == 3 && pair["second_runs"] == 3)
    );
    let runs = place.rows("runs --json");
    assert_eq!(runs.len(), 6);
    let of = |side: &str| {
        let series = runs.iter().map(|run| run["series"].as_str().unwrap());
        series.filter(|name| name.ends_with(side)).count()
    };
    assert_eq!((of("-a"), of("-b")), (3, 3));
    let shown = place.stdout("compare series:last~1 series:last");
    assert_says(&shown, ["3 pairs of runs"]);
    let this = place.rows("compare series:last~1 series:last --json");
    // Sides are called as they were asked for.
    let figures = |pairs: &[Value]| -> Vec<Value> {
        let mut pairs = pairs.to_vec();
        for pair in pairs.iter_mut().filter_map(Value::as_object_mut) {
            pair.retain(|name, _| name != "run" && name != "differences");
        }
        pairs
    };
    assert_eq!(
        figures(&this),
        figures(&pairs),
        "this keymark's is the last, whichever ended last"
    );
}

#[test]
fn a_program_that_cannot_make_the_runs_ends_it_with_its_reason() {
    let place = Place::new(KEYMARK);
    let nowhere = place.refused(&format!("{SHORT} --against /nonexistent/keymark"), 2);
    assert_says(&nowhere, ["/nonexistent/keymark"]);
    let unknown = "bench --algorithm ed25519 --operation decrypt --repeat 3";
    let refused = place.refused(unknown, 2);
    assert_says(&refused, ["ed25519", "no series"]);
    let no_save = format!("{SHORT} {SERIES} --no-save");
    assert!(place.refused(&no_save, 2).contains("--no-save"));
}

#[test]
fn a_series_is_exported_as_a_record_a_line() {
    let place = with_made_up_runs();
    let lines = place.stdout("export series:slower --format json");
    let other = Place::new(KEYMARK);
    for (number, line) in lines.lines().enumerate() {
        let id = format!("slower-{number}");
        let single = place.stdout(&format!("export {id} --format json"));
        assert_eq!(single.trim_end(), line);
        other.import(&serde_json::from_str(line).unwrap());
    }
    let again = other.stdout("export series:slower --format json");
    assert_eq!(again.lines().count(), 3);
    assert_eq!(again, lines);
}
