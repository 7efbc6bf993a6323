//! Safety of a card in a reader: writes that stay, PINs that are another's or stay verified.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_stores::card::Slot;
use keymark_stores::openpgp_card::{CardDevice, CardMaker};
use keymark_stores::software::SoftwareStore;
use keymark_testkit::place::text;
use keymark_testkit::{assert_says, assert_silent};
use nix::sys::signal::Signal;
use serde_json::Value;

use super::{CardPlace, may_write};
use crate::{KEYMARK, end_of, kill_at_work, tell};

impl CardPlace {
    fn owned() -> Self {
        let maker = CardMaker::virtual_card();
        let reader = maker.make().unwrap();
        let keys = Arc::new(SoftwareStore::default());
        let made = CardDevice::of_virtual(&maker, reader.clone(), Arc::clone(&keys));
        for (name, operation, slot) in [
            ("ed25519", Operation::Sign, Slot::Signature),
            ("cv25519", Operation::Decrypt, Slot::Decryption),
        ] {
            let algorithm = name.parse().unwrap();
            let key = keys.made_for(Capability::new(algorithm, operation));
            made.import(&key.unwrap(), slot).unwrap();
        }
        Self::with(reader)
    }

    /// Asks whether the user PIN is verified on the card: VERIFY without data asks (§7.2.2).
    fn is_open(&self) -> bool {
        let mut card = self.reader.card.connect();
        let asked = card.transmit(&[0, 0x20, 0, 0x82]).unwrap();
        asked.response == [0x90, 0x00]
    }

    /// Asserts that the card is as before, and that no journal is left.
    fn assert_restored(&self, before: &Value) {
        assert_eq!(self.card()["facts"]["DEC"], before["facts"]["DEC"]);
        let journals = self.place.path("state/keymark/journal");
        assert_eq!(std::fs::read_dir(journals).unwrap().count(), 0);
    }
}

/// keymark on a terminal, where the user types that.
fn typed(place: &CardPlace, arguments: &str, answer: &str) -> (Option<i32>, String) {
    let template = place.keymark("");
    let mut script = Command::new("script");
    script.args("--quiet --return --flush --command".split(' '));
    script
        .arg(format!("{KEYMARK} {arguments}"))
        .arg("/dev/null");
    for (name, value) in template.get_envs() {
        script.env(name, value.unwrap());
    }
    let mut child = script
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{answer}\n").as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    drop(stdin);
    (ended.status.code(), text(&ended.stdout))
}

#[test]
fn what_is_destroyed_is_asked_once_for_all_slots() {
    let place = CardPlace::owned();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap();
    let arguments = format!(
        "bench --device {serial} --algorithm nistp256 --operation sign,decrypt --stack raw --samples 2 --no-save {}",
        may_write(serial)
    );
    let (status, said) = typed(&place, &arguments, "no");
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(place.card()["facts"], before["facts"]);
    let (status, said) = typed(&place, &arguments, "yes");
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches("DESTROYED").count(), 2, "{said}");
    assert_eq!(said.matches("Type 'yes'").count(), 1, "{said}");
    let after = place.card();
    for slot in ["SIG", "DEC"] {
        assert_says(&after["facts"][slot][0], ["no key"]);
    }
}

#[test]
fn a_slot_that_would_need_two_keys_is_refused_before_anything_is_written() {
    let place = CardPlace::fresh();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap();
    let refused = place.bench(serial, "cv25519,nistp256,rsa2048", &may_write(serial), 2);
    assert_says(&refused.stderr, ["slot DEC", "slot SIG"]);
    assert_eq!(place.card()["facts"], before["facts"]);
}

#[test]
fn no_test_key_is_written_for_a_program_that_wants_the_owners_keyring() {
    let place = CardPlace::owned();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap();
    let writing = format!("bench --device {serial} --no-save {}", may_write(serial));
    for stacks in ["agent", "gpg", "agent,gpg,ssh"] {
        place.ends(
            &format!("{writing} --algorithm nistp256 --stack {stacks}"),
            3,
        );
    }
    assert_eq!(place.card()["facts"], before["facts"]);
    // The owner's own keys may be used, and others be written for stacks without a keyring.
    for (algorithm, stack) in [("ed25519", "gpg"), ("nistp256", "raw")] {
        let plan = format!("{writing} --algorithm {algorithm} --stack {stack} --dry-run");
        assert_says(&place.ends(&plan, 0).stdout, [stack]);
    }
}

/// A run that writes a test key, under way.
fn writing(place: &CardPlace, serial: &str) -> Child {
    let allowed = format!("--pin-env {serial}=RIGHT --admin-pin-env ADMIN --write-to {serial}");
    place.measuring(serial, "60s", &allowed)
}

fn killed(place: &CardPlace, serial: &str) {
    kill_at_work(writing(place, serial));
}

#[test]
fn what_a_killed_run_left_is_offered_and_restored() {
    let place = CardPlace::fresh();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap();
    killed(&place, serial);
    assert_ne!(place.card()["facts"]["DEC"], before["facts"]["DEC"]);
    // The next commands say so, and do not touch the card.
    let offer = format!("devices restore {serial}");
    let quick = "bench --algorithm ed25519 --samples 1 --no-save";
    for command in ["devices", quick] {
        assert_says(&place.ends(command, 0).stderr, [&offer]);
    }
    place.ends("devices restore 0badcafe", 3);
    place.ends(&format!("{offer} --admin-pin-env WRONG"), 1);
    place.ends(&format!("{offer} --admin-pin-env ADMIN"), 0);
    assert_eq!(place.card()["facts"]["DEC"], before["facts"]["DEC"]);
    assert_silent(&place.ends(quick, 0).stderr, [&offer]);
}

#[test]
fn the_next_run_that_may_write_to_the_card_removes_what_was_left() {
    // Another algorithm; and the same again, whose key is there when the card is first looked at.
    for algorithm in ["ed25519", "cv25519"] {
        let place = CardPlace::fresh();
        let before = place.card();
        let serial = before["serial"].as_str().unwrap();
        killed(&place, serial);
        let allowed = may_write(serial);
        let dry = format!("{allowed} --dry-run");
        let planned = place.bench(serial, algorithm, &dry, 0).stderr;
        assert_silent(&planned, ["removing what run"]);
        let next = place.bench(serial, algorithm, &allowed, 0);
        assert_says(&next.stderr, ["removing what run"]);
        assert!(next.rows().iter().all(|row| row["n"] == 2), "{next:?}");
        let after = place.card();
        for slot in ["SIG", "DEC", "AUT"] {
            assert_eq!(after["facts"][slot], before["facts"][slot]);
        }
    }
}

#[test]
fn the_first_signal_restores_the_card_which_does_not_stay_verified() {
    let place = CardPlace::fresh();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap();
    let child = writing(&place, serial);
    assert!(place.is_open(), "during the run");
    tell(&child, Signal::SIGINT);
    end_of(child, 130);
    assert!(!place.is_open(), "after it");
    place.assert_restored(&before);
    // GnuPG's scdaemon shares the card: it keeps what it has.
    let scdaemon = Scdaemon::with_the_card(&place);
    let measured = place.bench(serial, "cv25519", &may_write(serial), 0);
    assert_says(&measured.stderr, ["stays verified"]);
    drop(scdaemon);
}

/// An scdaemon of another program, with the card in its hands.
struct Scdaemon<'p>(&'p CardPlace);

impl<'p> Scdaemon<'p> {
    fn with_the_card(place: &'p CardPlace) -> Self {
        let home = place.place.path("g");
        std::fs::create_dir(&home).unwrap();
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(home.join("scdaemon.conf"), "disable-ccid\npcsc-shared\n").unwrap();
        let scdaemon = Self(place);
        let said = scdaemon.asked("SCD SERIALNO");
        assert_says(&said, ["D2760001240"]);
        scdaemon
    }

    fn asked(&self, command: &str) -> String {
        let asked = Command::new("gpg-connect-agent")
            .env("GNUPGHOME", self.0.place.path("g"))
            .env("PCSCLITE_CSOCK_NAME", self.0.reader.socket())
            .args([command, "/bye"])
            .output();
        text(&asked.unwrap().stdout)
    }
}

impl Drop for Scdaemon<'_> {
    fn drop(&mut self) {
        self.asked("KILLAGENT");
    }
}

#[test]
fn a_keymark_that_holds_a_pin_keeps_it_to_itself_and_restores_the_card() {
    let place = CardPlace::fresh();
    let before = place.card();
    let child = writing(&place, before["serial"].as_str().unwrap());
    let own = |file: &str| format!("/proc/{}/{file}", child.id());
    let limits = std::fs::read_to_string(own("limits")).unwrap();
    let core = limits.lines().find(|line| line.contains("core file"));
    let values: Vec<_> = core.unwrap().split_whitespace().collect();
    assert_eq!(values[4..6], ["0", "0"], "{core:?}");
    // Memory that may not be dumped belongs to root, not to the user who runs it.
    let memory = std::fs::metadata(own("mem")).unwrap();
    assert_eq!((memory.uid(), memory.gid()), (0, 0));
    tell(&child, Signal::SIGTERM);
    end_of(child, 130);
    place.assert_restored(&before);
}
