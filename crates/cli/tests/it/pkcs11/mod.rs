//! Tokens behind PKCS#11 modules, as a user has them: SoftHSM2 with keys that OpenSC made, and modules that
//! misbehave.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use keymark_testkit::place::{Place, ended, objects, said, text};
use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken, URI};
use keymark_testkit::{assert_says, assert_silent};

use crate::{KEYMARK, assert_measured};
use misbehaving::Misbehaving;

mod each_use;
mod faults;
pub(crate) mod misbehaving;
mod naming;
mod own;
mod twins;
mod writing;

/// keymark with the user's token and its PIN in `$PIN`.
fn keymark(place: &Place, token: &SoftHsmToken, arguments: &str) -> Command {
    let mut command = place.keymark(arguments);
    command
        .env(CONFIGURATION, token.configuration())
        .env("PIN", PIN);
    command
}

fn bench(place: &Place, token: &SoftHsmToken, device: &str, more: &str) -> Command {
    let mut command = keymark(place, token, &format!("bench --json --device {device}"));
    command
        .args("--pin-env PIN --runs 6".split(' '))
        .args(more.split_whitespace());
    command
}

/// The rows of a run that succeeds.
fn rows(command: &mut Command) -> Vec<serde_json::Value> {
    let output = ended(command.output().unwrap(), 0);
    objects(&text(&output.stdout))
}

#[test]
fn schemes_stand_in_rows_and_records() {
    let place = Place::new(KEYMARK);
    let rows = place.rows(
        "bench --json --device software,softhsm --algorithm rsa2048 --stack raw --runs 6 --scheme \
         pkcs1,pss,oaep,oaep-sha1,pss-hashed --concurrency 1 --processes 2",
    );
    let schemes = |device: &str| -> BTreeSet<_> {
        let of_device = rows.iter().filter(|row| row["device"] == device);
        of_device
            .map(|row| row["parameters"]["scheme"].as_str())
            .collect()
    };
    let both = [None, Some("pss"), Some("oaep-sha1"), Some("pss-hashed")];
    assert_eq!(schemes("softhsm"), both.into());
    assert_eq!(
        schemes("software"),
        both.into_iter().chain([Some("oaep")]).collect()
    );
    assert_measured(&rows, 6);
    let exported = place.stdout("export last --format json");
    assert!(exported.contains(r#""parameters":{"scheme":"pss"}"#));
    let refused = place.refused(
        "bench --device softhsm --algorithm rsa2048 --stack raw --scheme oaep --dry-run",
        3,
    );
    assert_says(&refused, ["raw with oaep does not offer", "raw oaep-sha1"]);
}

#[test]
fn a_users_key_is_measured_by_its_uri() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    for (kind, id, label) in [
        ("rsa:2048", "01", "web"),
        ("EC:prime256v1", "02", "sign"),
        ("EC:edwards25519", "03", "ed"),
        ("EC:brainpoolP256r1", "04", "bp"),
    ] {
        token.make_key(kind, id, label);
    }
    for (object, algorithm, operations) in [
        ("object=web", "rsa2048", 2),
        ("id=%02;type=private", "nistp256", 2),
        ("object=ed", "ed25519", 1),
        ("object=bp", "brainpoolp256r1", 2),
    ] {
        let device = format!("{URI};{object}");
        let workers = "--concurrency 2 --processes 2";
        let rows = rows(&mut bench(&place, &token, &device, workers));
        assert_eq!(rows.len(), 2 * operations, "{rows:?}");
        for row in rows {
            assert_eq!(
                (&row["algorithm"], &row["failed"]),
                (&algorithm.into(), &0.into()),
                "{row}"
            );
        }
    }
    let unknown = ended(
        bench(&place, &token, &format!("{URI};object=other"), "")
            .output()
            .unwrap(),
        3,
    );
    assert_says(&said(&unknown), ["'web' rsa2048"]);
    let other = bench(&place, &token, "pkcs11:token=other", "")
        .output()
        .unwrap();
    assert_says(&said(&other), ["no token 'other'", "softhsm-project:"]);
}

#[test]
fn test_keys_leave_nothing_on_the_users_token() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    token.make_key("EC:prime256v1", "01", "web");
    let list = || {
        let mut list = token.pkcs11_tool();
        text(&token.run(list.arg("--list-objects")).stdout)
    };
    let before = list();
    assert_says(&before, ["web"]);
    // By module and by its file; the name of one with a PIN in a file.
    let pin = token.path("pin");
    std::fs::write(&pin, format!("{PIN}\n")).unwrap();
    let library = SoftHsmToken::library();
    let with_file = format!(
        "{URI}?module-path={}&pin-source=file:{}",
        library.display(),
        pin.display()
    );
    let only = "--algorithm nistp256 --operation sign --processes 2";
    for device in ["softhsm2", library.to_str().unwrap()] {
        assert_eq!(rows(&mut bench(&place, &token, device, only)).len(), 1);
    }
    let mut by_file = keymark(
        &place,
        &token,
        &format!("bench --json --device {with_file} --runs 6"),
    );
    assert_eq!(rows(by_file.args(only.split(' '))).len(), 1);
    let mut writing = bench(&place, &token, "softhsm2", "--write-to 0badcafe");
    let refused = ended(writing.output().unwrap(), 2);
    assert_says(&said(&refused), ["0badcafe"]);
    assert_eq!(list(), before);
}

#[test]
fn a_wrong_pin_is_sent_once() {
    let world = Misbehaving::new(KEYMARK);
    let workers = "--concurrency 1,4 --processes 2";
    let refused = ended(world.run("", "000000", &world.device, workers), 3);
    let refused = said(&refused);
    assert_says(&refused, ["CKR_PIN_INCORRECT"]);
    assert_silent(&refused, ["000000"]);
    assert_eq!(world.logins(), "with a PIN\n");
}

/// Refused here, as no try is to be spent on it; and a line feed behind a right one is none of it.
#[test]
fn what_cannot_be_a_pin_is_not_sent() {
    let world = Misbehaving::new(KEYMARK);
    for pin in ["27\t1828", "271828\n\n", &"9".repeat(129)] {
        let output = world.run("", pin, &world.device, "--operation sign");
        assert!(!output.status.success(), "{pin:?}");
        assert_says(&said(&output), ["was not sent"]);
        assert_eq!(world.logins(), "", "{pin:?}");
    }
    let given = format!("{PIN}\n");
    ended(world.run("", &given, &world.device, "--operation sign"), 0);
    assert_eq!(world.logins().lines().count(), 1);
}

#[test]
fn a_right_pin_is_sent_once_a_process() {
    let world = Misbehaving::new(KEYMARK);
    let workers = "--concurrency 1,4 --processes 2 --operation sign";
    let fine = ended(world.run("", PIN, &world.device, workers), 0);
    assert_eq!(world.logins().lines().count(), 3, "keymark and two workers");
    assert!(!said(&fine).contains(PIN));
}

#[test]
fn the_last_try_and_a_locked_pin_are_left_alone() {
    let world = Misbehaving::new(KEYMARK);
    for (mode, what) in [
        ("final-try", "1 try left"),
        ("locked", "CKF_USER_PIN_LOCKED"),
    ] {
        let refused = world.run(mode, PIN, &world.device, "");
        assert_eq!(refused.status.code(), Some(3), "{mode}: {}", said(&refused));
        assert!(said(&refused).contains(what), "{mode}: {}", said(&refused));
        let mut devices = keymark(&world.place, &world.token, "devices");
        assert!(devices.output().unwrap().status.success());
    }
    assert_eq!(world.logins(), "");
}

#[test]
fn a_token_with_keys_of_its_own_for_the_pin_is_sent_none() {
    let world = Misbehaving::new(KEYMARK);
    // SoftHSM2 itself has no such keys, and refuses.
    let refused = said(&world.run("pad", PIN, &world.device, ""));
    assert_says(&refused, ["enter its PIN there now"]);
    assert_eq!(world.logins(), "without a PIN\n");
}

#[test]
fn a_session_that_is_closed_underneath_ends_its_case_alone() {
    let world = Misbehaving::new(KEYMARK);
    let only = "--operation sign,decrypt";
    let output = ended(world.run("close", PIN, &world.device, only), 1);
    let rows = objects(&text(&output.stdout));
    let failed = |operation: &str| {
        let row = rows.iter().find(|row| row["operation"] == operation);
        row.unwrap()["reason"].to_string()
    };
    assert_says(&failed("sign"), ["CKR_SESSION_HANDLE_INVALID"]);
    assert_eq!(failed("decrypt"), "null", "{rows:?}");
}

#[test]
fn a_token_that_takes_no_key_from_outside_makes_one() {
    let world = Misbehaving::new(KEYMARK);
    let module = world.token.path("misbehaving.so");
    let device = module.to_str().unwrap();
    let only = "--algorithm rsa2048,nistp256,ed25519 --concurrency 2";
    let fine = ended(world.run("no-import", PIN, device, only), 0);
    assert_eq!(objects(&text(&fine.stdout)).len(), 5, "{}", said(&fine));
    let only = "--algorithm nistp256 --processes 2";
    let refused = ended(world.run("no-import", PIN, device, only), 1);
    assert_says(&said(&refused), ["accepts no test keys from outside"]);
}

#[test]
fn of_all_devices_one_that_fails_is_in_nobodys_way() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    // The user's token is sent another PIN than its own. keymark's token of the same library is in another process.
    let only = "--algorithm nistp256 --operation sign --stack raw";
    let mut all = bench(&place, &token, "all", only);
    let output = ended(all.env("PIN", "000000").output().unwrap(), 1);
    let all = objects(&text(&output.stdout));
    let failed: Vec<_> = all.iter().filter(|row| !row["reason"].is_null()).collect();
    assert_eq!(failed.len(), 1, "{all:?}");
    assert_says(&failed[0]["reason"].to_string(), ["CKR_PIN_INCORRECT"]);
    let both = rows(&mut bench(&place, &token, &format!("softhsm,{URI}"), only));
    assert_eq!(both.len(), 2, "{both:?}");
}

/// p11-kit's registration of a module for the user whose configuration is there.
fn register(configuration: &Path, name: &str, file: &Path) {
    let directory = configuration.join("pkcs11/modules");
    std::fs::create_dir_all(&directory).unwrap();
    let text = format!("module: {}\n", file.display());
    std::fs::write(directory.join(format!("{name}.module")), text).unwrap();
}

#[test]
fn modules_that_do_not_work_are_a_line_each() {
    let world = Misbehaving::new(KEYMARK);
    let configuration = world.token.path("config");
    for (name, file) in [
        ("away", world.token.path("away.so")),
        ("foreign", "libm.so.6".into()),
        ("own", world.token.path("misbehaving.so")),
    ] {
        register(&configuration, name, &file);
    }
    let devices = |mode: &str| {
        let mut command = keymark(&world.place, &world.token, "devices --json");
        command.env("XDG_CONFIG_HOME", &configuration);
        let output = ended(
            command.env("KEYMARK_TEST_MODULE", mode).output().unwrap(),
            0,
        );
        let rows = objects(&text(&output.stdout)).into_iter();
        rows.filter(|row| row["store"] == "pkcs11")
            .collect::<Vec<_>>()
    };
    let missing = |rows: &[serde_json::Value], name: &str| {
        let is_it = |row: &&serde_json::Value| row["facts"]["module"][0] == name;
        let row = rows
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("{name}: {rows:?}"));
        row["missing"].to_string()
    };
    let calm = devices("chatter");
    assert_says(&missing(&calm, "away"), ["there is no such file"]);
    assert_says(&missing(&calm, "own"), ["null"]);
    assert!(missing(&devices("crash"), "own").contains("it crashed (SIGSEGV)"));
    assert!(missing(&devices("hang"), "own").contains("not answered for 10 s"));
    assert_eq!(world.logins(), "", "nobody logs in to look");
}

#[test]
fn a_pin_in_a_uri_is_refused() {
    let place = Place::new(KEYMARK);
    let arguments = "bench --device pkcs11:token=a?pin-value=271828";
    let refused = place.refused(arguments, 3);
    assert_says(&refused, ["pin-source=file:"]);
    assert_silent(&refused, ["271828"]);
}
