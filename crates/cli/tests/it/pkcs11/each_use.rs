//! Keys that want the PIN at each use (`CKA_ALWAYS_AUTHENTICATE`).

use keymark_testkit::place::{Place, ended, said};
use keymark_testkit::softhsm::{PIN, SoftHsmToken, URI};
use keymark_testkit::{assert_says, assert_silent};

use super::{Misbehaving, bench, rows};
use crate::KEYMARK;

/// A key pair that wants the PIN at each use.
fn make_key_with_pin(token: &SoftHsmToken, kind: &str, id: &str, label: &str) {
    let mut tool = token.pkcs11_tool();
    tool.args(["--keypairgen", "--always-auth", "--key-type", kind]);
    tool.args(["--id", id, "--label", label]);
    token.run(tool.args(["--usage-sign", "--usage-decrypt", "--usage-derive"]));
}

#[test]
fn the_pin_is_sent_at_each_use() {
    let mut world = Misbehaving::new(KEYMARK);
    for (kind, id, label) in [("rsa:2048", "05", "each"), ("EC:prime256v1", "06", "curve")] {
        make_key_with_pin(&world.token, kind, id, label);
    }
    world.device = world.device.replace("object=web", "object=each");
    let workers = "--concurrency 2 --scheme pkcs1,pss --warmup 1";
    let fine = ended(world.run("", PIN, &world.device, workers), 0);
    let told = said(&fine);
    assert_says(&told, ["C_Login is timed as well"]);
    assert_silent(&told, [PIN]);
    // RSA decrypts, signs, and signs by PSS: six times each that count, and some that do not.
    let logins = world.logins().lines().count();
    assert!(logins > 3 * 6, "{logins}");
    // C_DeriveKey has no place for it.
    let curve = world.device.replace("object=each", "object=curve");
    let derives = world.run("", PIN, &curve, "--operation decrypt");
    assert!(!derives.status.success(), "{}", said(&derives));
}

#[test]
fn it_is_sent_by_a_process_as_well() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    make_key_with_pin(&token, "EC:prime256v1", "06", "curve");
    let device = format!("{URI};object=curve");
    let rows = rows(&mut bench(&place, &token, &device, "--processes 1"));
    assert_eq!(rows.len(), 1, "it signs: {rows:?}");
    assert_eq!((&rows[0]["n"], &rows[0]["failed"]), (&6.into(), &0.into()));
}

#[test]
fn one_that_is_refused_or_crashes_the_module_is_not_sent_again() {
    for (mode, why) in [
        ("refuse-later", "CKR_PIN_INCORRECT"),
        (
            "crash-at-use",
            "C_Login of misbehaving.so failed: it crashed",
        ),
    ] {
        let mut world = Misbehaving::new(KEYMARK);
        make_key_with_pin(&world.token, "rsa:2048", "05", "each");
        world.device = world.device.replace("object=web", "object=each");
        let refused = ended(world.run(mode, PIN, &world.device, ""), 1);
        assert_says(&said(&refused), [why]);
        let logins = world.logins().lines().count();
        assert_eq!(logins, 2, "{mode}: at the start, and at the first use");
    }
}

#[test]
fn the_last_try_is_left_alone_at_each_use() {
    let mut world = Misbehaving::new(KEYMARK);
    make_key_with_pin(&world.token, "rsa:2048", "05", "each");
    world.device = world.device.replace("object=web", "object=each");
    let refused = ended(world.run("final-try-later", PIN, &world.device, ""), 1);
    assert_says(&said(&refused), ["1 try left"]);
    assert_eq!(
        world.logins().lines().count(),
        1,
        "before the flag was there"
    );
}
