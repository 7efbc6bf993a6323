//! The user's machine is not keymark's: its configuration of OpenSSL, its clock, names that SQLite reads as its own.

use std::os::unix::fs::PermissionsExt;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends as _, Place};

use crate::KEYMARK;

const RUN: &str = "bench --algorithm ed25519 --operation sign --stack raw --samples 5 --no-picture";

#[test]
fn a_configuration_without_the_default_provider_is_named() {
    let place = Place::new(KEYMARK);
    let file = place.path("legacy.cnf");
    let text = "openssl_conf = i\n[i]\nproviders = p\n[p]\nlegacy = l\n[l]\nactivate = 1\n";
    std::fs::write(&file, text).unwrap();
    let refused = place.keymark(RUN).env("OPENSSL_CONF", &file).ends(3);
    let words = "legacy.cnf leaves out the provider 'default'";
    assert_says(&refused.said(), [words]);
}

#[test]
fn a_clock_before_the_archive_is_told() {
    let place = Place::new(KEYMARK);
    place.stdout(RUN);
    let mut record = place.record();
    record["id"] = "20990101-000000-abcd".into();
    record["started"] = "2099-01-01T00:00:00Z".into();
    place.import(&record);
    let told = place.ends(RUN, 0).stderr;
    assert_says(&told, ["this machine's clock is before", "2099-01-01"]);
    let list = place.stdout("runs");
    assert_eq!(list.lines().count(), 3, "{list}");
}

#[test]
fn the_name_of_an_archive_is_that_of_a_file() {
    let place = Place::new(KEYMARK);
    for name in [
        "file:team.sqlite3",
        ":memory:",
        "file:x.sqlite3?mode=memory",
    ] {
        let run = |arguments: &str| {
            let mut keymark = place.keymark(arguments);
            keymark
                .env_remove("KEYMARK_ARCHIVE")
                .args(["--archive", name]);
            keymark.current_dir(place.directory()).ends(0).stdout
        };
        run(RUN);
        assert_eq!(run("runs").lines().count(), 1, "{name}");
        let file = place.path(name).metadata().unwrap();
        assert!(file.len() > 0, "{name}");
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
    }
}
