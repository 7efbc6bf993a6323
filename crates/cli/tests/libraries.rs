//! Other libraries than the one that is built in, as a user has them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::collections::BTreeSet;

use keymark_testkit::place::{Place, objects, short_directory, text};

const KEYMARK: &str = env!("CARGO_BIN_EXE_keymark");

#[test]
fn the_layers_of_gnupg_stand_on_libgcrypt_with_openssl_beside() {
    let place = Place::new(KEYMARK);
    #[rustfmt::skip]
    let rows = place.rows(&[
        "bench", "--algorithm", "rsa2048,ed25519", "--operation", "sign", "--stack", "raw,agent", "--runs", "6",
        "--library", "openssl,libgcrypt", "--json",
    ]);
    let ways: BTreeSet<_> = rows
        .iter()
        .map(|row| (row["stack"].as_str(), row["library"].as_str()))
        .collect();
    let libgcrypt = (Some("raw"), Some("libgcrypt"));
    let all = [(Some("raw"), None), libgcrypt, (Some("agent"), None)];
    assert_eq!(ways, all.into());
    for row in &rows {
        assert_eq!((&row["n"], &row["failed"]), (&6.into(), &0.into()), "{row}");
    }
    let shown = place.stdout(&["show", "--wide"]);
    assert!(shown.contains("libgcrypt 1."), "the version: {shown}");
    assert!(shown.contains("raw is libgcrypt") && !shown.contains("holds the difference"));
    let exported = place.stdout(&["export", "last", "--format", "json"]);
    assert!(exported.contains(r#""parameters":{"library":{"library":"libgcrypt"}}"#));
}

#[test]
fn processes_load_it_for_themselves() {
    let place = Place::new(KEYMARK);
    #[rustfmt::skip]
    let rows = place.rows(&[
        "bench", "--algorithm", "elg2048,nistp384,ed448", "--stack", "raw", "--library", "libgcrypt",
        "--processes", "2", "--runs", "4", "--json",
    ]);
    // The curve of NIST signs and derives.
    assert_eq!(rows.len(), 4, "{rows:?}");
    for row in &rows {
        assert_eq!(
            (&row["worker"], &row["failed"]),
            (&"process".into(), &0.into())
        );
    }
}

/// A file by its name that is none comes first, as far as the loader is concerned.
#[test]
fn without_libgcrypt_the_others_go_on_and_what_brings_it_is_said() {
    let place = Place::new(KEYMARK);
    let broken = short_directory();
    std::fs::write(broken.path().join("libgcrypt.so.20"), "").unwrap();
    let bench = |library: &str| {
        #[rustfmt::skip]
        let mut keymark = place.keymark(&[
            "bench", "--algorithm", "ed25519", "--stack", "raw", "--runs", "6", "--json", "--library", library,
        ]);
        keymark
            .env("LD_LIBRARY_PATH", broken.path())
            .output()
            .unwrap()
    };
    let output = bench("openssl,libgcrypt");
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("stack raw libgcrypt to software is left out"),
        "{said}"
    );
    assert!(said.contains("apt-get install libgcrypt20"), "{said}");
    let rows = objects(&text(&output.stdout));
    assert_eq!((rows.len(), &rows[0]["n"]), (1, &6.into()));

    let output = bench("libgcrypt");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("apt-get install libgcrypt20"), "{said}");

    let output = bench("openssl");
    assert!(output.status.success());
    assert!(
        !text(&output.stderr).contains("libgcrypt"),
        "nobody asked for it"
    );
}
