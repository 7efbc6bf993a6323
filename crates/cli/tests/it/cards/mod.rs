//! The virtual card through pcscd and vpcd, as if it were a real card: what is measured, and what
//! is refused. keymark runs as a child, because libpcsclite finds pcscd by its environment.

mod home;
mod owner;
mod safety;

use std::process::{Child, Command};

use keymark_stores::openpgp_card::CardMaker;
use keymark_stores::tokens::reader::CardReader;
use keymark_testkit::pcscd::CardInReader;
use keymark_testkit::place::{Ends, Place, Transcript, assert_has, objects, text};
use keymark_testkit::waiting::{found, until};
use keymark_testkit::{assert_says, assert_silent};
use serde_json::{Value, json};

use owner::owner_of;

use crate::{KEYMARK, captured, end_of};

/// A keymark with a card in a reader of its own.
struct CardPlace {
    place: Place,
    reader: CardInReader,
}

impl CardPlace {
    fn with(card: CardReader) -> Self {
        Self {
            place: Place::new(KEYMARK),
            reader: CardInReader::new(card),
        }
    }

    fn fresh() -> Self {
        Self::with(CardMaker::virtual_card().make().unwrap())
    }

    fn keymark(&self, arguments: &str) -> Command {
        let mut command = self.place.keymark(arguments);
        command
            .env("PCSCLITE_CSOCK_NAME", self.reader.socket())
            .env("RIGHT", "123456")
            .env("WRONG", "654321")
            .env("ADMIN", "12345678");
        command
    }

    fn ends(&self, arguments: &str, status: i32) -> Transcript {
        self.keymark(arguments).ends(status)
    }

    /// The row of the card among those of `keymark devices`, once pcscd has seen it.
    fn card(&self) -> Value {
        let is_card = |row: &Value| row["usable"] == true && row["facts"]["reader"].is_array();
        found("pcscd sees the card", || {
            let listed = self.ends("devices --format json", 0).rows();
            listed.into_iter().find(is_card)
        })
    }

    fn serial(&self) -> String {
        self.card()["serial"].as_str().unwrap().to_owned()
    }

    fn tries(&self) -> Value {
        self.card()["facts"]["PIN tries"][0].clone()
    }

    /// Measures with test keys written to the card, as far as that is allowed.
    #[track_caller]
    fn bench(&self, serial: &str, algorithms: &str, more: &str, status: i32) -> Transcript {
        let common = "--stack raw --samples 2 --format json --no-save";
        let bench = format!("bench --device {serial} --algorithm {algorithms} {common} {more}");
        self.ends(&bench, status)
    }

    /// Waits until the run under way has saved samples.
    fn until_measuring(&self) {
        until("samples are saved", || {
            let runs = self.keymark("runs --format json").output().unwrap();
            let runs = objects(&text(&runs.stdout));
            runs.iter().any(|run| run["samples"].as_u64() > Some(0))
        });
    }

    /// A run with the card's key, under way: it cannot end but by its time.
    fn measuring(&self, devices: &str, longest: &str, more: &str) -> Child {
        let common = format!(
            "bench --device {devices} --algorithm cv25519 --stack raw --precision 0.001% --case-time {longest} \
             --format json"
        );
        let child = captured(&mut self.keymark(&format!("{common} {more}")));
        self.until_measuring();
        child
    }
}

fn may_write(serial: &str) -> String {
    format!("--pin-env RIGHT --admin-pin-env ADMIN --write-to {serial}")
}

#[test]
fn a_pcscd_that_is_killed_ends_the_cards_cases_only() {
    let mut place = CardPlace::fresh();
    let serial = place.serial();
    let devices = format!("{serial},software");
    let child = place.measuring(&devices, "6s", &may_write(&serial));
    place.reader.pcscd.kill();
    let ended = end_of(child, 1);
    let restore = format!("keymark devices restore {serial}");
    assert_says(&ended.stderr, ["SCardTransmit failed", &restore]);
    let rows = ended.rows();
    let software = rows.iter().find(|row| row["device"] == "software");
    assert_eq!(software.unwrap()["failed"], 0);
}

#[test]
fn what_is_no_real_card_is_recorded_as_what_it_is() {
    for (device, provenance) in [("virtual", "virtual"), ("twin:fst-01", "twin")] {
        let maker = CardMaker::named(device).unwrap().unwrap();
        let place = CardPlace::with(maker.make().unwrap());
        assert_eq!(place.card()["provenance"], provenance);
        let serial = place.serial();
        let allowed = format!("{} --operation decrypt", may_write(&serial));
        let rows = place.bench(&serial, "cv25519", &allowed, 0).rows();
        assert_has(&rows[0], json!({"provenance": provenance, "n": 2}));
    }
}

#[test]
fn a_card_is_described_and_never_written_to_unasked() {
    let place = CardPlace::fresh();
    let card = place.card();
    let serial = card["serial"].as_str().unwrap();
    assert_eq!(card["device"], format!("ff4b:{serial}"));
    assert_eq!(place.tries(), "user 3, reset 0, admin 3");
    let facts = &card["facts"];
    for (fact, word) in [
        ("reader", "Virtual PCD"),
        ("DEC", "no key"),
        ("SIG", "rsa4096"),
    ] {
        assert_says(&facts[fact][0], [word]);
    }
    place.bench(serial, "cv25519", "--pin-env RIGHT", 3);
    let advice = place.ends("advise card --measure", 3);
    assert_says(&advice.stderr, [serial, "gpg --card-edit"]);
    // Another serial number is no permission for this card.
    place.bench(serial, "cv25519", &may_write("0badcafe"), 2);
    assert_eq!(place.card()["facts"], *facts);
}

#[test]
fn test_keys_are_measured_and_gone_afterwards() {
    let place = CardPlace::fresh();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap();
    let allowed = may_write(serial);
    // cv25519 does not sign.
    let signing = format!("{allowed} --operation sign");
    place.bench(serial, "cv25519,nistp256", &signing, 2);
    let rows = place.bench(serial, "cv25519", &allowed, 0).rows();
    assert_has(&rows[0], json!({"n": 2, "provenance": "virtual"}));
    // In full, as two manufacturers may have the same serial number.
    let name = before["facts"]["serial"][0].as_str().unwrap();
    let rows = place.bench(name, "ed25519", &may_write(name), 0).rows();
    assert_eq!(rows.len(), 2, "{rows:?}");
    let after = place.card();
    for fact in ["DEC", "SIG"] {
        assert_eq!(after["facts"][fact], before["facts"][fact]);
    }
    assert_eq!(place.tries(), "user 3, reset 0, admin 3");
}

#[test]
fn a_wrong_pin_is_tried_once_and_none_with_fewer_than_two_tries_left() {
    let place = CardPlace::fresh();
    let serial = place.serial();
    let wrong = may_write(&serial).replace("RIGHT", "WRONG");
    for left in [2, 1] {
        // Several cases, one try, one error.
        let failed = place.bench(&serial, "ed25519,cv25519", &wrong, 1).stderr;
        assert_says(&failed, ["authenticate", "decrypt"]);
        assert_eq!(failed.matches("PIN is wrong").count(), 1, "{failed}");
        assert_silent(&failed, ["654321", "12345678"]);
        assert_eq!(place.tries(), format!("user {left}, reset 0, admin 3"));
    }
    let refused = place.bench(&serial, "cv25519", &may_write(&serial), 1);
    assert_says(&refused.stderr, ["1 try left"]);
    assert_eq!(place.tries(), "user 1, reset 0, admin 3");
}

#[test]
fn the_public_keys_of_a_card_are_seen_without_its_pin() {
    let (_homes, _owner, card) = owner_of("cv25519");
    let place = CardPlace::with(card);
    let before = place.tries();
    let found = place.ends("audit card --format json", 0).rows();
    assert!(
        found.iter().any(|key| key["algorithm"] == "cv25519"),
        "{found:?}"
    );
    let (last, keys) = found.split_last().unwrap();
    assert!(keys.iter().all(|key| key["form"] == "token"), "{found:?}");
    assert_eq!(last["keys"], keys.len());
    assert_eq!(place.tries(), before);
}
