//! `mcu storage` and `mcu list`.

use keymark_testkit::assert_says;

use super::place::Place;
use crate::KEYMARK;

#[test]
fn storage_says_what_fits_and_what_it_costs() {
    let place = Place::new(KEYMARK);
    let rows = place
        .rows("mcu storage --geometry stm32l432 --workload signatures --operations 5000 --json");
    assert_eq!(rows.len(), 3);
    for row in &rows {
        assert!(
            row["lifetime_signatures"].as_u64().unwrap() > 10_000,
            "{row}"
        );
        assert!(row["worst_s"].as_f64() >= row["mean_s"].as_f64(), "{row}");
        assert!(
            row["used_bytes"].as_u64() <= row["reserved_bytes"].as_u64(),
            "{row}"
        );
    }
    let refused = place.refused(
        "mcu storage --geometry stm32f405 --design separate-pages --operations 10",
        1,
    );
    assert_says(&refused, ["needs 8 sectors and has 4"]);
    let answers =
        place.rows("mcu storage --geometry stm32f405 --workload mixed --operations 10 --json");
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["settled"], false);
    assert_eq!(answers[2]["design"], "separate-pages");
    assert!(answers[2]["refused"].as_str().unwrap().contains("sectors"));
}

#[test]
fn every_part_says_what_it_rests_on() {
    let place = Place::new(KEYMARK);
    let parts = place.rows("mcu list --json");
    assert!(parts.len() >= 5);
    for part in &parts {
        assert!(!part["sources"].as_array().unwrap().is_empty(), "{part}");
    }
    assert!(place.stdout("mcu list").contains("assumed:"));
}
