//! What a card in a reader is protected from: writes that stay, PINs that are another's or stay verified.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_stores::card::Slot;
use keymark_stores::openpgp_card::{CardDevice, CardMaker};
use keymark_stores::software::SoftwareStore;
use keymark_testkit::place::{ended, objects, text};
use keymark_testkit::{assert_says, assert_silent};
use nix::sys::signal::Signal;
use serde_json::Value;

use super::{CardPlace, may_write};
use crate::{KEYMARK, tell};

impl CardPlace {
    /// With its owner's keys to sign and decrypt.
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

    /// Whether the user PIN is verified on the card: VERIFY without data asks (§7.2.2).
    fn is_open(&self) -> bool {
        let mut card = self.reader.card.connect();
        let asked = card.transmit(&[0, 0x20, 0, 0x82]).unwrap();
        asked.response == [0x90, 0x00]
    }

    /// It is as it was before, and keymark has nothing more to undo.
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
        "bench --device {serial} --algorithm nistp256 --operation sign,decrypt --stack raw --runs 2 --no-save {}",
        may_write(serial)
    );
    let (status, said) = typed(&place, &arguments, "no");
    assert_eq!(status, Some(1), "{said}");
    assert_says(&said, ["did not agree"]);
    assert_eq!(place.card()["facts"], before["facts"]);
    let (status, said) = typed(&place, &arguments, "yes");
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches("DESTROYED").count(), 2, "{said}");
    assert_eq!(said.matches("Type 'yes'").count(), 1, "{said}");
    for slot in ["SIG", "DEC"] {
        let now = place.card()["facts"][slot][0].to_string();
        assert_says(&now, ["no key"]);
    }
}

#[test]
fn a_slot_that_would_need_two_keys_is_refused_before_anything_is_written() {
    let place = CardPlace::fresh();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap().to_owned();
    let allowed = format!("--admin-pin-env ADMIN --write-to {serial}");
    let refused = ended(
        place.bench(&serial, "cv25519,nistp256,rsa2048", &allowed),
        2,
    );
    let stderr = text(&refused.stderr);
    assert_says(&stderr, ["slot DEC would need", "slot SIG would need"]);
    assert_eq!(place.card()["facts"], before["facts"]);
}

#[test]
fn no_test_key_is_written_for_a_program_that_wants_the_owners_keyring() {
    let place = CardPlace::owned();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap().to_owned();
    let bench = |algorithm: &str, stacks: &str, more: &str| {
        let arguments = format!(
            "bench --device {serial} --algorithm {algorithm} --stack {stacks} --admin-pin-env ADMIN --write-to \
             {serial} --no-save"
        );
        place.output(&format!("{arguments} {more}"))
    };
    for stacks in ["agent", "gnupg", "agent,gnupg,ssh"] {
        ended(bench("nistp256", stacks, ""), 3);
    }
    assert_eq!(place.card()["facts"], before["facts"]);
    // What is there is theirs, and others write to the slot.
    let planned = text(&bench("ed25519", "gnupg", "--dry-run").stdout);
    assert_says(&planned, ["gnupg"]);
    let planned = text(&bench("nistp256", "raw", "--dry-run").stdout);
    assert_says(&planned, ["raw"]);
}

/// A run that writes a test key, under way.
fn writing(place: &CardPlace, serial: &str) -> Child {
    let allowed = format!("--pin-env {serial}=RIGHT --admin-pin-env ADMIN --write-to {serial}");
    place.measuring(serial, "60s", &allowed)
}

#[test]
fn what_a_killed_run_left_is_offered_and_restored() {
    let place = CardPlace::fresh();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap().to_owned();
    let mut child = writing(&place, &serial);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(place.card()["facts"]["DEC"], before["facts"]["DEC"]);
    // Whatever is done next says so, and does not touch the card.
    let listed = text(&place.output("devices").stderr);
    assert_says(&listed, [&format!("token restore {serial}")]);
    let quick = "bench --algorithm ed25519 --runs 1 --no-save";
    let said = text(&place.output(quick).stderr);
    let offer = format!("keymark token restore {serial}");
    assert_says(&said, ["still has a test key of run", &offer]);
    let restore = |more: &str| place.output(&format!("token restore {more}"));
    ended(restore("0badcafe"), 3);
    let wrong = ended(restore(&format!("{serial} --admin-pin-env WRONG")), 1);
    assert!(text(&wrong.stderr).contains("the PIN is wrong"));
    ended(restore(&format!("{serial} --admin-pin-env ADMIN")), 0);
    assert_eq!(place.card()["facts"]["DEC"], before["facts"]["DEC"]);
    assert!(!text(&place.output(quick).stderr).contains("token restore"));
}

#[test]
fn the_next_run_that_may_write_to_the_card_removes_what_was_left() {
    // Another algorithm; and the same again, whose key is there when the card is first looked at.
    for algorithm in ["ed25519", "cv25519"] {
        let place = CardPlace::fresh();
        let before = place.card();
        let serial = before["serial"].as_str().unwrap().to_owned();
        let mut child = writing(&place, &serial);
        child.kill().unwrap();
        child.wait().unwrap();
        let allowed = may_write(&serial);
        let dry = format!("{allowed} --dry-run");
        let planned = place.bench(&serial, algorithm, &dry);
        let said = text(&planned.stderr);
        assert_silent(&said, ["removing what run"]);
        let next = place.bench(&serial, algorithm, &allowed);
        let said = text(&next.stderr);
        assert!(
            next.status.success() && said.contains("removing what run"),
            "{said}"
        );
        let rows = objects(&text(&next.stdout));
        assert!(rows.iter().all(|row| row["n"] == 2), "{said}: {rows:?}");
        for slot in ["SIG", "DEC", "AUT"] {
            assert_eq!(place.card()["facts"][slot], before["facts"][slot]);
        }
    }
}

#[test]
fn a_pin_or_consent_of_another_card_is_wrong_usage() {
    let place = CardPlace::fresh();
    let serial = place.card()["serial"].as_str().unwrap().to_owned();
    let of_another_maker = format!("0bad:{serial}");
    for (write_to, pin, wrong) in [
        (&*serial, "0badcafe=RIGHT", "0badcafe"),
        ("0badcafe", "RIGHT", "0badcafe"),
        (&of_another_maker, "RIGHT", &of_another_maker),
    ] {
        let options = format!("--write-to {write_to} --pin-env {pin}");
        let refused = ended(place.bench(&serial, "ed25519", &options), 2);
        let stderr = text(&refused.stderr);
        assert_says(&stderr, [wrong]);
    }
}

#[test]
fn the_first_signal_restores_the_card_which_does_not_stay_verified() {
    let place = CardPlace::fresh();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap().to_owned();
    let allowed = may_write(&serial);
    let child = writing(&place, &serial);
    assert!(place.is_open(), "during the run");
    tell(&child, Signal::SIGINT);
    let run = ended(child.wait_with_output().unwrap(), 130);
    assert!(!text(&run.stderr).contains("another program"));
    assert!(!place.is_open(), "after it");
    place.assert_restored(&before);
    // GnuPG's scdaemon shares the card: it keeps what it has.
    let scdaemon = Scdaemon::with_the_card(&place);
    let measured = ended(place.bench(&serial, "cv25519", &allowed), 0);
    let said = text(&measured.stderr);
    assert_says(&said, ["another program uses", "stays verified"]);
    drop(scdaemon);
}

/// An scdaemon of somebody else's, with the card in its hands.
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
    let serial = before["serial"].as_str().unwrap().to_owned();
    let child = writing(&place, &serial);
    let of = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap();
    let limits = of("limits");
    let core = limits
        .lines()
        .find(|line| line.contains("core file"))
        .unwrap();
    let values: Vec<_> = core.split_whitespace().collect();
    assert_eq!(values[4..6], ["0", "0"], "{core}");
    // What may not be dumped belongs to root, whoever runs it.
    use std::os::unix::fs::MetadataExt;
    let memory = std::fs::metadata(format!("/proc/{}/mem", child.id())).unwrap();
    assert_eq!((memory.uid(), memory.gid()), (0, 0));
    tell(&child, Signal::SIGTERM);
    ended(child.wait_with_output().unwrap(), 130);
    place.assert_restored(&before);
}

#[test]
fn children_do_not_inherit_the_variable_of_a_pin() {
    let place = CardPlace::fresh();
    let serial = place.card()["serial"].as_str().unwrap().to_owned();
    let devices = format!("{serial},software");
    let arguments = format!(
        "bench --device {devices} --algorithm cv25519 --stack raw,agent,gnupg --precision 0.001% --max-time 60s {}",
        may_write(&serial)
    );
    let mut keymark = place.keymark(&arguments);
    let child = keymark.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.unwrap();
    place.until_measuring();
    let mut seen = 0;
    for process in children_of(&place) {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let environment = text(&environment);
        assert!(!environment.contains("RIGHT=") && !environment.contains("ADMIN="));
        seen += usize::from(!environment.is_empty());
    }
    assert!(seen > 0, "agents run");
    tell(&child, Signal::SIGINT);
    child.wait().unwrap();
}

/// Processes with the place in their arguments, as all have that keymark starts.
fn children_of(place: &CardPlace) -> Vec<u32> {
    let temporary = place.place.temporary().to_string_lossy().into_owned();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        let arguments = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        text(&arguments).contains(&temporary)
    })
    .collect()
}
