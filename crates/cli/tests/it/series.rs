//! Series of runs by the real binary: made, shown, compared, judged.

use keymark_testkit::place::{Place, SHORT, assert_has};
use keymark_testkit::process::write_script;
use keymark_testkit::{assert_says, assert_silent};
use serde_json::{Value, json};

use crate::KEYMARK;

/// Makes a series of a run, without a pause worth the name.
const SERIES: &str = "--repeat 3 --pause 1ms";

/// The record under another name, with made-up latencies of each algorithm's operations, whatever the machine did: they
/// are given a number up to 100, which is another one each time.
pub(crate) fn with_latencies(
    record: &Value,
    id: &str,
    latency: impl Fn(&str, u64) -> u64,
) -> Value {
    let mut record = record.clone();
    record["id"] = id.into();
    let mut disorder = 0;
    for case in record["cases"].as_array_mut().unwrap() {
        let algorithm = case["case"]["algorithm"].as_str().unwrap().to_owned();
        let blocks = case["blocks"].as_array_mut().unwrap().iter_mut();
        for sample in blocks.flat_map(|block| block["samples"].as_array_mut().unwrap()) {
            disorder = (disorder + 37) % 101;
            let took = latency(&algorithm, disorder);
            sample[3] = (sample[2].as_u64().unwrap() + took).into();
        }
    }
    record
}

/// The record with latencies around 100 µs, and those of rsa2048 multiplied by the factor.
fn made_up(record: &Value, id: &str, factor: u64) -> Value {
    with_latencies(record, id, |algorithm, disorder| {
        let factor = if algorithm == "rsa2048" { factor } else { 1 };
        (100_000 + 20 * disorder) * factor
    })
}

/// A place with a run called `one`, and series of three runs called `before`, `same` and `slower`.
fn with_made_up_runs() -> Place {
    let place = Place::new(KEYMARK);
    place.stdout(SHORT);
    let measured = place.record();
    place.import(&made_up(&measured, "one", 3));
    for (name, factor) in [("before", 1), ("same", 1), ("slower", 3)] {
        for number in 0..3 {
            let mut run = made_up(&measured, &format!("{name}-{number}"), factor);
            let pause = json!({"secs": 0, "nanos": 0});
            run["series"] = json!({"id": name, "number": number, "runs": 3, "pause": pause});
            place.import(&run);
        }
    }
    place
}

#[test]
fn compare_fails_above_a_limit_only_when_something_is_slower() {
    let place = with_made_up_runs();
    for (sides, status) in [
        ("before-0 same-2", 0),
        ("series:slower series:before", 0),
        ("series:before slower-1", 1),
        ("before-0,before-1,before-2 slower-0,slower-1,slower-2", 1),
        ("before-0 slower-0 --noise 400%", 0),
        // Single runs are not judged.
        ("before-0,before-1 one", 4),
    ] {
        let said = place.refused(&format!("compare {sides} --fail-above 5%"), status);
        if status == 1 {
            assert_says(&said, ["rsa2048"]);
            assert_silent(&said, ["ed25519"]);
        }
    }
    let pairs = place.rows("compare before-0,before-1 one --format json");
    let slower = pairs.iter().filter(|pair| pair["verdict"] == "slower");
    assert_eq!(slower.count(), 0, "{pairs:?}");
}

#[test]
fn one_series_is_not_compared_with_itself_by_mistake() {
    let place = with_made_up_runs();
    for (sides, status) in [
        ("before-0 before-1", 2),
        ("before-0,before-0 one", 1),
        ("series:nowhere one", 1),
    ] {
        place.refused(&format!("compare {sides}"), status);
    }
}

#[test]
fn a_series_is_made_of_runs_in_the_archive() {
    let place = Place::new(KEYMARK);
    place.stdout(&format!("{SHORT} {SERIES}"));
    let runs = place.rows("runs --format json");
    assert_eq!(runs.len(), 3);
    let series = runs[0]["series"].as_str().unwrap();
    assert!(runs.iter().all(|run| run["series"] == series));
    assert_says(&place.stdout("runs"), [format!("series:{series}")]);
    let record = place.record();
    assert_has(&record["series"], json!({"number": 2, "runs": 3}));
    assert!(record["series"]["pause"]["nanos"].as_u64() > Some(0));
    // Each run has its own seed.
    assert_eq!(record["plan"]["settings"]["seed"], 3);
    let rows = place.rows("show series:last --format json");
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert!(
            row["runs"] == 3 && row["mean_s"]["high"].is_number(),
            "{row}"
        );
    }
    place.assert_gone();
}

#[test]
fn two_programs_take_turns_and_are_compared_in_pairs() {
    let place = Place::new(KEYMARK);
    let other = place.path("other");
    write_script(&other, &format!("exec {KEYMARK} \"$@\""));
    let pairs = place.rows(&format!(
        "{SHORT} {SERIES} --against {} --format json",
        other.display()
    ));
    assert_eq!(pairs.len(), 3);
    for pair in &pairs {
        assert_has(pair, json!({"first_runs": 3, "second_runs": 3}));
    }
    let runs = place.rows("runs --format json");
    assert_eq!(runs.len(), 6);
    for side in ["-a", "-b"] {
        let series = runs.iter().map(|run| run["series"].as_str().unwrap());
        assert_eq!(series.filter(|name| name.ends_with(side)).count(), 3);
    }
    // This keymark's series is the last, whichever ended last. Sides are called as they were asked for.
    let again = place.rows("compare series:last~1 series:last --format json");
    for (pair, again) in pairs.iter().zip(&again) {
        for figure in ["case", "ratio", "ratio_low", "ratio_high", "verdict"] {
            assert_eq!(pair[figure], again[figure], "{figure}");
        }
    }
}

#[test]
fn a_program_that_cannot_make_the_runs_ends_it_with_its_reason() {
    let place = Place::new(KEYMARK);
    let nowhere = "/nonexistent/keymark";
    for (options, word) in [
        (format!("{SHORT} --against {nowhere}"), nowhere),
        (format!("{SHORT} {SERIES} --no-save"), "--no-save"),
        (
            "bench --algorithm ed25519 --operation decrypt --repeat 3".to_owned(),
            "ed25519",
        ),
    ] {
        assert_says(&place.refused(&options, 2), [word]);
    }
}

#[test]
fn a_series_is_exported_as_a_record_a_line() {
    let place = with_made_up_runs();
    let lines = place.stdout("export series:slower --format record");
    let other = Place::new(KEYMARK);
    for (number, line) in lines.lines().enumerate() {
        let single = place.stdout(&format!("export slower-{number} --format record"));
        assert_eq!(single.trim_end(), line);
        other.import(&serde_json::from_str(line).unwrap());
    }
    assert_eq!(lines.lines().count(), 3);
    assert_eq!(other.stdout("export series:slower --format record"), lines);
}
