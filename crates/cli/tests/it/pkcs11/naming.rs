//! Names of tokens and keys, and the PINs that are sent to them.

use std::process::Command;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends, Place, Transcript};
use keymark_testkit::softhsm::{PIN, SoftHsmToken, URI};

use super::misbehaving::Misbehaving;
use super::{bench, register, rows};
use crate::KEYMARK;

/// Label and PIN of a second token.
const OTHER: [&str; 2] = ["other token", "161803"];

/// Signs six times.
#[track_caller]
fn signing(world: &Misbehaving, mode: &str, device: &str, status: i32) -> Transcript {
    world.run(
        mode,
        PIN,
        device,
        "--operation sign --processes 1,2",
        status,
    )
}

/// A second token behind the same module, with a key `second`.
fn with_another() -> Misbehaving {
    let world = Misbehaving::new(KEYMARK);
    let [label, pin] = OTHER;
    let mut util = Command::new("softhsm2-util");
    util.args(["--init-token", "--free", "--label", label]);
    world
        .token
        .run(util.args(["--so-pin", "31415926", "--pin", pin]));
    let mut tool = Command::new("pkcs11-tool");
    tool.arg("--module").arg(SoftHsmToken::library());
    tool.args(["--token-label", label, "--login", "--pin", pin]);
    tool.args([
        "--keypairgen",
        "--key-type",
        "EC:prime256v1",
        "--usage-sign",
    ]);
    world
        .token
        .run(tool.args(["--id", "07", "--label", "second"]));
    world
}

fn on_any_token(world: &Misbehaving, label: &str) -> String {
    let (_, module) = world.device.split_once('?').unwrap();
    format!("pkcs11:object={label}?{module}")
}

#[test]
fn a_key_is_looked_for_where_it_shows_and_no_other_token_is_sent_the_pin() {
    let world = with_another();
    let anywhere = on_any_token(&world, "web");
    let once = world.run("", PIN, &anywhere, "--operation sign", 0);
    assert_eq!(world.logins(), "with a PIN\n", "{once:?}");
    // One that shows nowhere may be on either, and neither is tried.
    let refused = signing(&world, "", &on_any_token(&world, "away"), 3).said();
    assert_says(&refused, ["'my token'", "'other token'", "token=LABEL"]);
    assert_eq!(world.logins(), "with a PIN\n");
}

#[test]
fn one_pin_is_not_tried_on_two_tokens() {
    let world = with_another();
    let other = on_any_token(&world, "web").replace(':', ":token=other%20token;");
    let both = format!("{other},{}", world.device);
    assert_says(
        &signing(&world, "", &both, 3).said(),
        ["PIN is for one token"],
    );
    assert_eq!(world.logins(), "");
}

#[test]
fn a_second_key_of_a_token_is_not_left_out_without_a_word() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    token.make_key("EC:prime256v1", "01", "web");
    token.make_key("EC:prime256v1", "02", "mail");
    let [web, mail] = ["web", "mail"].map(|label| format!("{URI};object={label}"));
    bench(&place, &token, &format!("{web},{mail}"), "").ends(3);
    // The same one twice is one.
    let twice = format!("{web},{web}");
    let twice = rows(&mut bench(&place, &token, &twice, "--operation sign"));
    assert_eq!(twice.len(), 1, "{twice:?}");
}

#[test]
fn slots_with_one_number_are_told_apart_by_their_labels() {
    let world = with_another();
    // Whichever of the two comes first, one of the keys is on the second.
    let second = on_any_token(&world, "second").replace(':', ":token=other%20token;");
    for (device, pin) in [(&world.device, PIN), (&second, OTHER[1])] {
        let levels = "--operation sign --processes 1,2";
        let rows = world.run("one-serial", pin, device, levels, 0).rows();
        assert_eq!(rows.len(), 2, "{rows:?}");
    }
}

#[test]
fn a_module_is_told_in_p_reserved_what_the_uri_or_p11_kit_says() {
    let world = Misbehaving::new(KEYMARK);
    let refused = signing(&world, "reserved", &world.device, 3).said();
    assert_says(&refused, ["CKR_ARGUMENTS_BAD"]);
    let told = format!("{}&x-init-reserved=configdir='sql:/keys'", world.device);
    signing(&world, "reserved", &told, 0);
    let configuration = world.token.path("config");
    let told = "x-init-reserved: configdir='sql:/keys'";
    register(
        &configuration,
        "own",
        &world.token.path("misbehaving.so"),
        told,
    );
    let mut listed = world.keymark("reserved", "devices --format json");
    let listed = listed.env("XDG_CONFIG_HOME", &configuration).ends(0).rows();
    let mut own = listed
        .iter()
        .filter(|row| row["facts"]["module"][0] == "own");
    assert!(own.all(|row| row["usable"] == true), "{listed:?}");
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
    for (mode, word) in [("instances", "proxy"), ("empty", "no token")] {
        assert_says(&signing(&world, mode, &world.device, 3).said(), [word]);
    }
}
