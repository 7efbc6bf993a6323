//! Tokens behind PKCS#11 modules, as a user has them: SoftHSM2 with keys that OpenSC made, and modules that
//! misbehave.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use keymark_testkit::place::{Ends, Place, assert_has, text};
use keymark_testkit::softhsm::{CONFIGURATION, LABEL, PIN, SoftHsmToken, URI};
use keymark_testkit::{assert_says, assert_silent};

use serde_json::json;

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
    let mut command = keymark(
        place,
        token,
        &format!("bench --format json --device {device}"),
    );
    command
        .args("--pin-env PIN --samples 6".split(' '))
        .args(more.split_whitespace());
    command
}

/// The rows of a run that succeeds.
fn rows(command: &mut Command) -> Vec<serde_json::Value> {
    command.ends(0).rows()
}

#[test]
fn schemes_stand_in_rows_and_records() {
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--device software,softhsm --algorithm rsa2048 --stack raw --samples 6 --scheme \
         pkcs1,pss,oaep,oaep-sha1,pss-hashed --workers 1 --processes 2",
    );
    let schemes = |device: &str| -> BTreeSet<_> {
        let of_device = rows.iter().filter(|row| row["device"] == device);
        let schemes = of_device.map(|row| row["parameters"]["scheme"].as_str());
        schemes.collect()
    };
    let both = [None, Some("pss"), Some("oaep-sha1"), Some("pss-hashed")];
    assert_eq!(schemes("softhsm"), both.into());
    let all = both.into_iter().chain([Some("oaep")]);
    assert_eq!(schemes("software"), all.collect());
    assert_measured(&rows, 6);
    let exported = place.stdout("export last --format record");
    assert_says(&exported, [r#""parameters":{"scheme":"pss"}"#]);
    let no_oaep = "bench --device softhsm --algorithm rsa2048 --stack raw --scheme oaep --dry-run";
    assert_says(&place.refused(no_oaep, 3), ["oaep-sha1"]);
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
        let workers = "--workers 2 --processes 2";
        let rows = rows(&mut bench(&place, &token, &device, workers));
        assert_eq!(rows.len(), 2 * operations, "{rows:?}");
        for row in rows {
            assert_has(&row, json!({"algorithm": algorithm, "failed": 0}));
        }
    }
    for (device, named) in [
        (format!("{URI};object=other"), "'web' rsa2048"),
        ("pkcs11:token=other".to_owned(), "softhsm-project:"),
    ] {
        assert_says(&bench(&place, &token, &device, "").ends(3).said(), [named]);
    }
}

/// keymark measures neither P-192 nor DSA by PKCS#11.
#[test]
fn keys_that_are_not_measured_are_judged_on_a_token() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    token.make_key("EC:prime192v1", "01", "curve");
    for words in [
        "genpkey -genparam -algorithm DSA -pkeyopt dsa_paramgen_bits:1024 -out parameters",
        "genpkey -paramfile parameters -out key.pem",
        "pkcs8 -topk8 -nocrypt -in key.pem -out dsa.pem",
    ] {
        let mut openssl = Command::new("openssl");
        openssl.args(words.split(' '));
        token.run(openssl.current_dir(token.path("")));
    }
    let mut import = Command::new("softhsm2-util");
    import.arg("--import").arg(token.path("dsa.pem"));
    import.args(["--token", LABEL, "--pin", PIN]);
    token.run(import.args(["--label", "dsa", "--id", "05"]));
    let audit = keymark(&place, &token, &format!("audit {URI} --format json")).ends(1);
    let keys: BTreeSet<_> = audit
        .rows()
        .iter()
        .filter_map(|row| Some(row["algorithm"].as_str()?.to_owned()))
        .collect();
    assert_eq!(
        keys,
        ["dsa1024".to_owned(), "nistp192".to_owned()].into(),
        "{}",
        audit.said()
    );
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
    let library = SoftHsmToken::library().display().to_string();
    let only = "--algorithm nistp256 --operation sign --processes 2";
    for device in ["softhsm2", &library] {
        assert_eq!(rows(&mut bench(&place, &token, device, only)).len(), 1);
    }
    let by_file = format!(
        "bench --format json --device {URI}?module-path={library}&pin-source=file:{} --samples 6 {only}",
        pin.display()
    );
    assert_eq!(rows(&mut keymark(&place, &token, &by_file)).len(), 1);
    let mut writing = bench(&place, &token, "softhsm2", "--write-to 0badcafe");
    assert_says(&writing.ends(2).said(), ["0badcafe"]);
    assert_eq!(list(), before);
}

#[test]
fn a_pin_is_sent_once_a_process_and_a_wrong_one_once() {
    let world = Misbehaving::new(KEYMARK);
    let workers = "--workers 1,4 --processes 2 --operation sign";
    let refused = world.run("", "000000", &world.device, workers, 3).said();
    assert_says(&refused, ["CKR_PIN_INCORRECT"]);
    assert_silent(&refused, ["000000"]);
    assert_eq!(world.logins(), "with a PIN\n");
    let fine = world.run("", PIN, &world.device, workers, 0);
    // Three more: keymark, and two workers.
    assert_eq!(world.logins().lines().count(), 4);
    assert_silent(&fine.said(), [PIN]);
}

/// No try is spent on it; and a line feed behind a right one is none of it.
#[test]
fn what_cannot_be_a_pin_is_not_sent() {
    let world = Misbehaving::new(KEYMARK);
    let only = "--operation sign";
    for pin in ["27\t1828", "271828\n\n", &"9".repeat(129)] {
        let refused = world.run("", pin, &world.device, only, 3).said();
        assert_says(&refused, ["was not sent"]);
        assert_eq!(world.logins(), "", "{pin:?}");
    }
    world.run("", &format!("{PIN}\n"), &world.device, only, 0);
    assert_eq!(world.logins(), "with a PIN\n");
}

#[test]
fn the_last_try_and_a_locked_pin_are_left_alone() {
    let world = Misbehaving::new(KEYMARK);
    for (mode, what) in [
        ("final-try", "1 try left"),
        ("locked", "CKF_USER_PIN_LOCKED"),
    ] {
        assert_says(&world.run(mode, PIN, &world.device, "", 3).said(), [what]);
        keymark(&world.place, &world.token, "devices").ends(0);
    }
    assert_eq!(world.logins(), "");
}

#[test]
fn a_token_with_keys_of_its_own_for_the_pin_is_sent_none() {
    let world = Misbehaving::new(KEYMARK);
    // SoftHSM2 itself has no such keys, and refuses.
    world.run("pad", PIN, &world.device, "", 3);
    assert_eq!(world.logins(), "without a PIN\n");
}

#[test]
fn a_session_that_is_closed_underneath_ends_its_case_alone() {
    let world = Misbehaving::new(KEYMARK);
    let only = "--operation sign,decrypt";
    for row in world.run("close", PIN, &world.device, only, 1).rows() {
        let expected = match row["operation"].as_str() {
            Some("sign") => "CKR_SESSION_HANDLE_INVALID",
            _ => "null",
        };
        assert_says(&row["reason"], [expected]);
    }
}

#[test]
fn a_token_that_takes_no_key_from_outside_makes_one() {
    let world = Misbehaving::new(KEYMARK);
    let module = world.token.path("misbehaving.so").display().to_string();
    let only = "--algorithm rsa2048,nistp256,ed25519 --workers 2";
    assert_eq!(
        world.run("no-import", PIN, &module, only, 0).rows().len(),
        5
    );
    let only = "--algorithm nistp256 --processes 2";
    world.run("no-import", PIN, &module, only, 1);
}

#[test]
fn of_all_devices_one_that_fails_is_in_nobodys_way() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    // The user's token is sent another PIN than its own. keymark's token of the same library is in another process.
    let only = "--algorithm nistp256 --operation sign --stack raw";
    let mut all = bench(&place, &token, "all", only);
    let all = all.env("PIN", "000000").ends(1).rows();
    // A machine that is busy may be too slow for a twin at times, which says so.
    let too_fast = |row: &&serde_json::Value| {
        row["reason"]
            .to_string()
            .contains("too fast to be imitated")
    };
    let failed = |row: &&serde_json::Value| !row["reason"].is_null() && !too_fast(row);
    let failed: Vec<_> = all.iter().filter(failed).collect();
    let [wrong] = failed[..] else {
        panic!("{failed:?}");
    };
    assert_says(&wrong["reason"], ["CKR_PIN_INCORRECT"]);
    assert!(
        all.iter()
            .all(|row| !too_fast(&row) || row["device"].to_string().contains("twin:"))
    );
    let both = rows(&mut bench(&place, &token, &format!("softhsm,{URI}"), only));
    assert_eq!(both.len(), 2, "{both:?}");
}

/// p11-kit's registration of a module for the user whose configuration is there.
fn register(configuration: &Path, name: &str, file: &Path, more: &str) {
    let directory = configuration.join("pkcs11/modules");
    std::fs::create_dir_all(&directory).unwrap();
    let text = format!("module: {}\n{more}\n", file.display());
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
        register(&configuration, name, &file, "");
    }
    let devices = |mode: &str| {
        let mut command = keymark(&world.place, &world.token, "devices --format json");
        command.env("XDG_CONFIG_HOME", &configuration);
        let listed = command.env("KEYMARK_TEST_MODULE", mode).ends(0).rows();
        let tokens = listed.into_iter().filter(|row| row["store"] == "pkcs11");
        tokens.collect::<Vec<_>>()
    };
    let missing = |rows: &[serde_json::Value], name: &str| {
        let is_it = |row: &&serde_json::Value| row["facts"]["module"][0] == name;
        rows.iter().find(is_it).unwrap()["missing"].to_string()
    };
    let calm = devices("chatter");
    assert_ne!(missing(&calm, "away"), "null");
    assert_eq!(missing(&calm, "own"), "null");
    assert_says(&missing(&devices("crash"), "own"), ["SIGSEGV"]);
    assert_says(&missing(&devices("hang"), "own"), ["has not answered for"]);
    assert_eq!(world.logins(), "");
}
