//! Capacity planning: rows for programs, and the planner next to the library Ciw.

use std::path::Path;
use std::process::Command;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends as _, Place, assert_has};
use serde_json::json;

use crate::KEYMARK;

#[test]
fn each_way_and_number_of_tokens_is_a_line_and_the_fewest_are_the_last() {
    let place = Place::new(KEYMARK);
    let asked = "capacity --device twin:nitrokey-hsm --algorithm rsa2048 --rate 2/s --p99 3s --spare 1 --format json";
    let mut rows = place.rows(asked);
    let last = rows.pop().unwrap();
    assert_has(&last["fewest"], json!({"leastconn": 3}));
    assert_has(&last["fewest_with_spare"], json!({"leastconn": 4}));
    let ways = ["shared", "leastconn", "roundrobin", "random"];
    for (number, row) in rows.iter().enumerate() {
        let (way, tokens) = (ways[number % 4], number / 4 + 1);
        assert_has(row, json!({"distribution": way, "tokens": tokens}));
        let figure = |name: &str| row[name].as_f64();
        match figure("p99_s") {
            None => assert!(figure("utilisation").unwrap() >= 1.0, "{row}"),
            Some(p99) => {
                let lower = ["mean_s", "p95_s"].map(|name| figure(name).unwrap());
                assert!(lower.iter().all(|time| *time <= p99), "{row}");
                assert_eq!(figure("late").unwrap() <= 0.01, p99 <= 3.0, "{row}");
            }
        }
    }
}

#[test]
fn a_measured_token_is_its_histogram_and_a_picture_is_drawn() {
    let place = Place::new(KEYMARK);
    place.stdout("bench --algorithm rsa2048 --operation sign --stack raw --samples 60");
    let picture = place.path("rates.svg");
    let asked = "capacity --device software --algorithm rsa2048 --rate 20/s..100/s -o";
    let answer = place.stdout(&format!("{asked} {}", picture.display()));
    assert_says(
        &answer.split_whitespace().collect::<Vec<_>>().join(" "),
        [
            "60 operations, measured",
            "bootstrap over its blocks",
            "rates.svg",
        ],
    );
    assert_says(&std::fs::read_to_string(picture).unwrap(), ["1 token"]);
}

#[test]
fn a_network_and_a_quota_are_in_the_lines_for_programs() {
    let place = Place::new(KEYMARK);
    let last = |arguments: &str| {
        let asked = format!("capacity --format json --rate 100/s {arguments}");
        place.rows(&asked).pop().unwrap()
    };
    let given = last("--service-time 5ms --round-trip 5ms --calls 3 --quota 150/s");
    assert_eq!(given["fewest"]["leastconn"], 3);
    let service = &given["service"];
    let near = |name: &str, expected: f64| {
        let figure = service[name].as_f64().unwrap();
        assert!((figure - expected).abs() < 1e-9, "{name}: {figure}");
    };
    near("mean_s", 0.02);
    near("network_s", 0.015);
    near("quota_per_s", 150.0);
    let over = last("--service-time 5ms --quota 90/s");
    assert!(over["fewest"]["leastconn"].is_null(), "{over}");
    let local = last("--service-time 5ms");
    assert!(local["service"]["network_s"].is_null(), "{local}");
    for (wrong, named) in [
        ("--round-trip=-5ms", "--round-trip"),
        ("--round-trip inf", "--round-trip"),
        ("--quota 0/s", "--quota"),
        ("--calls 0", "--calls"),
    ] {
        let asked = format!("capacity --service-time 5ms --rate 1/s {wrong}");
        assert_says(&place.ends(&asked, 2).said(), [named]);
    }
}

#[test]
fn what_cannot_be_answered_says_what_would() {
    let place = Place::new(KEYMARK);
    for (asked, status, words) in [
        (
            "--device 0a1b2c3d --algorithm rsa2048 --rate 1/s",
            3,
            "'keymark bench --device 0a1b2c3d",
        ),
        ("--service-time 1s --rate 20/s..1/s", 2, "must rise"),
        ("--service-time 1s", 2, "--rate <RATE>"),
        ("--rate 1/s", 2, "--device <DEVICE>"),
    ] {
        assert_says(
            &place.refused(&format!("capacity {asked}"), status),
            [words],
        );
    }
}

#[test]
fn ciw_finds_the_same_of_twelve_systems() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut ciw = Command::new(root.join("scripts/capacity-ciw"));
    let compared = ciw.arg(KEYMARK).ends(0).stdout;
    assert_eq!(compared.lines().count(), 2 + 12);
}
