//! Virtual cards and twins, as a user has them: bench, show, trace, profile, token.

use std::process::Stdio;

use keymark_testkit::pcscd::PrivatePcscd;
use keymark_testkit::place::{Place, ended, objects, text};
use keymark_testkit::waiting::found;
use keymark_testkit::{assert_says, assert_silent};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::{KEYMARK, tell};

#[test]
fn all_three_layers_are_measured_with_their_parts() {
    let place = Place::new(KEYMARK);
    let devices = "virtual,twin:fst-01";
    let measured = place.stdout(&format!(
        "bench --device {devices} --algorithm cv25519 --runs 3 --json"
    ));
    let rows = objects(&measured);
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let provenance = if row["device"] == "virtual" {
            "virtual"
        } else {
            "twin"
        };
        assert_eq!(row["provenance"], provenance, "{row}");
        assert_eq!((&row["n"], &row["failed"]), (&3.into(), &0.into()), "{row}");
        let least = if provenance == "twin" { 0.099 } else { 0.0 };
        assert!(row["mean_s"].as_f64().unwrap() >= least, "{row}");
    }
    let shown = place.stdout("show last --long");
    assert_says(
        &shown,
        [
            "figures of different kinds",
            "scdaemon",
            "VERIFY",
            "twins beside the published",
        ],
    );
    let exported = place.record();
    let cases = exported["cases"].as_array().unwrap();
    let parts = |case: &&Value| case["case"]["stack"] != "raw";
    for case in cases.iter().filter(parts) {
        for part in ["gpg-agent", "scdaemon", "transport", "card", "waiting"] {
            assert_eq!(case["parts"][part]["n"], 3, "{part}: {}", case["parts"]);
        }
    }
    assert!(place.leftovers().is_empty());
}

#[test]
fn a_named_device_that_has_nothing_of_what_was_asked_for_is_said_to_be_left_out() {
    let place = Place::new(KEYMARK);
    let output = ended(
        place.output(
            "bench --device software,twin:yubikey-neo --algorithm ed25519 --stack raw --runs 3",
        ),
        0,
    );
    let said = text(&output.stderr);
    assert_says(&said, ["skipping twin:yubikey-neo: it offers nothing"]);
    assert_silent(&said, ["skipping software"]);
}

#[test]
fn a_twin_does_no_more_than_its_device_and_unknown_ones_are_named() {
    let place = Place::new(KEYMARK);
    for (device, algorithm, said) in [
        ("twin:yubikey-neo", "rsa4096", "does not offer rsa4096"),
        ("twin:yubikey-4", "cv25519", "does not offer cv25519"),
        ("twin:yubikey-9", "rsa2048", "unknown profile 'yubikey-9'"),
        (
            "no such card",
            "rsa2048",
            "no device matches 'no such card'",
        ),
    ] {
        let mut refused = place.keymark(&format!("bench --algorithm {algorithm} --runs 1"));
        let refused = refused.args(["--device", device]).output().unwrap();
        assert_eq!(refused.status.code(), Some(3), "{device}");
        assert_says(&text(&refused.stderr), [said]);
    }
}

#[test]
fn a_traced_program_shows_what_it_asked_of_the_card() {
    let place = Place::new(KEYMARK);
    let script =
        "echo hello | gpg -q --batch --trust-model always -e -r keymark | gpg -q -d; exit 7";
    let trace = "trace --device virtual --apdu -- sh -c";
    let traced = place.keymark(trace).arg(script).output().unwrap();
    let shown = text(&traced.stdout);
    assert_eq!(traced.status.code(), Some(7), "{}", text(&traced.stderr));
    assert!(shown.starts_with("hello\n"), "{shown}");
    assert_says(
        &shown,
        [
            "PSO:DECIPHER",
            "first",
            "later",
            "9000",
            "before the first call",
            "card",
        ],
    );
    assert_silent(&shown, ["123456"]);
    assert!(place.leftovers().is_empty());
    ended(place.output("trace --device virtual -- no-such-program"), 2);
}

#[test]
fn a_slow_pin_verification_is_made_visible() {
    let place = Place::new(KEYMARK);
    let file = place.path("slow.toml");
    let profile = "schema = 1\nname = 'slow'\nproduct = 'a slow card'\nsource = 'made up'\n\
        [[service]]\nalgorithm = 'cv25519'\noperation = 'decrypt'\nconstant_s = 0.05\n\
        [verify]\nconstant_s = 0.8\n";
    std::fs::write(&file, profile).unwrap();
    let device = format!("twin:{}", file.display());
    let shown = place.stdout(&format!("trace --device {device} -- true"));
    let verify = shown
        .lines()
        .find(|line| line.starts_with("VERIFY PW1 (82)"));
    // VERIFY, PW1, (82), how often, and the first one's time: on a busy machine more than the profile has.
    let words = verify.unwrap_or_default().split_whitespace();
    let [time, unit] = words.skip(4).take(2).collect::<Vec<_>>()[..] else {
        panic!("{shown}");
    };
    let time: f64 = time.parse().unwrap();
    assert!(unit == "s" || unit == "ms" && time >= 800.0, "{shown}");
    assert_says(
        &shown,
        ["SELECT", "GET DATA 6E", "together", "between the calls"],
    );
}

#[test]
fn a_measured_card_becomes_a_twin() {
    let place = Place::new(KEYMARK);
    place.stdout("bench --device twin:fst-01 --algorithm cv25519 --stack raw --runs 20");
    let profile = place.stdout("profile last --name mine");
    let file = place.path("mine.toml");
    std::fs::write(&file, &profile).unwrap();
    let device = format!("twin:{}", file.display());
    let measured = place.stdout(&format!(
        "bench --device {device} --algorithm cv25519 --stack raw --runs 2 --json"
    ));
    let row = &objects(&measured)[0];
    assert_eq!(row["device"], "twin:mine");
    assert!(row["mean_s"].as_f64().unwrap() >= 0.099, "{row}");
    ended(place.output("profile last"), 1);
}

#[test]
fn devices_fit_a_terminal_and_twins_are_a_short_list() {
    let place = Place::new(KEYMARK);
    let shown = |arguments: &str| {
        let mut devices = place.keymark(arguments);
        let output = ended(devices.env("COLUMNS", "100").output().unwrap(), 0);
        text(&output.stdout)
    };
    let screen = shown("devices");
    let (short, full) = (shown("devices --long"), shown("devices --all"));
    for line in screen.lines().chain(short.lines()).chain(full.lines()) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let line = |name: &str| screen.lines().find(|line| line.starts_with(name));
    assert!(
        line("software ").is_some_and(|line| line.contains("rsa 1024–4096, ")),
        "{screen}"
    );
    assert!(
        line("twins ").is_some_and(|line| line.contains("twin:fst-01")),
        "{screen}"
    );
    // What is missing takes what it takes to say.
    let there = screen.split("\nmissing\n").next().unwrap();
    assert!(there.lines().count() <= 24, "{screen}");
    assert_silent(&short, ["card time"]);
    assert_says(
        &short,
        ["sign         rsa2048 rsa4096 (assumed as decrypt)"],
    );
    // Whoever logs in with a key of an HSM asks it for a signature: none authenticates nothing.
    assert_silent(&short, ["authenticate nothing"]);
    assert_says(
        &short,
        ["authenticate with its signing keys, in the same time"],
    );
    assert_says(&full, ["rsa2048 sign (assumed as decrypt) 146 ms"]);
}

#[test]
fn a_time_that_nobody_measured_is_said_to_be_assumed_wherever_it_stands() {
    let place = Place::new(KEYMARK);
    let arguments = "bench --device twin:yubikey-4 --algorithm rsa2048 --stack raw --runs 2 --json";
    // Two runs, of which one is compared with the other.
    assert!(!place.rows(arguments).is_empty());
    let rows = place.rows(arguments);
    for row in &rows {
        let expected = match row["operation"].as_str().unwrap() {
            "decrypt" => Value::Null,
            _ => "as decrypt".into(),
        };
        assert_eq!(row["assumed"], expected, "{row}");
        assert!(row["mean_s"].as_f64().unwrap() >= 0.146, "{row}");
    }
    assert!(rows.iter().any(|row| row["operation"] == "sign"));
    for form in [
        "show last",
        "export last --format markdown",
        "compare last~1 last",
    ] {
        let shown = place.stdout(form);
        assert_says(&shown, ["rsa2048 sign", "assumed (as decrypt)"]);
    }
    let _ = place.record();
}

#[test]
fn a_twin_says_what_it_does_and_what_it_has_refused() {
    let place = Place::new(KEYMARK);
    let file = place.path("decrypts.toml");
    let profile = "schema = 1\nname = 'decrypts'\nproduct = 'a card'\nsource = 'made up'\n\
        [[service]]\nalgorithm = 'rsa2048'\noperation = 'decrypt'\nconstant_s = 0.05\n";
    std::fs::write(&file, profile).unwrap();
    let device = format!("twin:{}", file.display());
    let script = "gpg-connect-agent 'SCD SERIALNO' 'SCD APDU 002A9E9A01FF00' /bye >/dev/null";
    let trace = format!("trace --device {device} --algorithm rsa2048 -- sh -c");
    let traced = place.keymark(&trace).arg(script).output().unwrap();
    let said = text(&traced.stderr);
    assert_says(&said, ["sign         nothing"]);
    assert_says(&said, ["twin:decrypts cannot sign with rsa2048 (6985)"]);
}

/// A card in a reader of that pcscd, as `devices` names it.
fn inserted(place: &Place, pcscd: &PrivatePcscd) -> String {
    found("pcscd sees the card", || {
        let mut devices = place.keymark("devices --json");
        let listed = devices
            .env("PCSCLITE_CSOCK_NAME", pcscd.socket())
            .output()
            .unwrap();
        let is_card = |row: &Value| row["facts"]["reader"].is_array();
        let card = objects(&text(&listed.stdout)).into_iter().find(is_card)?;
        Some(card["device"].as_str()?.to_owned())
    })
}

#[test]
fn a_served_token_is_the_same_card_for_every_program_each_time() {
    let place = Place::new(KEYMARK);
    let mut pcscd = PrivatePcscd::start(place.directory()).unwrap();
    let state = place.path("state");
    let address = pcscd.vpcd_address();
    let arguments = format!(
        "token serve --state {} --address {address}",
        state.display()
    );
    let serve = || {
        let mut keymark = place.keymark(&arguments);
        keymark.stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut serving = serve();
    let serial = inserted(&place, &pcscd);
    let mut devices = place.keymark("devices");
    let listed = devices
        .env("PCSCLITE_CSOCK_NAME", pcscd.socket())
        .output()
        .unwrap();
    assert!(
        text(&listed.stdout).starts_with(&serial),
        "{}",
        text(&listed.stdout)
    );
    let taken = ended(place.output(&format!("token serve --address {address}")), 3);
    let said = text(&taken.stderr);
    assert_says(&said, ["occupied"]);
    tell(&serving, Signal::SIGINT);
    assert!(serving.wait().unwrap().success());
    assert!(state.join("external.flash").exists());

    let again = serve();
    assert_eq!(inserted(&place, &pcscd), serial);
    pcscd.kill();
    let left = ended(again.wait_with_output().unwrap(), 1);
    let said = text(&left.stderr);
    assert_says(&said, ["pcscd has ended"]);
    ended(place.output("token serve --device yubikey"), 2);
}
