//! Tokens of keymark's own: SoftHSM2, Kryoptic and a TPM in software.

use std::path::Path;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, assert_has};
use keymark_testkit::process::naming;
use keymark_testkit::waiting::until;
use serde_json::json;

use crate::{KEYMARK, kill_at_work, quiet};

/// Processes by which libraries talk to the TPM of this place: it is in their environment.
fn clients(place: &Place) -> usize {
    let temporary = place.temporary();
    let place = temporary.as_os_str().as_encoded_bytes();
    let has = |file: &Path, text: &[u8]| {
        let content = std::fs::read(file).unwrap_or_default();
        content.windows(text.len()).any(|part| part == text)
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let processes = processes.map(|entry| entry.path());
    processes
        .filter(|path| {
            has(&path.join("cmdline"), b"tpm2_send") && has(&path.join("environ"), place)
        })
        .count()
}

#[test]
fn several_tokens_of_keymarks_own_are_measured_in_one_run() {
    let place = Place::new(KEYMARK);
    let measure = |devices: &[&str], load: &str| {
        let common = "--samples 6 --algorithm rsa2048,nistp256 --operation sign --device";
        let rows = place.bench(&format!("{common} {} {load}", devices.join(",")));
        let virtual_ones = json!({"store": "pkcs11", "provenance": "virtual", "n": 6, "failed": 0});
        rows.iter()
            .for_each(|row| assert_has(row, virtual_ones.clone()));
        for device in devices {
            let of_it = rows.iter().filter(|row| row["device"] == *device);
            assert_eq!(of_it.count() * devices.len(), rows.len(), "{device}");
        }
        rows.len()
    };
    let all = ["softhsm", "kryoptic", "swtpm"];
    assert_eq!(measure(&all, "--workers 1 --processes 2"), 3 * 2 * 2);
    assert_eq!(measure(&all[..2], "--workers 2"), 2 * 2);
    place.assert_gone();
}

#[test]
fn a_library_that_is_not_safe_in_threads_has_processes_only() {
    let place = Place::new(KEYMARK);
    let bench =
        "bench --format json --device swtpm --algorithm nistp256 --operation sign --samples 6";
    let rows = place
        .ends(&format!("{bench} --workers 1,2 --processes 2"), 1)
        .rows();
    assert_eq!(rows.len(), 3, "{rows:?}");
    for row in rows {
        if row["workers"] == 2 && row["worker"] == "thread" {
            assert_says(&row["reason"], ["tpm2-pkcs11", "1.9", "--processes"]);
        } else {
            assert_has(&row, json!({"reason": null, "n": 6}));
        }
    }
}

#[test]
fn a_killed_keymark_takes_its_tpm_along() {
    let place = Place::new(KEYMARK);
    let run = "bench --no-save --device swtpm --algorithm nistp256 --samples 1000000 --processes 2";
    let child = quiet(&mut place.keymark(run));
    // Two workers, and the clients of both and of keymark: it measures.
    until("the workers use the TPM", || clients(&place) >= 3);
    assert!(
        naming(&place.temporary()) >= 3,
        "swtpm, dbus-daemon, tpm2-abrmd"
    );
    kill_at_work(child);
    until("no process is left", || {
        naming(&place.temporary()) == 0 && clients(&place) == 0
    });
    // What is left of it are files, which the next start removes.
    assert_eq!(place.leftovers().len(), 1, "{:?}", place.leftovers());
    place.bench("--algorithm ed25519 --stack raw --samples 1 --no-save");
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}
