//! A TPM in software, by the way of a real one.

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, assert_has};
use keymark_testkit::process::naming;
use keymark_testkit::waiting::until;
use serde_json::json;

use crate::{KEYMARK, kill_at_work, quiet};

#[test]
fn a_tpm_is_measured_in_threads_and_processes() {
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--device swtpm-esys --samples 6 --workers 1,2 --processes 2 --algorithm rsa2048,nistp256",
    );
    // Two algorithms, two operations, three loads: more keys than a TPM holds.
    assert_eq!(rows.len(), 2 * 2 * 3, "{rows:?}");
    for row in &rows {
        let expected = json!({"store": "tpm", "provenance": "virtual", "n": 6, "failed": 0});
        assert_has(row, expected);
    }
    place.assert_gone();
}

#[test]
fn a_killed_keymark_takes_its_tpm_along() {
    let place = Place::new(KEYMARK);
    let run = "bench --no-save --device swtpm-esys --algorithm nistp256 --samples 1000000";
    let child = quiet(&mut place.keymark(run));
    until("swtpm runs", || naming(&place.temporary()) > 1);
    kill_at_work(child);
    until("no process is left", || naming(&place.temporary()) == 0);
}

#[test]
fn a_tpm_that_is_not_there_says_what_to_do() {
    let place = Place::new(KEYMARK);
    if std::path::Path::new("/dev/tpmrm0").exists() {
        // It has an owner, so it is not asked what it has.
        return;
    }
    assert_says(&place.refused("bench --device tpm", 3), ["swtpm-esys"]);
}
