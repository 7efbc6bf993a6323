//! Predictions: shown, kept, compared, made into twins.

use std::path::Path;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, assert_has};
use serde_json::json;

use crate::{KEYMARK, number};

/// A shipped part's file with something replaced.
fn own_part(place: &Place, from: &str, to: &str) -> String {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcu/data/stm32f103.toml");
    let text = std::fs::read_to_string(shipped).unwrap();
    assert!(text.contains(from), "{from}");
    let file = place.path("part.toml");
    std::fs::write(&file, text.replace(from, to)).unwrap();
    file.display().to_string()
}

#[test]
fn predictions_are_shown_streamed_and_saved() {
    let place = Place::new(KEYMARK);
    let selection = "mcu predict --algorithm x25519,ed25519 --option umaal=on,off";
    let rows = place.rows(&format!("{selection} --format json"));
    // The Cortex-M3 has no UMAAL: one variant there, two on the other parts.
    assert_eq!(rows.len(), 2 * (1 + 2 + 2));
    for row in &rows {
        for key in ["mcu", "algorithm", "options", "classes", "stalls"] {
            assert!(!row[key].is_null(), "{key}: {row}");
        }
        let number = |key: &str| number(row, key);
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
    let small = own_part(&place, "flash-kib = 128", "flash-kib = 8");
    let predict = format!("mcu predict --mcu {small} --algorithm x25519,rsa4096 --format json");
    let ended = place.ends(&predict, 1);
    assert_says(&ended.stderr, ["rsa4096 on stm32f103"]);
    let rows = ended.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["algorithm"], "cv25519");
}

#[test]
fn predictions_that_cannot_be_kept_are_shown_and_said_to_be_lost() {
    let place = Place::new(KEYMARK);
    let archive = place.path("no/runs.sqlite3");
    std::fs::write(place.path("no"), "a file").unwrap();
    let predict = format!(
        "mcu predict --algorithm x25519 --archive {}",
        archive.display()
    );
    let ended = place.ends(&predict, 1);
    assert_says(&ended.stderr, ["cannot save"]);
    assert_says(&ended.stdout, ["cv25519 (predicted"]);
}

#[test]
fn a_prediction_becomes_a_twin() {
    let place = Place::new(KEYMARK);
    let make = "twin make --mcu stm32f405 --algorithm x25519";
    let profile = place.stdout(&format!("{make} --transport 400ms --name f405"));
    assert_says(&profile, ["no device was measured"]);
    let two_words = [&make.split(' ').collect::<Vec<_>>()[..], &["--name", "a b"]].concat();
    place.refused(&two_words, 2);
    let file = place.path("f405.toml");
    std::fs::write(&file, &profile).unwrap();
    let file = file.display();
    let rows = place.bench(&format!(
        "--device twin:{file} --stack raw --algorithm cv25519 --operation decrypt --samples 3"
    ));
    assert_eq!(rows.len(), 1);
    assert_has(&rows[0], json!({"provenance": "twin", "failed": 0}));
    // The transport alone takes that long.
    assert!(number(&rows[0], "median_s") >= 0.400, "{}", rows[0]);
}

#[test]
fn predictions_can_be_compared_and_guarded() {
    let place = Place::new(KEYMARK);
    let predict = |clock: &str| {
        let part = own_part(&place, "clock-mhz = 72", &format!("clock-mhz = {clock}"));
        place.stdout(&format!("mcu predict --mcu {part} --algorithm x25519"));
    };
    predict("72");
    predict("48");
    let said = place.refused("compare last~1 last --fail-above 5%", 1);
    assert_says(&said, ["slower by more than 5 %"]);
    place.stdout("compare last last~1 --fail-above 5%");
    predict("48");
    place.stdout("compare last last~1 --fail-above 0%");
    let shown = place.stdout("show last --long");
    assert_says(&shown, ["with one assumption varied"]);
}
