//! What `keymark tls bench` says of servers' keys: calls to tokens, and where the time of a transaction goes.

use keymark_testkit::assert_says;
use keymark_testkit::place::Place;
use serde_json::Value;

use crate::KEYMARK;

/// The cases of a run, as they are exchanged.
fn cases(place: &Place, arguments: &str) -> Vec<Value> {
    place.stdout(&format!("tls bench --workers 3 --case-time 2s {arguments}"));
    let record = place.record();
    record["cases"].as_array().unwrap().clone()
}

/// Each handshake has one of these operations, also those that the cut-off found under way and the drain's own.
fn one_each(case: &Value, functions: &[&str]) {
    let load = &case["server_load"];
    let transactions = load["totals"]["transactions"].as_u64().unwrap();
    let calls = &load["token_calls"]["functions"];
    let done = |name: &&str| calls[*name]["calls"].as_u64().unwrap_or(0);
    let done: u64 = functions.iter().map(done).sum();
    assert!(transactions > 0, "{case}");
    assert!(
        (transactions..=transactions + 4).contains(&done),
        "{done} of {transactions}: {calls}"
    );
    assert!(done <= load["token_calls"]["handshakes"].as_u64().unwrap());
}

#[test]
fn a_server_asks_its_token_once_a_handshake() {
    let place = Place::new(KEYMARK);
    for way in ["engine", "provider"] {
        let cases = cases(
            &place,
            &format!(
                "--server nginx,apache --device softhsm --algorithm rsa2048,nistp256 --trace --openssl {way}"
            ),
        );
        assert_eq!(cases.len(), 4);
        for case in &cases {
            one_each(case, &["C_Sign", "C_SignFinal"]);
            let load = &case["server_load"];
            assert_eq!(load["alone"]["by"], "the token");
            assert_eq!(load["totals"]["failed"], 0, "{case}");
            assert_eq!(case["case"]["provenance"], "virtual");
        }
    }
    let shown = place.stdout("show last --long");
    assert_says(&shown, ["what the server asked of its token", "C_SignInit"]);
    assert_says(&shown, ["rest of the handshake", "in the server"]);
    let decrypts = cases(
        &place,
        "--server nginx --device softhsm --algorithm rsa2048 --kex rsa --trace --openssl provider",
    );
    one_each(&decrypts[0], &["C_Decrypt"]);
    assert_eq!(decrypts[0]["server_load"]["alone"]["operation"], "decrypt");
    place.assert_gone();
}

#[test]
fn who_waits_in_a_twin_s_queue_is_seen() {
    let place = Place::new(KEYMARK);
    let cases = cases(
        &place,
        "--server apache --device twin:tpm-stm --algorithm nistp256 --trace --openssl engine",
    );
    one_each(&cases[0], &["C_Sign"]);
    let sign = &cases[0]["server_load"]["token_calls"]["functions"]["C_Sign"];
    let number = |name: &str| sign[name].as_f64().unwrap();
    // Of three users two wait for the third, but for the first and last operations.
    let share = number("waited_ns") / number("total_ns");
    assert!((0.4..0.7).contains(&share), "{share}: {sign}");
    place.assert_gone();
}

#[test]
fn of_a_key_in_a_file_the_servers_own_library_is_asked() {
    let place = Place::new(KEYMARK);
    let refused = place.refused("tls bench --trace --case-time 2s", 2);
    assert_says(&refused, ["the key of 'software' is not on one"]);
    let cases = cases(&place, "--server nginx --algorithm rsa2048");
    let load = &cases[0]["server_load"];
    let by = load["alone"]["by"].as_str().unwrap();
    let version = load["server"]["openssl"].as_str().unwrap();
    assert_eq!(by, format!("libcrypto {version}"));
    assert_eq!(load["alone"]["operation"], "sign");
    assert!(load["token_calls"].is_null());
    let shown = place.stdout("show last --long");
    assert_says(&shown, ["of server CPU"]);
    place.assert_gone();
}
