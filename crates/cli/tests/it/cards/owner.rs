//! A card with its owner's keys, through every layer of GnuPG, next to the owner's own scdaemon.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keymark_stacks::gnupg::Gnupg;
use keymark_stacks::gnupg::homes::GnupgHomes;
use keymark_stacks::gnupg::key_home::KeyHome;
use keymark_stacks::gnupg::testing::LoadedCard;
use keymark_stores::device::Run;
use keymark_stores::openpgp_card::{CardMaker, VirtualCards};
use keymark_stores::tokens::card::{Answer, Card, CardFault};
use keymark_stores::tokens::reader::CardReader;
use keymark_testkit::place::{Ends as _, Transcript};
use keymark_testkit::{assert_says, assert_silent};

use super::CardPlace;
use super::home::Owner;

/// A home of GnuPG's with a key, and a card that holds the same.
pub(super) fn owner_of(algorithm: &str) -> (GnupgHomes, Arc<KeyHome>, CardReader) {
    let homes = GnupgHomes::new(Gnupg::find(None).unwrap()).unwrap();
    let cards = VirtualCards::new(CardMaker::virtual_card(), Run::new(0));
    let card = homes.loaded_card(&cards, algorithm.parse().unwrap());
    let LoadedCard { reader, plain, .. } = card.unwrap();
    (homes, plain, reader)
}

impl CardPlace {
    /// Measures with the owner's keys, on every layer of GnuPG.
    fn bench_as_owner(
        &self,
        owner: &KeyHome,
        algorithm: &str,
        operation: &str,
        workers: &str,
        status: i32,
    ) -> Transcript {
        let card = self.card();
        let device = card["device"].as_str().unwrap();
        let common = "--stack raw,agent,gpg --samples 3 --format json --pin-env RIGHT --no-save";
        let mut keymark = self.keymark(&format!(
            "bench --device {device} --algorithm {algorithm} --operation {operation} --workers {workers} {common}"
        ));
        keymark.env("GNUPGHOME", owner.home.path()).ends(status)
    }

    /// Every layer measures with the owner's keys, and nothing fails.
    #[track_caller]
    fn assert_all_layers(&self, owner: &KeyHome, algorithm: &str, operation: &str) {
        all_layers(&self.bench_as_owner(owner, algorithm, operation, "1", 0));
    }
}

/// Has the card take commands that need the admin PIN.
fn as_admin(reader: &CardReader, commands: &[&[u8]]) {
    let mut connection = reader.connect();
    let select: &[u8] = &[0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1];
    let verify = [&[0, 0x20, 0, 0x83, 8][..], b"12345678"].concat();
    for command in [&[select, &verify], commands].concat() {
        let answer = connection.transmit(command).unwrap().response;
        assert_eq!(answer, [0x90, 0x00], "{command:x?}");
    }
}

/// Every layer has measured, and nothing failed.
#[track_caller]
fn all_layers(measured: &Transcript) {
    let rows = measured.rows();
    let measured = |stack: &str| {
        rows.iter()
            .any(|row| row["stack"] == stack && row["n"] == 3)
    };
    assert!(
        ["raw", "agent", "gpg"].into_iter().all(measured),
        "{rows:?}"
    );
}

#[test]
fn the_owners_card_works_on_all_layers() {
    for (algorithm, operation) in [
        ("cv25519", "decrypt"),
        ("ed25519", "sign"),
        ("rsa2048", "sign"),
    ] {
        let (_homes, owner, reader) = owner_of(algorithm);
        let place = CardPlace::with(reader);
        place.assert_all_layers(&owner, algorithm, operation);
        // The owner's keyring is untouched.
        assert!(owner.home.path().join("pubring.kbx").exists());
    }
}

#[test]
fn a_card_that_wants_its_pin_for_each_signature_signs_on_all_layers() {
    let (_homes, owner, reader) = owner_of("ed25519");
    // The first octet of C4 (OpenPGP card 3.4.1 §4.4.1).
    as_admin(&reader, &[&[0, 0xDA, 0, 0xC4, 1, 0]]);
    let place = CardPlace::with(reader);
    assert_eq!(
        place.card()["facts"]["signing PIN"][0],
        "needed for every signature"
    );
    place.assert_all_layers(&owner, "ed25519", "sign");
    assert_eq!(place.tries(), "user 3, reset 0, admin 3");

    // Several programs at once would each send a PIN before one has seen it refused.
    let by_two = place.bench_as_owner(&owner, "ed25519", "sign", "2", 1);
    assert_says(&by_two.stderr, ["agent w=2", "gpg w=2", "forcesig"]);
    assert_says(&by_two.stdout, ["\"stack\":\"raw\""]);
}

#[test]
fn a_traced_program_finds_the_pin_verified() {
    let (_homes, owner, reader) = owner_of("ed25519");
    let place = CardPlace::with(reader);
    let card = place.card();
    let serial = card["device"].as_str().unwrap();
    let by_serial = format!("{serial}=RIGHT");
    // There is no terminal that a pinentry could ask on.
    let sign = [
        "sh",
        "-c",
        "test -z \"$RIGHT\" && echo data | gpg --batch --no-tty --sign >\"$SIGNED\"",
    ];
    let signed = place.place.path("signed");
    let traced = |pin: &str, status| {
        let mut keymark = place.keymark(&format!("trace --pin-env {pin} --"));
        keymark.args(sign).env("GNUPGHOME", owner.home.path());
        keymark.env("SIGNED", &signed).ends(status).said()
    };
    for pin in ["RIGHT", &by_serial] {
        let said = traced(pin, 0);
        assert_says(&said, ["PSO:COMPUTE DIGITAL SIGNATURE", "key lookup, PIN"]);
        assert!(std::fs::metadata(&signed).unwrap().len() > 64);
    }
    assert_says(&traced("0badcafe=RIGHT", 3), ["0badcafe"]);
    assert_eq!(place.tries(), "user 3, reset 0, admin 3");
    traced("WRONG", 3);
    assert_eq!(place.tries(), "user 2, reset 0, admin 3");
}

#[test]
fn a_key_that_the_owners_keyring_lacks_is_named() {
    let (_homes, owner, reader) = owner_of("rsa2048");
    let fingerprint = [&[0, 0xDA, 0, 0xC7, 20][..], &[0xAB; 20]].concat();
    as_admin(&reader, &[&fingerprint]);
    let place = CardPlace::with(reader);
    let failed = place.bench_as_owner(&owner, "rsa2048", "sign", "1", 1);
    let stderr = failed.stderr;
    for said in ["slot SIG", &"AB".repeat(20), "--stack raw"] {
        assert_eq!(stderr.matches(said).count(), 1, "{said}: {stderr}");
    }
    assert_silent(&stderr, ["passphrase"]);
    place.assert_all_layers(&owner, "rsa2048", "decrypt");
}

/// Two cards, the second in place of the first from a SELECT on.
struct Swapped {
    cards: [Box<dyn Card>; 2],
    at_next_select: Arc<AtomicBool>,
    swapped: bool,
}

impl Card for Swapped {
    fn atr(&self) -> &[u8] {
        self.cards[0].atr()
    }

    fn power_on(&mut self) {
        self.cards.iter_mut().for_each(|card| card.power_on());
    }

    fn transmit(&mut self, command: &[u8]) -> Result<Answer, CardFault> {
        if command.get(1) == Some(&0xA4) && self.at_next_select.load(Ordering::Acquire) {
            self.swapped = true;
        }
        self.cards[usize::from(self.swapped)].transmit(command)
    }
}

#[test]
fn a_card_that_scdaemon_took_in_place_of_the_wanted_one_gets_no_pin() {
    let (_homes, owner, reader) = owner_of("ed25519");
    let wanted = reader.remove().unwrap();
    let other = CardMaker::virtual_card().make().unwrap();
    let change = [&[0, 0x24, 0, 0x81, 12][..], b"123456654321"].concat();
    as_admin(&other, &[&change]);
    let now = Arc::new(AtomicBool::new(false));
    let card = CardReader::new(Box::new(Swapped {
        cards: [wanted, other.remove().unwrap()],
        at_next_select: Arc::clone(&now),
        swapped: false,
    }));
    let place = CardPlace::with(card.clone());
    place.card();
    // keymark finds the application selected; scdaemon selects it again.
    now.store(true, Ordering::Release);
    let failed = place.bench_as_owner(&owner, "ed25519", "sign", "1", 1);
    assert_says(&failed.stderr, ["no PIN was sent"]);
    let status = card.connect().transmit(&[0, 0xCA, 0, 0xC4, 0]).unwrap();
    assert_eq!(status.response[4..7], [3, 0, 3], "no try is lost");
}

#[test]
fn looking_takes_no_verified_pin_from_a_program_that_shares_the_card() {
    let (_homes, owner, reader) = owner_of("ed25519");
    let place = CardPlace::with(reader);
    place.card();
    let owner = Owner::with_keys_of(owner.home.path(), place.reader.socket());
    owner.configure("pcsc-shared");
    let ask = |command: &str| {
        let command = format!("SCD APDU {command}");
        let asked = ["/hex", "SCD SERIALNO", &command, "/bye"];
        owner.run("gpg-connect-agent", &asked)
    };
    ask("0020008206313233343536");
    let verified = ask("00200082");
    assert_says(&verified, ["90 00"]);
    place.card();
    assert_eq!(ask("00200082"), verified);
}

#[test]
fn a_card_that_the_owners_scdaemon_holds_is_seen_borrowed_and_given_back() {
    let (_homes, owner, reader) = owner_of("ed25519");
    let place = CardPlace::with(reader);
    let serial = place.card()["serial"].as_str().unwrap().to_owned();
    let owner = Owner::with_keys_of(owner.home.path(), place.reader.socket());
    let status = || owner.run("gpg", &["--batch", "--card-status"]);
    let serial_there = serial.to_uppercase();
    let first = status();
    assert_says(&first, [&serial_there]);
    let scdaemon = || {
        let ask = ["--no-autostart", "SCD GETINFO pid", "/bye"];
        owner.run("gpg-connect-agent", &ask)
    };
    let before = scdaemon();
    let keymark = |arguments: &str, status| {
        let mut keymark = place.keymark(arguments);
        keymark.env("GNUPGHOME", owner.home()).ends(status)
    };

    // Seen, by whom it is held, and left there.
    let shown = keymark("devices", 0).stdout;
    assert_says(&shown, ["Virtual PCD 00 00", "your GnuPG's scdaemon"]);
    assert_says(&shown, [&serial]);
    let mut lines = shown.lines();
    assert!(lines.all(|line| line.len() <= 100 || !line.contains("scdaemon")));
    let rows = keymark("devices --format json", 0).rows();
    let held = rows
        .iter()
        .find(|row| row["usable"] == false && row["device"].is_null());
    let holder = held.unwrap()["facts"]["held by"][0].as_str().unwrap();
    assert_says(&holder, ["scdaemon"]);
    assert_eq!(scdaemon(), before, "nobody was disturbed");

    // A card that is not this one is not asked for.
    let other = keymark("bench --device 0badcafe --stack raw", 3);
    assert_says(&other.stderr, ["is using the card"]);
    assert_eq!(scdaemon(), before, "nobody was disturbed");

    // Borrowed.
    let arguments = format!(
        "bench --device {serial} --algorithm ed25519 --operation sign --samples 3 --format json --pin-env RIGHT \
         --no-save"
    );
    let measured = keymark(&arguments, 0);
    all_layers(&measured);
    assert_says(&measured.stderr, ["released the card"]);
    // Given back.
    assert_says(&status(), [&serial_there]);

    // So does a trace.
    let traced = keymark("trace -- gpg --batch --card-status", 0);
    assert_says(&traced.said(), ["SELECT"]);
    assert_says(&status(), [&serial_there]);
}
