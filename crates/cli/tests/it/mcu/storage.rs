//! `mcu storage` and `mcu list`.

use keymark_testkit::assert_says;
use keymark_testkit::place::Place;

use crate::KEYMARK;

#[test]
fn storage_says_what_fits_and_what_it_costs() {
    let place = Place::new(KEYMARK);
    let rows = place
        .rows("mcu storage --geometry stm32l432,stm32f405 --workload signatures --format json");
    let (refused, fitting) = rows.split_last().unwrap();
    assert_eq!(fitting.len(), 3);
    for row in fitting {
        assert!(row["lifetime_signatures"].as_u64() > Some(10_000), "{row}");
        assert!(row["worst_s"].as_f64() >= row["mean_s"].as_f64(), "{row}");
        assert!(
            row["used_bytes"].as_u64() <= row["reserved_bytes"].as_u64(),
            "{row}"
        );
        assert_eq!(row["settled"], true);
    }
    assert_eq!(refused["design"], "separate-pages");
    assert_says(&refused["refused"], ["needs 8 sectors and has 4"]);
}

#[test]
fn every_part_says_what_it_rests_on() {
    let place = Place::new(KEYMARK);
    let parts = place.rows("mcu list --format json");
    assert!(parts.len() >= 5);
    for part in &parts {
        assert!(!part["sources"].as_array().unwrap().is_empty(), "{part}");
    }
    assert!(place.stdout("mcu list").contains("assumed:"));
}
