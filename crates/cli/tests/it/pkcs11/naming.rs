//! Which token and which key a name means, and whose PIN is sent where.

use std::process::{Command, Output};

use keymark_testkit::place::{Place, ended, objects, said, text};
use keymark_testkit::softhsm::{PIN, SoftHsmToken, URI};
use keymark_testkit::{assert_says, assert_silent};

use super::misbehaving::Misbehaving;
use super::{bench, keymark, rows};
use crate::KEYMARK;

/// A token beside the first one, with another PIN and without a key.
const OTHER: &str = "other token";

/// Signs six times.
fn signing(world: &Misbehaving, mode: &str, device: &str, more: &str) -> Output {
    world.run(mode, PIN, device, &format!("--operation sign {more}"))
}

/// A second token behind the same module.
fn with_another() -> Misbehaving {
    let world = Misbehaving::new(KEYMARK);
    let mut util = Command::new("softhsm2-util");
    util.args(["--init-token", "--free", "--label", OTHER]);
    world
        .token
        .run(util.args("--so-pin 31415926 --pin 161803".split(' ')));
    world
}

fn module_of(world: &Misbehaving) -> &str {
    let (_, module) = world.device.split_once('?').unwrap();
    module
}

#[test]
fn a_key_is_looked_for_where_it_shows_and_no_other_token_is_sent_the_pin() {
    let world = with_another();
    let anywhere = format!("pkcs11:object=web?{}", module_of(&world));
    ended(signing(&world, "", &anywhere, ""), 0);
    assert_eq!(world.logins(), "with a PIN\n");
    // One that shows nowhere may be on either, and neither is tried.
    let nowhere = format!("pkcs11:object=away?{}", module_of(&world));
    let refused = ended(signing(&world, "", &nowhere, ""), 3);
    for part in [
        "'my token' (softhsm-project:",
        "'other token' (",
        "token=LABEL",
    ] {
        assert_says(&said(&refused), [part]);
    }
    assert_eq!(world.logins(), "with a PIN\n");
}

#[test]
fn one_pin_is_not_tried_on_two_tokens() {
    let world = with_another();
    let other = format!(
        "pkcs11:token=other%20token;object=web?{}",
        module_of(&world)
    );
    let refused = ended(
        signing(&world, "", &format!("{other},{}", world.device), ""),
        3,
    );
    assert_says(&said(&refused), ["PIN is for one token"]);
    assert_eq!(world.logins(), "");
}

#[test]
fn a_second_key_of_a_token_is_not_left_out_without_a_word() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    token.make_key("EC:prime256v1", "01", "web");
    token.make_key("EC:prime256v1", "02", "mail");
    let (web, mail) = (format!("{URI};object=web"), format!("{URI};object=mail"));
    let refused = bench(&place, &token, &format!("{web},{mail}"), "");
    let refused = ended({ refused }.output().unwrap(), 3);
    assert_says(&said(&refused), ["one after the other"]);
    // The same one twice is one.
    let twice = rows(&mut bench(
        &place,
        &token,
        &format!("{web},{web}"),
        "--operation sign",
    ));
    assert_eq!(twice.len(), 1, "{twice:?}");
}

#[test]
fn slots_with_one_number_are_told_apart_by_their_labels() {
    let world = with_another();
    // Whichever of the two comes first, one of the keys is on the second.
    let mut tool = Command::new("pkcs11-tool");
    tool.arg("--module").arg(SoftHsmToken::library());
    tool.args(["--token-label", OTHER, "--login", "--pin", "161803"]);
    tool.args("--keypairgen --key-type EC:prime256v1".split(' '));
    world
        .token
        .run(tool.args("--id 07 --label second --usage-sign".split(' ')));
    let second = format!(
        "pkcs11:token=other%20token;object=second?{}",
        module_of(&world)
    );
    for (device, pin) in [(&world.device, PIN), (&second, "161803")] {
        let levels = "--operation sign --processes 1,2";
        let fine = world.run("one-serial", pin, device, levels);
        assert!(fine.status.success(), "{device}: {}", said(&fine));
        assert_eq!(objects(&text(&fine.stdout)).len(), 2);
    }
}

#[test]
fn a_module_is_told_in_p_reserved_what_the_uri_or_p11_kit_says() {
    let world = Misbehaving::new(KEYMARK);
    let refused = signing(&world, "reserved", &world.device, "");
    assert_says(&said(&refused), ["C_Initialize failed: CKR_ARGUMENTS_BAD"]);
    let told = format!("{}&x-init-reserved=configdir='sql:/keys'", world.device);
    ended(signing(&world, "reserved", &told, "--processes 1,2"), 0);
    let configuration = world.token.path("config");
    let directory = configuration.join("pkcs11/modules");
    std::fs::create_dir_all(&directory).unwrap();
    let (_, file) = world.device.split_once("module-path=").unwrap();
    let text = format!("module: {file}\nx-init-reserved: configdir='sql:/keys'\n");
    std::fs::write(directory.join("own.module"), text).unwrap();
    let mut registered = world.keymark("reserved", "devices --long");
    let registered = registered.env("XDG_CONFIG_HOME", &configuration).output();
    let shown = said(&registered.unwrap());
    let line = shown.lines().find(|line| line.starts_with("  own "));
    assert!(
        line.is_some_and(|line| line.ends_with("1 token")),
        "{shown}"
    );
}

#[test]
fn a_module_by_whatever_file_is_measured_and_a_proxy_refused_in_words() {
    let world = Misbehaving::new(KEYMARK);
    let plain = world.token.path("module-of-a-maker");
    std::fs::copy(world.token.path("misbehaving.so"), &plain).unwrap();
    let (place, token) = (&world.place, &world.token);
    let only = "--algorithm nistp256 --operation sign";
    let name = plain.display().to_string();
    assert_eq!(rows(&mut bench(place, token, &name, only)).len(), 1);
    let proxy = signing(&world, "instances", &world.device, "");
    assert_says(&said(&proxy), ["it is a proxy", "pkcs11:token=LABEL"]);
    let empty = signing(&world, "empty", &world.device, "");
    assert_says(&said(&empty), ["no token in any slot"]);
}

#[test]
fn a_module_that_gives_out_no_functions_says_so_by_its_code() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    let mut spy = keymark(&place, &token, "bench --device pkcs11-spy.so");
    let refused = said(&spy.env_remove("PKCS11SPY").output().unwrap());
    for part in ["CKR_DEVICE_ERROR", "$PKCS11SPY names"] {
        assert_says(&refused, [part]);
    }
    assert_silent(&refused, ["Function::"]);
}
