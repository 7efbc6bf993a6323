//! The virtual card through pcscd and vpcd, as if it were a real card: what is measured, and what
//! is refused. keymark runs as a child, because libpcsclite finds pcscd by its environment.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keymark_stacks::gnupg::Gnupg;
use keymark_stacks::gnupg::homes::{GnupgHomes, LoadedCard};
use keymark_stacks::gnupg::key_home::KeyHome;
use keymark_stores::device::Run;
use keymark_stores::openpgp_card::{CardMaker, MadeCards};
use keymark_testkit::inserted::CardInReader;
use keymark_testkit::owner::Owner;
use keymark_testkit::place::{Place, objects, said, text};
use keymark_testkit::waiting::{found, until};
use keymark_tokens::card::{Answer, Card, CardFault};
use keymark_tokens::reader::Reader;
use serde_json::Value;

/// A keymark with a card in a reader of its own.
struct CardPlace {
    place: Place,
    reader: CardInReader,
}

impl CardPlace {
    fn with(card: Reader) -> Self {
        Self {
            place: Place::new(env!("CARGO_BIN_EXE_keymark")),
            reader: CardInReader::new(card),
        }
    }

    fn fresh() -> Self {
        Self::with(CardMaker::virtual_card().make().unwrap())
    }

    fn keymark(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.keymark(arguments);
        command
            .env("PCSCLITE_CSOCK_NAME", self.reader.socket())
            .env("RIGHT", "123456")
            .env("WRONG", "654321")
            .env("ADMIN", "12345678");
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.keymark(arguments).output().unwrap()
    }

    /// What `keymark devices` says of the card, once pcscd has seen it.
    fn card(&self) -> Value {
        let is_card = |row: &Value| row["usable"] == true && row["facts"]["reader"].is_array();
        found("pcscd sees the card", || {
            let listed = text(&self.output(&["devices", "--json"]).stdout);
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
    fn bench(&self, serial: &str, algorithms: &str, more: &[&str]) -> Output {
        let common = [
            "bench",
            "--device",
            serial,
            "--algorithm",
            algorithms,
            "--stack",
            "raw",
            "--runs",
            "2",
            "--json",
            "--no-save",
        ];
        self.output(&[&common, more].concat())
    }

    /// Waits until the run under way has saved samples.
    fn until_measuring(&self) {
        until("samples are saved", || {
            let runs = objects(&text(&self.output(&["runs", "--json"]).stdout));
            runs.iter().any(|run| run["samples"].as_u64() > Some(0))
        });
    }
}

#[test]
fn a_pcscd_that_is_killed_ends_the_cards_cases_only() {
    let mut place = CardPlace::fresh();
    let serial = place.card()["serial"].as_str().unwrap().to_owned();
    let devices = format!("{serial},software");
    let arguments = [
        "bench",
        "--device",
        &devices,
        "--algorithm",
        "cv25519",
        "--stack",
        "raw",
        "--precision",
        "0.001%",
        "--max-time",
        "6s",
        "--json",
        "--pin-env",
        "RIGHT",
        "--admin-pin-env",
        "ADMIN",
        "--write-to",
        &serial,
    ];
    let mut keymark = place.keymark(&arguments);
    let piped = std::process::Stdio::piped;
    let child = keymark.stdout(piped()).stderr(piped()).spawn().unwrap();
    place.until_measuring();
    place.reader.pcscd.kill();
    let ended = child.wait_with_output().unwrap();
    let (stdout, stderr) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("SCardTransmit failed"), "{stderr}");
    assert!(
        stderr.contains("keeps a test key"),
        "the user is told: {stderr}"
    );
    let software = stdout
        .lines()
        .find(|line| line.contains("\"software\""))
        .unwrap();
    assert!(software.contains("\"failed\":0"), "{software}");
}

#[test]
fn what_is_no_real_card_is_recorded_as_what_it_is() {
    for (device, provenance) in [("virtual", "virtual"), ("twin:fst-01", "twin")] {
        let maker = CardMaker::named(device).unwrap().unwrap();
        let place = CardPlace::with(maker.make().unwrap());
        let card = place.card();
        assert_eq!(card["provenance"], provenance, "{card}");
        let serial = card["serial"].as_str().unwrap();
        let allowed = ["--pin-env", "RIGHT", "--admin-pin-env", "ADMIN"];
        let allowed = [
            &allowed[..],
            &["--write-to", serial, "--operation", "decrypt"],
        ]
        .concat();
        let measured = place.bench(serial, "rsa2048", &allowed);
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
    assert!(
        facts["reader"][0].as_str().unwrap().contains("Virtual PCD"),
        "{facts}"
    );
    assert!(
        facts["DEC"][0].as_str().unwrap().contains("no key"),
        "{facts}"
    );
    assert!(
        facts["SIG"][0].as_str().unwrap().contains("rsa4096"),
        "{facts}"
    );
    let refused = place.bench(serial, "cv25519", &["--pin-env", "RIGHT"]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    // Another serial number is no permission for this card.
    let other = [
        "--pin-env",
        "RIGHT",
        "--admin-pin-env",
        "ADMIN",
        "--write-to",
        "0badcafe",
    ];
    let refused = place.bench(serial, "cv25519", &other);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    assert!(
        place.card()["facts"]["DEC"][0]
            .as_str()
            .unwrap()
            .contains("no key")
    );
}

#[test]
fn test_keys_are_measured_and_gone_afterwards() {
    let place = CardPlace::fresh();
    let before = place.card();
    let serial = before["serial"].as_str().unwrap().to_owned();
    let allowed = [
        "--pin-env",
        "RIGHT",
        "--admin-pin-env",
        "ADMIN",
        "--write-to",
        &serial,
    ];
    let measured = place.bench(
        &serial,
        "cv25519,nistp256",
        &[&allowed[..], &["--operation", "sign"]].concat(),
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
    let measured = place.bench(&serial, "ed25519", &allowed);
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
    let wrong = [
        "--pin-env",
        "WRONG",
        "--admin-pin-env",
        "ADMIN",
        "--write-to",
        &serial,
    ];
    for (left, said) in [
        (2, "the PIN is wrong; 2 tries"),
        (1, "the PIN is wrong; 1 tries"),
    ] {
        // Several cases, one try.
        let failed = place.bench(&serial, "ed25519,cv25519", &wrong);
        assert_eq!(failed.status.code(), Some(1), "{}", text(&failed.stderr));
        let stderr = text(&failed.stderr);
        assert!(
            stderr.contains(said) && stderr.contains("no PIN is tried twice"),
            "{stderr}"
        );
        assert!(
            !stderr.contains("654321") && !stderr.contains("12345678"),
            "{stderr}"
        );
        assert_eq!(place.tries(), format!("user {left}, reset 0, admin 3"));
    }
    let right = [
        "--pin-env",
        "RIGHT",
        "--admin-pin-env",
        "ADMIN",
        "--write-to",
        &serial,
    ];
    let refused = place.bench(&serial, "cv25519", &right);
    let stderr = text(&refused.stderr);
    assert!(
        stderr.contains("has 1 try left") && stderr.contains("gpg --card-edit"),
        "{stderr}"
    );
    assert_eq!(place.tries(), "user 1, reset 0, admin 3");
}

/// A home of GnuPG's with a key, and a card that holds the same.
fn owner_of(algorithm: &str) -> (GnupgHomes, Arc<KeyHome>, Reader) {
    let homes = GnupgHomes::new(Gnupg::find(None).unwrap()).unwrap();
    let cards = MadeCards::new(CardMaker::virtual_card(), Run::new(0));
    let card = homes.loaded_card(&cards, algorithm.parse().unwrap());
    let LoadedCard { reader, plain, .. } = card.unwrap();
    (homes, plain, reader)
}

fn owner() -> (GnupgHomes, Arc<KeyHome>, Reader) {
    owner_of("cv25519")
}

impl CardPlace {
    /// Measures with the owner's keys, on every layer of GnuPG.
    fn bench_as_owner(&self, owner: &KeyHome, algorithm: &str, operation: &str) -> Output {
        let card = self.card();
        let arguments = [
            "bench",
            "--device",
            card["device"].as_str().unwrap(),
            "--algorithm",
            algorithm,
            "--operation",
            operation,
            "--stack",
            "raw,agent,gnupg",
            "--runs",
            "3",
            "--json",
            "--pin-env",
            "RIGHT",
            "--no-save",
        ];
        let mut keymark = self.keymark(&arguments);
        keymark.env("GNUPGHOME", owner.home.path());
        keymark.output().unwrap()
    }
}

/// Has the card take commands that need the admin PIN.
fn as_admin(reader: &Reader, commands: &[&[u8]]) {
    let mut connection = reader.connect();
    let select: &[u8] = &[0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1];
    let verify = [&[0, 0x20, 0, 0x83, 8][..], b"12345678"].concat();
    for command in [&[select, &verify], commands].concat() {
        let answer = connection.transmit(command).unwrap().response;
        assert_eq!(answer, [0x90, 0x00], "{command:x?}");
    }
}

/// Every layer has measured, and nothing failed.
fn all_layers(measured: &Output) {
    let stdout = text(&measured.stdout);
    let said = format!("{stdout}{}", text(&measured.stderr));
    assert!(measured.status.success(), "{said}");
    for stack in ["raw", "agent", "gnupg"] {
        let row = format!("\"stack\":\"{stack}\"");
        let row = stdout.lines().find(|line| line.contains(&row));
        assert!(row.is_some_and(|row| row.contains("\"n\":3")), "{said}");
    }
}

#[test]
fn gnupg_uses_the_owners_card() {
    let (_homes, owner, reader) = owner();
    let place = CardPlace::with(reader);
    all_layers(&place.bench_as_owner(&owner, "cv25519", "decrypt"));
    assert!(
        owner.home.path().join("pubring.kbx").exists(),
        "the owner's keyring is untouched"
    );
}

#[test]
fn the_owners_card_signs_on_all_layers() {
    for algorithm in ["ed25519", "rsa2048"] {
        let (_homes, owner, reader) = owner_of(algorithm);
        let place = CardPlace::with(reader);
        all_layers(&place.bench_as_owner(&owner, algorithm, "sign"));
    }
}

#[test]
fn calls_through_a_reader_are_one_part() {
    let (_homes, owner, reader) = owner();
    let place = CardPlace::with(reader);
    let card = place.card();
    let arguments = [
        "bench",
        "--device",
        card["device"].as_str().unwrap(),
        "--algorithm",
        "cv25519",
        "--stack",
        "gnupg",
        "--runs",
        "3",
        "--pin-env",
        "RIGHT",
    ];
    let mut keymark = place.keymark(&arguments);
    keymark.env("GNUPGHOME", owner.home.path());
    let shown = text(&keymark.output().unwrap().stdout);
    assert!(
        shown.contains("PC/SC calls (transport and card)"),
        "{shown}"
    );
    assert!(!shown.contains("0.000 ns"), "{shown}");
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
    all_layers(&place.bench_as_owner(&owner, "ed25519", "sign"));
    assert_eq!(place.tries(), "user 3, reset 0, admin 3");
}

#[test]
fn a_key_that_the_owners_keyring_lacks_is_named() {
    let (_homes, owner, reader) = owner_of("rsa2048");
    let fingerprint = [&[0, 0xDA, 0, 0xC7, 20][..], &[0xAB; 20]].concat();
    as_admin(&reader, &[&fingerprint]);
    let place = CardPlace::with(reader);
    let failed = place.bench_as_owner(&owner, "rsa2048", "sign");
    assert_eq!(failed.status.code(), Some(1));
    let stderr = text(&failed.stderr);
    for said in ["slot SIG", &"AB".repeat(20), "--stack raw"] {
        assert_eq!(stderr.matches(said).count(), 2, "{said}: {stderr}");
    }
    assert!(!stderr.contains("passphrase"), "{stderr}");
    all_layers(&place.bench_as_owner(&owner, "rsa2048", "decrypt"));
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
    let card = Reader::new(Box::new(Swapped {
        cards: [wanted, other.remove().unwrap()],
        at_next_select: Arc::clone(&now),
        swapped: false,
    }));
    let place = CardPlace::with(card.clone());
    place.card();
    // keymark finds the application selected; scdaemon selects it again.
    now.store(true, Ordering::Release);
    let failed = place.bench_as_owner(&owner, "ed25519", "sign");
    let stderr = text(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("is given no PIN"), "{stderr}");
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
    assert!(verified.contains("90 00"), "{verified}");
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
    assert!(first.contains(&serial_there), "{first}");
    let scdaemon = || {
        let ask = ["--no-autostart", "SCD GETINFO pid", "/bye"];
        owner.run("gpg-connect-agent", &ask)
    };
    let before = scdaemon();
    let keymark = |arguments: &[&str]| {
        let mut keymark = place.keymark(arguments);
        keymark.env("GNUPGHOME", owner.home()).output().unwrap()
    };

    // Seen, by whom it is held, and left there.
    let listed = keymark(&["devices"]);
    let stdout = text(&listed.stdout);
    for said in ["Virtual PCD 00 00", "your GnuPG's scdaemon", &serial] {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    assert!(
        stdout
            .lines()
            .all(|line| line.len() <= 100 || !line.contains("scdaemon"))
    );
    let rows = objects(&text(&keymark(&["devices", "--json"]).stdout));
    let held = rows
        .iter()
        .find(|row| row["usable"] == false && row["device"].is_null());
    let holder = held.unwrap()["facts"]["held by"][0].as_str().unwrap();
    assert!(holder.contains("scdaemon"), "{holder}");
    assert_eq!(scdaemon(), before, "nobody was disturbed");

    // A card that is not this one is not asked for.
    let other = keymark(&["bench", "--device", "0badcafe", "--stack", "raw"]);
    assert_eq!(other.status.code(), Some(3), "{}", text(&other.stderr));
    assert!(
        text(&other.stderr).contains("is held by"),
        "{}",
        text(&other.stderr)
    );
    assert_eq!(scdaemon(), before, "nobody was disturbed");

    // Borrowed.
    let arguments = [
        "bench",
        "--device",
        &serial,
        "--algorithm",
        "ed25519",
        "--operation",
        "sign",
        "--runs",
        "3",
        "--json",
        "--pin-env",
        "RIGHT",
        "--no-save",
    ];
    let measured = keymark(&arguments);
    all_layers(&measured);
    assert!(text(&measured.stderr).contains("let go of the card"));
    // Given back.
    let again = status();
    assert!(again.contains(&serial_there), "{again}");

    // So does a trace.
    let traced = keymark(&["trace", "--", "gpg", "--batch", "--card-status"]);
    let said = said(&traced);
    assert!(traced.status.success() && said.contains("SELECT"), "{said}");
    assert!(status().contains(&serial_there));
}

#[test]
fn a_card_pulled_out_ends_its_cases_only() {
    let (_homes, _owner, reader) = owner();
    let place = CardPlace::with(reader);
    let serial = place.card()["serial"].as_str().unwrap().to_owned();
    let arguments = [
        "bench",
        "--device",
        &format!("{serial},software"),
        "--algorithm",
        "cv25519",
        "--stack",
        "raw",
        "--precision",
        "0.001%",
        "--max-time",
        "6s",
        "--json",
        "--pin-env",
        "RIGHT",
    ];
    let child = place
        .keymark(&arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    place.until_measuring();
    place.reader.card.remove();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{}", text(&ended.stderr));
    let (stdout, stderr) = (text(&ended.stdout), text(&ended.stderr));
    assert!(
        stderr.contains("pulled out") || stderr.contains("SCardTransmit failed"),
        "{stderr}"
    );
    let software = stdout
        .lines()
        .find(|line| line.contains("\"software\""))
        .unwrap();
    assert!(software.contains("\"failed\":0"), "{software}");
}
