//! Keys that want the PIN at each use (`CKA_ALWAYS_AUTHENTICATE`).

use keymark_testkit::softhsm::{PIN, SoftHsmToken};
use keymark_testkit::{assert_says, assert_silent};

use super::Misbehaving;
use crate::{KEYMARK, assert_measured};

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
    let workers = "--workers 2 --scheme pkcs1,pss --warmup 1";
    let fine = world.run("", PIN, &world.device, workers, 0);
    assert_says(&fine.said(), ["C_Login"]);
    assert_silent(&fine.said(), [PIN]);
    // RSA decrypts, signs, and signs by PSS: six times each that count, and some that do not.
    let logins = world.logins().lines().count();
    assert!(logins > 3 * 6, "{logins}");
    let by_process = world.run("", PIN, &world.device, "--processes 1", 0);
    assert_measured(&by_process.rows(), 6);
    // C_DeriveKey has no place for it.
    let curve = world.device.replace("object=each", "object=curve");
    world.run("", PIN, &curve, "--operation decrypt", 3);
}

/// Sent at the start, and at the first use unless only one try is left then.
#[test]
fn one_that_is_refused_or_crashes_the_module_is_not_sent_again() {
    for (mode, why, sent) in [
        ("refuse-later", "CKR_PIN_INCORRECT", 2),
        ("crash-at-use", "it crashed", 2),
        ("final-try-later", "1 try left", 1),
    ] {
        let mut world = Misbehaving::new(KEYMARK);
        make_key_with_pin(&world.token, "rsa:2048", "05", "each");
        world.device = world.device.replace("object=web", "object=each");
        let refused = world.run(mode, PIN, &world.device, "", 1);
        assert_says(&refused.said(), [why]);
        assert_eq!(world.logins().lines().count(), sent, "{mode}");
    }
}
