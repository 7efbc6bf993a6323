//! Other libraries than the one that is built in, as a user has them.

use std::collections::BTreeSet;

use keymark_stores::places::library::MULTIARCH;
use keymark_testkit::place::{Ends, Place, assert_has, short_directory};
use keymark_testkit::{assert_says, assert_silent};
use serde_json::json;

use crate::{KEYMARK, assert_measured};

#[test]
fn the_layers_of_gnupg_stand_on_libgcrypt_with_openssl_beside() {
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--algorithm rsa2048,ed25519 --operation sign --stack raw,agent --samples 6 --library openssl,libgcrypt",
    );
    let ways: BTreeSet<_> = rows
        .iter()
        .map(|row| (row["stack"].as_str(), row["parameters"]["library"].as_str()))
        .collect();
    let libgcrypt = (Some("raw"), Some("libgcrypt"));
    let all = [(Some("raw"), None), libgcrypt, (Some("agent"), None)];
    assert_eq!(ways, all.into());
    assert_measured(&rows, 6);
    let shown = place.stdout("show --long");
    assert_says(&shown, ["libgcrypt 1."]);
    let exported = place.stdout("export last --format record");
    assert!(exported.contains(r#""parameters":{"library":"libgcrypt"}"#));
}

#[test]
fn processes_load_it_for_themselves() {
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--algorithm elg2048,nistp384,ed448 --stack raw --library libgcrypt,openssl-system --processes 2 --samples 4",
    );
    // The curve of NIST signs and derives; OpenSSL has no Elgamal.
    assert_eq!(rows.len(), 4 + 3, "{rows:?}");
    for row in &rows {
        assert_has(row, json!({"worker": "process", "failed": 0}));
    }
}

#[test]
fn the_systems_openssl_stands_beside_the_one_that_is_built_in() {
    // RSA and the curve of NIST do both.
    let algorithms = ("rsa2048,dsa2048,nistp521,cv25519,ed25519", 7);
    beside_openssl(
        "openssl-system",
        algorithms,
        "openssl-system 3.",
        "mlkem768",
    );
}

/// The installed build and a copy of it: whatever differs is noise, and the record names the file of each.
#[test]
fn two_builds_of_openssl_are_compared_in_one_run() {
    let place = Place::new(KEYMARK);
    let build = format!("/usr/lib/{MULTIARCH}/libcrypto.so.3");
    let copy = place.path("libcrypto.so.3");
    std::fs::copy(&build, &copy).unwrap();
    let copy = copy.display();
    let rows = place.bench(&format!(
        "--algorithm rsa2048,ed25519 --operation sign --stack raw --samples 20 --library openssl={build},openssl={copy}"
    ));
    assert_measured(&rows, 20);
    let of = |name: &str| {
        let rows = rows.iter();
        rows.filter(|row| row["parameters"]["library"] == name)
            .count()
    };
    assert_eq!(["openssl-a", "openssl-b"].map(of), [2, 2]);
    let shown = place.stdout("show --long");
    let copied = format!("({copy})");
    assert_says(
        &shown,
        ["openssl-b", "to sign with", "openssl-a 3.", &copied],
    );
    let bench = "bench --algorithm ed25519 --stack raw --samples 3 --no-save --library";
    for (libraries, reason) in [
        (
            "openssl=/etc/passwd",
            "a libcrypto of OpenSSL 3 in /etc/passwd is missing here",
        ),
        ("openssl=/nonexistent", "No such file"),
        ("openssl-a", "name its file: openssl=FILE"),
    ] {
        let mut keymark = place.keymark(&format!("{bench} {libraries}"));
        assert_says(&keymark.ends(2).stderr, [reason]);
    }
    let thrice = format!("{bench} openssl={copy},openssl={copy},openssl={build}");
    let said = place.keymark(&thrice).ends(2).stderr;
    assert_says(&said, ["at most two openssl=FILE"]);
    place.assert_gone();
}

#[test]
fn rustcrypto_tells_its_versions_and_what_it_lacks() {
    let algorithms = ("rsa2048,nistp256,cv25519,ed25519", 6);
    beside_openssl("rustcrypto", algorithms, "rsa 0.9.", "dsa3072");
}

/// Every case of these algorithms is measured with both, and the version shown; one more algorithm is refused.
fn beside_openssl(name: &str, (algorithms, cases): (&str, usize), version: &str, lacks: &str) {
    let place = Place::new(KEYMARK);
    let rows = place.bench(&format!(
        "--algorithm {algorithms} --stack raw --samples 6 --library openssl,{name}"
    ));
    assert_eq!(rows.len(), 2 * cases, "{rows:?}");
    assert_measured(&rows, 6);
    let shown = place.stdout("show --long");
    assert_says(&shown, [version]);
    let refused = format!("bench --algorithm {lacks} --stack raw --library {name} --dry-run");
    assert_says(&place.refused(&refused, 3), [name, lacks]);
}

/// A file by its name that is none comes first, as far as the loader is concerned.
#[test]
fn without_libgcrypt_the_others_go_on_and_what_brings_it_is_said() {
    missing(
        "libgcrypt",
        "libgcrypt.so.20",
        "apt-get install libgcrypt20",
    );
}

/// The feature `tpm` links keymark itself with that library.
#[cfg(not(feature = "tpm"))]
#[test]
fn without_openssl_the_others_go_on_and_what_brings_it_is_said() {
    missing(
        "openssl-system",
        "libcrypto.so.3",
        "apt-get install libssl3",
    );
}

fn missing(name: &str, file: &str, advice: &str) {
    let place = Place::new(KEYMARK);
    let broken = short_directory();
    std::fs::write(broken.path().join(file), "").unwrap();
    let bench = |library: &str, status| {
        let bench = "bench --algorithm ed25519 --stack raw --samples 6 --format json --library";
        let mut keymark = place.keymark(&format!("{bench} {library}"));
        keymark.env("LD_LIBRARY_PATH", broken.path()).ends(status)
    };
    let both = bench(&format!("openssl,{name}"), 0);
    assert_says(&both.stderr, [name, advice]);
    assert_measured(&both.rows(), 6);
    assert_eq!(both.rows().len(), 1);
    assert_says(&bench(name, 3).stderr, [advice]);
    assert_silent(&bench("openssl", 0).stderr, [name]);
}
