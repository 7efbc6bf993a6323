//! Other libraries than the one that is built in, as a user has them.

use std::collections::BTreeSet;

use keymark_testkit::place::{Place, ended, objects, short_directory, text};
use keymark_testkit::{assert_says, assert_silent};

use crate::{KEYMARK, assert_measured};

#[test]
fn the_layers_of_gnupg_stand_on_libgcrypt_with_openssl_beside() {
    let place = Place::new(KEYMARK);
    let rows = place.rows(
        "bench --algorithm rsa2048,ed25519 --operation sign --stack raw,agent --runs 6 --library \
         openssl,libgcrypt --json",
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
    assert!(shown.contains("libgcrypt 1."), "the version: {shown}");
    assert_says(&shown, ["the key of software is libgcrypt"]);
    assert_silent(&shown, ["includes the difference"]);
    let exported = place.stdout("export last --format json");
    assert!(exported.contains(r#""parameters":{"library":"libgcrypt"}"#));
}

#[test]
fn processes_load_it_for_themselves() {
    let place = Place::new(KEYMARK);
    let rows = place.rows(
        "bench --algorithm elg2048,nistp384,ed448 --stack raw --library libgcrypt,openssl-system --processes 2 \
         --runs 4 --json",
    );
    // The curve of NIST signs and derives; OpenSSL has no Elgamal.
    assert_eq!(rows.len(), 4 + 3, "{rows:?}");
    for row in &rows {
        assert_eq!(
            (&row["worker"], &row["failed"]),
            (&"process".into(), &0.into())
        );
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

#[test]
fn rustcrypto_tells_its_versions_and_what_it_lacks() {
    let algorithms = ("rsa2048,nistp256,cv25519,ed25519", 6);
    beside_openssl("rustcrypto", algorithms, "rsa 0.9.", "dsa3072");
}

/// Every case of these algorithms is measured with both, and the version shown; one more algorithm is refused.
fn beside_openssl(name: &str, (algorithms, cases): (&str, usize), version: &str, lacks: &str) {
    let place = Place::new(KEYMARK);
    let rows = place.rows(&format!(
        "bench --algorithm {algorithms} --stack raw --runs 6 --library openssl,{name} --json"
    ));
    assert_eq!(rows.len(), 2 * cases, "{rows:?}");
    assert_measured(&rows, 6);
    let shown = place.stdout("show --long");
    assert!(shown.contains(version), "the version: {shown}");
    let refused = place
        .keymark(&format!(
            "bench --algorithm {lacks} --stack raw --library {name} --dry-run"
        ))
        .output()
        .unwrap();
    let said = text(&refused.stderr);
    let reason = format!("raw with {name} does not offer {lacks}");
    assert_says(&said, [&reason]);
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

/// With TPMs keymark itself is linked with that library, by tpm2-tss.
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
    let bench = |library: &str| {
        let mut keymark = place.keymark(&format!(
            "bench --algorithm ed25519 --stack raw --runs 6 --json --library {library}"
        ));
        keymark
            .env("LD_LIBRARY_PATH", broken.path())
            .output()
            .unwrap()
    };
    let output = ended(bench(&format!("openssl,{name}")), 0);
    let said = text(&output.stderr);
    assert_says(&said, [&format!("skipping stack raw {name} on software")]);
    assert_says(&said, [advice]);
    let rows = objects(&text(&output.stdout));
    assert_eq!((rows.len(), &rows[0]["n"]), (1, &6.into()));

    let output = ended(bench(name), 3);
    let said = text(&output.stderr);
    assert_says(&said, [advice]);

    let output = ended(bench("openssl"), 0);
    assert!(!text(&output.stderr).contains(name), "nobody asked for it");
}
