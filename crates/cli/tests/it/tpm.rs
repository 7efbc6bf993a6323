//! A TPM in software, by the way of a real one.

use std::process::Stdio;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, assert_has};
use keymark_testkit::process::naming;
use keymark_testkit::waiting::until;
use serde_json::json;

use crate::KEYMARK;

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
    let mut run =
        place.keymark("bench --no-save --device swtpm-esys --algorithm nistp256 --samples 1000000");
    let run = run.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = run.spawn().unwrap();
    until("swtpm runs", || naming(&place.temporary()) > 1);
    child.kill().unwrap();
    child.wait().unwrap();
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
