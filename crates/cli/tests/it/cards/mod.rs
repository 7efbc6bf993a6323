//! The virtual card through pcscd and vpcd, as if it were a real card: what is measured, and what
//! is refused. keymark runs as a child, because libpcsclite finds pcscd by its environment.

mod home;
mod owner;
mod safety;

use std::process::{Child, Command, Output, Stdio};

use keymark_stores::openpgp_card::CardMaker;
use keymark_stores::tokens::reader::CardReader;
use keymark_testkit::pcscd::CardInReader;
use keymark_testkit::place::{Place, ended, objects, text};
use keymark_testkit::waiting::{found, until};
use keymark_testkit::{assert_says, assert_silent};
use serde_json::Value;

use owner::owner;

use crate::KEYMARK;

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

    fn output(&self, arguments: &str) -> Output {
        self.keymark(arguments).output().unwrap()
    }

    /// What `keymark devices` says of the card, once pcscd has seen it.
    fn card(&self) -> Value {
        let is_card = |row: &Value| row["usable"] == true && row["facts"]["reader"].is_array();
        found("pcscd sees the card", || {
            let listed = text(&self.output("devices --json").stdout);
            objects(&listed).into_iter().find(is_card)
        })
    }

    fn tries(&self) -> String {
        self.card()["facts"]["PIN tries"][0]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Measures with test keys written to the card, as far as that is allowed.
    fn bench(&self, serial: &str, algorithms: &str, more: &str) -> Output {
        let common = format!(
            "bench --device {serial} --algorithm {algorithms} --stack raw --runs 2 --json --no-save"
        );
        self.output(&format!("{common} {more}"))
    }

    /// Waits until the run under way has saved samples.
    fn until_measuring(&self) {
        until("samples are saved", || {
            let runs = objects(&text(&self.output("runs --json").stdout));
            runs.iter().any(|run| run["samples"].as_u64() > Some(0))
        });
    }

    /// A run with the card's key, under way: it cannot end but by its time.
    fn measuring(&self, devices: &str, longest: &str, more: &str) -> Child {
        let common = format!(
            "bench --device {devices} --algorithm cv25519 --stack raw --precision 0.001% --max-time {longest} \
             --json"
        );
        let mut keymark = self.keymark(&format!("{common} {more}"));
        let keymark = keymark.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = keymark.spawn().unwrap();
        self.until_measuring();
        child
    }
}

/// The software's case went on to its end.
fn software_was_measured(stdout: &str) {
    let mut lines = stdout.lines();
    let software = lines.find(|line| line.contains("\"software\"")).unwrap();
    assert_says(&software, ["\"failed\":0"]);
}

/// What lets keymark write to a card.
fn may_write(serial: &str) -> String {
    format!("--pin-env RIGHT --admin-pin-env ADMIN --write-to {serial}")
}

#[test]
fn a_pcscd_that_is_killed_ends_the_cards_cases_only() {
    let mut place = CardPlace::fresh();
    let serial = place.card()["serial"].as_str().unwrap().to_owned();
    let devices = format!("{serial},software");
    let child = place.measuring(&devices, "6s", &may_write(&serial));
    place.reader.pcscd.kill();
    let ended = child.wait_with_output().unwrap();
    let (stdout, stderr) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert_says(&stderr, ["SCardTransmit failed"]);
    assert_says(&stderr, [&format!("keymark token restore {serial}")]);
    software_was_measured(&stdout);
}

#[test]
fn what_is_no_real_card_is_recorded_as_what_it_is() {
    for (device, provenance) in [("virtual", "virtual"), ("twin:fst-01", "twin")] {
        let maker = CardMaker::named(device).unwrap().unwrap();
        let place = CardPlace::with(maker.make().unwrap());
        let card = place.card();
        assert_eq!(card["provenance"], provenance, "{card}");
        let serial = card["serial"].as_str().unwrap();
        let allowed = format!("{} --operation decrypt", may_write(serial));
        let measured = place.bench(serial, "cv25519", &allowed);
        let row = text(&measured.stdout);
        let said = format!("{row}{}", text(&measured.stderr));
        let row: Value = serde_json::from_str(row.trim()).expect(&said);
        assert_eq!(row["provenance"], provenance, "{said}");
        assert_eq!(row["n"], 2, "{said}");
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
    assert_says(&facts["reader"][0].as_str().unwrap(), ["Virtual PCD"]);
    assert_says(&facts["DEC"][0].as_str().unwrap(), ["no key"]);
    assert_says(&facts["SIG"][0].as_str().unwrap(), ["rsa4096"]);
    ended(place.bench(serial, "cv25519", "--pin-env RIGHT"), 3);
    let advice = place.output("advise card --measure");
    let words = text(&advice.stderr);
    ended(advice, 3);
    assert_says(&words, ["has no keys yet", serial, "gpg --card-edit"]);
    // Another serial number is no permission for this card.
    let other = "--pin-env RIGHT --admin-pin-env ADMIN --write-to 0badcafe";
    ended(place.bench(serial, "cv25519", other), 2);
    assert_says(
        &place.card()["facts"]["DEC"][0].as_str().unwrap(),
        ["no key"],
    );
}

#[test]
fn test_keys_are_measured_and_gone_afterwards() {
    let place = CardPlace::fresh();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap().to_owned();
    let allowed = may_write(&serial);
    let measured = place.bench(
        &serial,
        "cv25519,nistp256",
        &format!("{allowed} --operation sign"),
    );
    assert_eq!(
        measured.status.code(),
        Some(2),
        "cv25519 does not sign: {}",
        text(&measured.stderr)
    );
    let measured = place.bench(&serial, "cv25519", &allowed);
    let row: Value = serde_json::from_str(text(&measured.stdout).trim()).unwrap();
    assert_eq!(
        (&row["n"], &row["provenance"]),
        (&2.into(), &"virtual".into())
    );
    // In full, as two manufacturers may have the same serial number.
    let name = before["facts"]["serial"][0].as_str().unwrap();
    let measured = place.bench(name, "ed25519", &may_write(name));
    assert_eq!(
        text(&measured.stdout).lines().count(),
        2,
        "{}",
        text(&measured.stderr)
    );
    let after = place.card();
    assert_eq!(after["facts"]["DEC"], before["facts"]["DEC"]);
    assert_eq!(after["facts"]["SIG"], before["facts"]["SIG"]);
    assert_eq!(place.tries(), "user 3, reset 0, admin 3");
}

#[test]
fn a_wrong_pin_is_tried_once_and_none_with_fewer_than_two_tries_left() {
    let place = CardPlace::fresh();
    let serial = place.card()["serial"].as_str().unwrap().to_owned();
    let wrong = format!("--pin-env WRONG --admin-pin-env ADMIN --write-to {serial}");
    for (left, said) in [
        (2, "the PIN is wrong; 2 tries"),
        (1, "the PIN is wrong; 1 tries"),
    ] {
        // Several cases, one try, one error.
        let failed = ended(place.bench(&serial, "ed25519,cv25519", &wrong), 1);
        let stderr = text(&failed.stderr);
        assert_says(&stderr, [said, "authenticate", "decrypt"]);
        assert_eq!(stderr.matches("PIN is wrong").count(), 1, "{stderr}");
        assert_silent(&stderr, ["654321", "12345678"]);
        assert_eq!(place.tries(), format!("user {left}, reset 0, admin 3"));
    }
    let right = may_write(&serial);
    let refused = place.bench(&serial, "cv25519", &right);
    let stderr = text(&refused.stderr);
    assert_says(&stderr, ["has 1 try left", "gpg --card-edit"]);
    assert_eq!(place.tries(), "user 1, reset 0, admin 3");
}

#[test]
fn a_card_pulled_out_ends_its_cases_only() {
    let (_homes, _owner, reader) = owner();
    let place = CardPlace::with(reader);
    let serial = place.card()["serial"].as_str().unwrap().to_owned();
    let devices = format!("{serial},software");
    let child = place.measuring(&devices, "6s", "--pin-env RIGHT");
    place.reader.card.remove();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{}", text(&ended.stderr));
    let (stdout, stderr) = (text(&ended.stdout), text(&ended.stderr));
    assert!(
        stderr.contains("pulled out") || stderr.contains("SCardTransmit failed"),
        "{stderr}"
    );
    software_was_measured(&stdout);
}

#[test]
fn the_public_keys_of_a_card_are_seen_without_its_pin() {
    let (_homes, _owner, card) = owner();
    let place = CardPlace::with(card);
    let before = place.tries();
    let output = ended(place.output("audit card --json"), 0);
    let found = objects(&text(&output.stdout));
    let algorithms = found.iter().filter_map(|key| key["algorithm"].as_str());
    assert!(
        algorithms.clone().any(|name| name == "cv25519"),
        "{found:?}"
    );
    let (last, keys) = found.split_last().unwrap();
    assert!(keys.iter().all(|key| key["form"] == "token"), "{found:?}");
    assert_eq!(last["keys"], keys.len());
    assert_eq!(place.tries(), before);
    let log = text(&ended(place.output("audit card"), 0).stdout);
    assert_says(&log, ["none is weak"]);
}
