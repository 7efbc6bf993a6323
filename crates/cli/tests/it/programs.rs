//! Programs on top of PKCS#11 tokens, as a user has them: ssh-agent and openssl, on a token of keymark's own and on
//! keys that OpenSC made.

use std::collections::BTreeSet;

use keymark_testkit::place::Place;
use keymark_testkit::softhsm::PIN;
use keymark_testkit::{assert_says, assert_silent};
use serde_json::Value;

use crate::pkcs11::misbehaving::Misbehaving;
use crate::{KEYMARK, assert_measured};

/// `rsa2048 sign openssl engine`
fn name(row: &Value) -> String {
    let words = [
        &row["algorithm"],
        &row["operation"],
        &row["stack"],
        &row["parameters"]["agent"],
        &row["parameters"]["openssl"],
    ];
    let words: Vec<_> = words.iter().filter_map(|word| word.as_str()).collect();
    words.join(" ")
}

fn names(rows: &[Value]) -> BTreeSet<String> {
    rows.iter().map(name).collect()
}

#[test]
fn keymarks_own_token_is_reached_by_ssh_agent_and_by_openssl() {
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--device softhsm --stack raw,ssh,openssl --samples 3 --operation sign,decrypt,authenticate \
         --parameter openssl=engine,provider --algorithm rsa1024,rsa2048,rsa4096,nistp256,nistp384,nistp521",
    );
    assert_measured(&rows, 3);
    let mut expected = BTreeSet::new();
    for algorithm in [
        "rsa1024", "rsa2048", "rsa4096", "nistp256", "nistp384", "nistp521",
    ] {
        expected
            .extend(["sign", "decrypt"].map(|operation| format!("{algorithm} {operation} raw")));
        for way in ["engine", "provider"] {
            let of_openssl = |operation| format!("{algorithm} {operation} openssl {way}");
            expected.extend(["sign", "decrypt"].map(of_openssl));
        }
        expected
            .extend(["raw", "ssh openssh"].map(|way| format!("{algorithm} authenticate {way}")));
    }
    assert_eq!(names(&rows), expected);
    place.assert_gone();
}

#[test]
fn gnupg_reaches_rsa_keys_on_tokens_that_have_certificates() {
    let place = Place::new(KEYMARK);
    let arguments = "--stack raw,agent,gpg --samples 3 --operation sign,decrypt --algorithm \
                     rsa2048,nistp256 --device";
    // Keys that keymark writes, and ones that the token makes, another for each operation.
    for device in ["softhsm", "swtpm"] {
        let rows = place.bench(&format!("{arguments} {device}"));
        assert_measured(&rows, 3);
        let mut expected = BTreeSet::new();
        for operation in ["sign", "decrypt"] {
            let stacks = ["raw", "agent", "gpg"];
            expected.extend(stacks.map(|stack| format!("rsa2048 {operation} {stack}")));
        }
        expected.insert("nistp256 sign raw".to_owned());
        if device == "softhsm" {
            expected.insert("nistp256 decrypt raw".to_owned());
        }
        assert_eq!(names(&rows), expected, "{device}");
        place.assert_gone();
    }
    // Without a named stack there is no program between.
    let rows = place.bench("--device softhsm --algorithm rsa2048 --operation sign --samples 3");
    assert_eq!(
        names(&rows),
        BTreeSet::from(["rsa2048 sign raw".to_owned()])
    );
}

#[test]
fn a_users_key_without_a_certificate_is_not_found_by_gnupg_and_one_with_is() {
    let users = Misbehaving::with(KEYMARK, "rsa:2048");
    let only = "--stack gpg --operation sign";
    let bench = |status| users.run("", PIN, &users.device, only, status);
    assert_says(&bench(1).said(), ["certificates"]);
    users.token.certify("01", "web");
    assert_measured(&bench(0).rows(), 6);
    users.place.assert_gone();
}

#[test]
fn keys_in_files_are_the_baseline_and_several_processes_run_at_once() {
    let place = Place::new(KEYMARK);
    let all = "rsa2048,dsa3072,nistp256,brainpoolp384r1,secp256k1,cv25519,x448,ed25519,ed448";
    let rows = place.bench(&format!(
        "--device software --stack openssl --samples 3 --workers 1,3 --algorithm {all}"
    ));
    assert_measured(&rows, 3);
    assert_eq!(rows.len(), 2 * 13, "{:?}", names(&rows));
    assert!(
        rows.iter()
            .all(|row| row["parameters"]["openssl"] == "file")
    );
    place.assert_gone();
}

#[test]
fn the_time_of_a_process_is_divided() {
    let place = Place::new(KEYMARK);
    place.bench(
        "--device softhsm,software --stack raw,openssl --samples 3 --operation sign --algorithm nistp256 \
         --parameter openssl=engine,file --library openssl,openssl-system",
    );
    // The parts of an operation are the whole of it.
    let record = place.record();
    let cases = record["cases"].as_array().unwrap().iter();
    let cases: Vec<_> = cases
        .filter(|case| case["case"]["stack"] == "openssl")
        .collect();
    assert_eq!(cases.len(), 2, "{record}");
    for case in cases {
        let parts = case["parts"].as_object().unwrap();
        let words: Vec<_> = parts.keys().map(String::as_str).collect();
        assert_eq!(words, ["key load", "operation", "program start", "rest"]);
        let sum: f64 = parts
            .values()
            .map(|part| part["mean_s"].as_f64().unwrap())
            .sum();
        let blocks = case["blocks"].as_array().unwrap().iter();
        let samples = blocks.flat_map(|block| block["samples"].as_array().unwrap());
        let took = |sample: &Value| sample[3].as_f64().unwrap() - sample[2].as_f64().unwrap();
        let mean = samples.map(took).sum::<f64>() / 3e9;
        assert!((sum - mean).abs() < 1e-6, "{sum} {mean}: {parts:?}");
    }
}

#[test]
fn a_users_key_is_reached_by_its_name_and_test_keys_are_not() {
    let users = Misbehaving::with(KEYMARK, "rsa:2048");
    let stacks = "--stack openssl,ssh --parameter openssl=engine";
    let output = users.run("", PIN, &users.device, stacks, 0);
    let rows = output.rows();
    assert_measured(&rows, 6);
    let expected = [
        "rsa2048 authenticate ssh openssh",
        "rsa2048 decrypt openssl engine",
        "rsa2048 sign openssl engine",
    ];
    assert_eq!(names(&rows), expected.map(str::to_owned).into());
    assert_silent(&output.said(), [PIN]);
    let no_key = users.device.replace(";object=web", "");
    let refused = users.run("", PIN, &no_key, stacks, 3);
    assert_says(&refused.said(), ["object=KEY"]);
}

/// The PIN that keymark's own login had accepted is refused in the programs' processes: changed in between, say.
#[test]
fn a_pin_that_a_program_is_refused_is_not_sent_again() {
    for (stack, parameter, words) in [
        ("openssl", "openssl=engine", "openssl pkey failed"),
        ("openssl", "openssl=provider", "openssl pkey failed"),
        ("gpg", "protection=none", "PKSIGN failed"),
        (
            "ssh",
            "agent=openssh",
            "SSH_AGENTC_ADD_SMARTCARD_KEY failed: SSH_AGENT_FAILURE (5)",
        ),
    ] {
        let users = Misbehaving::with(KEYMARK, "rsa:2048");
        users.token.certify("01", "web");
        let only = format!("--stack {stack} --parameter {parameter} --workers 1,2");
        let output = users.run("keymark-only", PIN, &users.device, &only, 1);
        let rows = output.rows();
        assert!(rows.len() >= 2, "{rows:?}");
        for row in &rows {
            assert!(row["n"].is_null() && row["failed"] == 1, "{row}");
            let reason = row["reason"].to_string();
            let again = reason.contains("not sent a second time");
            assert!(reason.contains(words) || again, "{row}");
        }
        let logins = users.logins().lines().count();
        assert_eq!(logins, 2, "keymark's, and the first program's");
        users.place.assert_gone();
    }
}

#[test]
fn a_module_with_two_tokens_is_not_given_to_ssh_agent() {
    let users = Misbehaving::with(KEYMARK, "rsa:2048");
    users.token.run(
        std::process::Command::new("softhsm2-util")
            .args("--init-token --free --label other --so-pin 31415926 --pin 161803".split(' ')),
    );
    let output = users.run("", PIN, &users.device, "--stack ssh", 1);
    assert_says(&output.said(), ["other tokens"]);
    assert_eq!(users.logins().lines().count(), 1, "keymark's own");
}
