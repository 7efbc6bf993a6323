//! Virtual cards and twins, as a user has them: bench, show, trace, token.

use std::path::Path;

use keymark_testkit::pcscd::PrivatePcscd;
use keymark_testkit::place::{Ends, Place, assert_has};
use keymark_testkit::waiting::found;
use keymark_testkit::{assert_says, assert_silent};
use serde_json::{Value, json};

use crate::{KEYMARK, captured, end_of, interrupt};

/// The twin of a card of that name with these services, as a device.
pub(crate) fn made_up(place: &Place, name: &str, services: &str) -> String {
    let file = place.path(&format!("{name}.toml"));
    let head = format!("schema = 1\nname = '{name}'\nproduct = 'a card'\nsource = 'made up'\n");
    std::fs::write(&file, head + services).unwrap();
    format!("twin:{}", file.display())
}

#[test]
fn all_three_layers_are_measured_with_their_parts() {
    let place = Place::new(KEYMARK);
    let rows = place.bench("--device virtual,twin:fst-01 --algorithm cv25519 --samples 3");
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let (provenance, least) = match row["device"].as_str() {
            Some("virtual") => ("virtual", 0.0),
            _ => ("twin", 0.099),
        };
        assert_has(row, json!({"provenance": provenance, "n": 3, "failed": 0}));
        assert!(row["mean_s"].as_f64().unwrap() >= least, "{row}");
    }
    let record = place.record();
    let cases = record["cases"].as_array().unwrap().iter();
    for case in cases.filter(|case| case["case"]["stack"] != "raw") {
        for part in ["gpg-agent", "scdaemon", "transport", "card", "waiting"] {
            assert_eq!(case["parts"][part]["n"], 3, "{part}: {}", case["parts"]);
        }
    }
    place.assert_gone();
}

#[test]
fn a_named_device_that_has_nothing_of_what_was_asked_for_is_said_to_be_left_out() {
    let place = Place::new(KEYMARK);
    let devices = "bench --device software,twin:yubikey-neo";
    let said = place.refused(
        &format!("{devices} --algorithm ed25519 --stack raw --samples 3"),
        0,
    );
    assert_says(&said, ["skipping twin:yubikey-neo"]);
    assert_silent(&said, ["skipping software"]);
}

#[test]
fn a_twin_does_no_more_than_its_device_and_unknown_ones_are_named() {
    let place = Place::new(KEYMARK);
    for (device, algorithm) in [
        ("twin:yubikey-neo", "rsa4096"),
        ("twin:yubikey-4", "cv25519"),
        ("twin:yubikey-9", "rsa2048"),
    ] {
        let bench = format!("bench --algorithm {algorithm} --samples 1 --device {device}");
        let said = place.refused(&bench, 3);
        assert!(
            said.contains(algorithm) || said.contains("yubikey-9"),
            "{said}"
        );
    }
}

#[test]
fn a_traced_program_shows_what_it_asked_of_the_card() {
    let place = Place::new(KEYMARK);
    let script =
        "echo hello | gpg -q --batch --trust-model always -e -r keymark | gpg -q -d; exit 7";
    let mut trace = place.keymark("trace --device virtual --apdu -- sh -c");
    let shown = trace.arg(script).ends(7).stdout;
    assert!(shown.starts_with("hello\n"), "{shown}");
    assert_says(&shown, ["PSO:DECIPHER", "first", "later", "9000", "card"]);
    assert_silent(&shown, ["123456"]);
    place.assert_gone();
    place.refused("trace --device virtual -- no-such-program", 2);
}

#[test]
fn a_slow_pin_verification_is_made_visible() {
    let place = Place::new(KEYMARK);
    let services = "[[service]]\nalgorithm = 'cv25519'\noperation = 'decrypt'\nconstant_s = 0.05\n\
                    [verify]\nconstant_s = 0.8\n";
    let device = made_up(&place, "slow", services);
    let shown = place.stdout(&format!("trace --device {device} -- true"));
    // How often, and the first one's time: on a busy machine more than the profile has.
    let mut cells = shown
        .lines()
        .find_map(|line| line.strip_prefix("VERIFY PW1 (82)"))
        .unwrap_or_else(|| panic!("{shown}"))
        .split_whitespace();
    let time: f64 = cells.nth(1).unwrap().parse().unwrap();
    let unit = cells.next().unwrap();
    assert!(unit == "s" || unit == "ms" && time >= 800.0, "{shown}");
    assert_says(&shown, ["SELECT", "GET DATA 6E"]);
}

#[test]
fn devices_fit_a_terminal_and_twins_are_a_short_list() {
    let place = Place::new(KEYMARK);
    let [brief, long] = ["devices", "devices --long"].map(|arguments| {
        let mut keymark = place.keymark(arguments);
        let shown = keymark.env("COLUMNS", "100").ends(0).stdout;
        let wide = shown.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{arguments}");
        shown
    });
    assert_says(
        &brief,
        ["software  ", "rsa 1024–4096, ", "twins  ", "twin:fst-01"].map(str::to_owned),
    );
    // What is missing takes what it takes to say.
    let there = brief.split("\nmissing\n").next().unwrap();
    assert!(there.lines().count() <= 24, "{brief}");
    assert_silent(&brief, ["card time"]);
    assert_says(&long, ["assumed as decrypt", "146 ms"]);
}

#[test]
fn a_time_that_nobody_measured_is_said_to_be_assumed_wherever_it_stands() {
    let place = Place::new(KEYMARK);
    let options = "--device twin:yubikey-4 --algorithm rsa2048 --stack raw --samples 2";
    // Two runs, of which one is compared with the other.
    assert!(!place.bench(options).is_empty());
    let rows = place.bench(options);
    assert!(rows.iter().any(|row| row["operation"] == "sign"));
    for row in &rows {
        let assumed = match row["operation"].as_str() {
            Some("decrypt") => Value::Null,
            _ => "as decrypt".into(),
        };
        assert_has(row, json!({"assumed": assumed}));
        assert!(row["mean_s"].as_f64().unwrap() >= 0.146, "{row}");
    }
    for form in [
        "show last",
        "export last --format md",
        "compare last~1 last",
    ] {
        assert_says(&place.stdout(form), ["rsa2048 sign", "(as decrypt)"]);
    }
    place.record();
}

#[test]
fn a_twin_says_what_it_does_and_what_it_has_refused() {
    let place = Place::new(KEYMARK);
    let services = "[[service]]\nalgorithm = 'rsa2048'\noperation = 'decrypt'\nconstant_s = 0.05\n";
    let device = made_up(&place, "decrypts", services);
    let script = "gpg-connect-agent 'SCD SERIALNO' 'SCD APDU 002A9E9A01FF00' /bye >/dev/null";
    let trace = format!("trace --device {device} --algorithm rsa2048 -- sh -c");
    let said = place.keymark(&trace).arg(script).ends(0).stderr;
    assert_says(&said, ["sign         nothing", "(6985)"]);
}

/// A card in a reader of that pcscd, as `devices` names it.
fn inserted(place: &Place, pcscd: &Path) -> String {
    found("pcscd sees the card", || {
        let mut devices = place.keymark("devices --format json");
        let rows = devices.env("PCSCLITE_CSOCK_NAME", pcscd).ends(0).rows();
        let mut cards = rows.iter().filter(|row| row["facts"]["reader"].is_array());
        Some(cards.next()?["device"].as_str()?.to_owned())
    })
}

#[test]
fn a_served_token_is_the_same_card_for_every_program_each_time() {
    let place = Place::new(KEYMARK);
    let mut pcscd = PrivatePcscd::start(place.directory()).unwrap();
    let (state, address) = (place.path("state"), pcscd.vpcd_address());
    let address = format!("twin serve --address {address}");
    let serve = || captured(&mut place.keymark(&format!("{address} --state {}", state.display())));
    let serving = serve();
    let serial = inserted(&place, pcscd.socket());
    // A reader that is taken.
    place.refused(&address, 3);
    interrupt(serving);
    assert!(state.join("external.flash").exists());
    let again = serve();
    assert_eq!(inserted(&place, pcscd.socket()), serial);
    pcscd.kill();
    end_of(again, 1);
    place.refused("twin serve --device yubikey", 2);
}
