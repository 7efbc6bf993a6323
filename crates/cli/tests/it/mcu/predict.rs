//! Predictions: shown, kept, compared, made into twins.

use keymark_testkit::assert_says;

use std::process::Command;

use super::place::{Place, objects, own_part};
use crate::KEYMARK;

#[test]
fn predictions_are_shown_streamed_and_saved() {
    let place = Place::new(KEYMARK);
    let selection = "mcu predict --algorithm x25519,ed25519 --option umaal=on,off";
    let rows = place.rows(&format!("{selection} --format json"));
    // The Cortex-M3 has no UMAAL: one variant there, two on the other parts.
    assert_eq!(rows.len(), 2 * (1 + 2 + 2));
    for row in &rows {
        for key in [
            "mcu",
            "algorithm",
            "options",
            "provenance",
            "classes",
            "stalls",
        ] {
            assert!(!row[key].is_null(), "{key}: {row}");
        }
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("low_seconds") <= number("seconds"), "{row}");
        assert!(number("seconds") <= number("high_seconds"), "{row}");
        assert!(number("cycles") >= number("instructions"), "{row}");
        assert_eq!(row["provenance"], "predicted");
        let options = row["options"].as_object().unwrap();
        assert!(
            options.contains_key("square") && options["crt"].is_null(),
            "{row}"
        );
    }
    let cycles = |mcu: &str, umaal: &str| {
        let row = rows.iter().find(|row| {
            (&row["mcu"], &row["algorithm"], &row["options"]["umaal"])
                == (&mcu.into(), &"cv25519".into(), &umaal.into())
        });
        row.unwrap()["cycles"].as_u64().unwrap()
    };
    assert!(cycles("stm32l432", "on") < cycles("stm32l432", "off"));

    let table = place.stdout(selection);
    assert_says(&table, ["cv25519 (predicted", "stm32l432:umaal=off"]);
    let shown = place.stdout("show last");
    assert_says(&shown, ["predicted", "no device was measured"]);
    let saved = place.rows("show last --format json");
    assert_eq!(saved.len(), rows.len());
    assert!(saved.iter().all(|row| row["provenance"] == "predicted"));
}

#[test]
fn a_prediction_that_fails_does_not_cost_the_others() {
    let place = Place::new(KEYMARK);
    let small = own_part(&place, "small.toml", "flash-kib = 128", "flash-kib = 8");
    std::fs::write(
        &small,
        std::fs::read_to_string(&small)
            .unwrap()
            .replace("\"stm32f103\"", "\"small\""),
    )
    .unwrap();
    let output = place.output(&format!(
        "mcu predict --mcu {small} --algorithm x25519,rsa4096 --format json"
    ));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_says(&said, ["rsa4096 on small"]);
    let rows = objects(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["algorithm"], "cv25519");
}

#[test]
fn predictions_that_cannot_be_kept_are_shown_and_said_to_be_lost() {
    let place = Place::new(KEYMARK);
    let archive = place.path("no/runs.sqlite3");
    std::fs::write(place.path("no"), "a file").unwrap();
    let output = Command::new(KEYMARK)
        .args("mcu predict --algorithm x25519 --archive".split(' '))
        .arg(archive)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_says(&said, ["cannot save"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("cv25519 (predicted"));
}

#[test]
fn a_prediction_becomes_a_twin() {
    let place = Place::new(KEYMARK);
    let profile =
        place.stdout("twin make --mcu stm32f405 --algorithm x25519 --transport 400ms --name f405");
    assert_says(&profile, ["no device was measured"]);
    place.refused(
        &[
            "twin",
            "make",
            "--mcu",
            "stm32f405",
            "--algorithm",
            "x25519",
            "--name",
            "a b",
        ],
        2,
    );
    let file = place.path("f405.toml");
    std::fs::write(&file, &profile).unwrap();
    let device = format!("twin:{}", file.display());
    let rows = place.rows(
        &format!(
            "bench --device {device} --stack raw --algorithm cv25519 --operation decrypt --samples 3 --format json"
        ),
    );
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["provenance"], &rows[0]["failed"]),
        (&"twin".into(), &0.into())
    );
    assert!(
        rows[0]["median_s"].as_f64().unwrap() >= 0.400,
        "the transport alone takes that long"
    );
}

#[test]
fn predictions_can_be_compared_and_guarded() {
    let place = Place::new(KEYMARK);
    for clock in ["72", "48"] {
        let part = own_part(
            &place,
            "part.toml",
            "clock-mhz = 72",
            &format!("clock-mhz = {clock}"),
        );
        place.stdout(&format!("mcu predict --mcu {part} --algorithm x25519"));
    }
    let said = place.refused("compare last~1 last --fail-above 5%", 1);
    assert_says(&said, ["slower by more than 5 %"]);
    place.stdout("compare last last~1 --fail-above 5%");
    place.stdout(&[
        "mcu",
        "predict",
        "--mcu",
        &place.path("part.toml").to_string_lossy(),
        "--algorithm",
        "x25519",
    ]);
    place.stdout("compare last last~1 --fail-above 0%");
    let shown = place.stdout("show last --long");
    assert_says(&shown, ["with one assumption varied"]);
}
