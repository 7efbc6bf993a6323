//! Every fault at every step: a card is pulled out, swapped for another, reset by another program, or does
//! not answer, before and after each command of selecting, verifying, operating, importing and restoring.
//!
//! Whatever happens, no more than one try of a PIN is lost, no other card is sent a PIN or a write, and every
//! change is undone or stands in the journal, by which a later keymark undoes it (docs/safety.md).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::Input;
use keymark_stores::journal::Journals;
use keymark_stores::openpgp_card::{
    CardDevice, CardFacts, CardMaker, CardPlace, Channel, KeyPresence, Port, Reset, Slot,
    VirtualPort,
};
use keymark_stores::store::KeyStore;
use keymark_stores::user::{Consent, Notice, Pin, PinSource, Pins, Touch, User};
use keymark_tokens::card::{Answer, Card, CardFault};
use keymark_tokens::firmware::{Firmware, FirmwareOptions};
use keymark_tokens::reader::Reader;

const VERIFY: u8 = 0x20;
const USER_PIN: &str = "123456";
const ADMIN_PIN: &str = "12345678";
const WRONG_PIN: &str = "654321";
const SELECT: [u8; 12] = [0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0];
/// PUT DATA C3.
const ED25519_FOR_AUT: [u8; 15] = [
    0, 0xDA, 0, 0xC3, 10, 0x16, 0x2B, 6, 1, 4, 1, 0xDA, 0x47, 0x0F, 1,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The card is pulled out, and stays out.
    Pulled,
    /// It is pulled out, and another put in its place.
    Swapped,
    /// Another program resets it.
    Reset,
    /// The command does not arrive.
    Lost,
    /// The command arrives, and its response does not.
    Unanswered,
}

impl Fault {
    const ALL: [Self; 5] = [
        Self::Pulled,
        Self::Swapped,
        Self::Reset,
        Self::Lost,
        Self::Unanswered,
    ];
}

/// When a fault strikes: before so many more commands have been sent.
#[derive(Default)]
struct Script {
    strike: Option<(Fault, usize)>,
    sent: usize,
    /// The card that was taken out.
    taken: Option<Box<dyn Card>>,
    /// The one that is put in its place.
    other: Option<Box<dyn Card>>,
}

/// A reader to which the script happens.
#[derive(Clone)]
struct Stage {
    reader: Reader,
    script: Arc<Mutex<Script>>,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stage")
    }
}

impl Port for Stage {
    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        Ok(Box::new(StagedChannel {
            card: VirtualPort(self.reader.clone()).connect()?,
            stage: self.clone(),
        }))
    }

    fn reader(&self) -> String {
        "stage".to_owned()
    }

    fn atr(&self) -> Result<Vec<u8>, Error> {
        VirtualPort(self.reader.clone()).atr()
    }

    fn reset(&self) -> Result<Reset, Error> {
        VirtualPort(self.reader.clone()).reset()
    }
}

struct StagedChannel {
    card: Box<dyn Channel>,
    stage: Stage,
}

impl Channel for StagedChannel {
    fn transmit(&mut self, command: &[u8], response: &mut Vec<u8>) -> Result<(), Error> {
        let gone = |what: &str| Error::call("SCardTransmit", what, "");
        let mut script = self.stage.script.lock().unwrap();
        let strikes = script.strike.filter(|(_, at)| *at == script.sent);
        script.sent += 1;
        let reader = &self.stage.reader;
        match strikes.map(|(fault, _)| fault) {
            Some(Fault::Pulled) => script.taken = reader.remove(),
            Some(Fault::Swapped) => {
                script.taken = reader.remove();
                reader.insert(script.other.take().unwrap());
            }
            Some(Fault::Reset) => drop(reader.connect().power_on()),
            Some(Fault::Lost) => return Err(gone("the command was lost")),
            Some(Fault::Unanswered) => {
                self.card.transmit(command, response)?;
                return Err(gone("the response was lost"));
            }
            None => {}
        }
        drop(script);
        self.card.transmit(command, response)
    }
}

impl Stage {
    fn arm(&self, fault: Fault, at: usize) {
        let mut script = self.script.lock().unwrap();
        script.sent = 0;
        script.strike = Some((fault, at));
    }

    /// The first card is in the reader again. Says whether the fault had struck.
    fn disarm(&self) -> bool {
        let mut script = self.script.lock().unwrap();
        let struck = script.strike.take().is_some_and(|(_, at)| script.sent > at);
        if let Some(card) = script.taken.take() {
            script.other = self.reader.remove().or(script.other.take());
            self.reader.insert(card);
        }
        struck
    }
}

/// What another card is sent that could harm it.
#[derive(Clone, Default)]
struct Harm(Arc<Mutex<Vec<Vec<u8>>>>);

/// A card that nobody has said anything about.
struct Bystander {
    card: Firmware,
    harm: Harm,
}

impl Card for Bystander {
    fn atr(&self) -> &[u8] {
        self.card.atr()
    }

    fn power_on(&mut self) {
        self.card.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Result<Answer, CardFault> {
        // SELECT, GET DATA, and reading a public key: what any program may ask of any card.
        let reads = matches!(
            command,
            [_, 0xA4 | 0xCA | 0xCB | 0xC0, ..] | [_, 0x47, 0x81, ..]
        );
        if !reads {
            self.harm.0.lock().unwrap().push(command.to_vec());
        }
        self.card.transmit(command)
    }
}

struct Silent;

impl Notice for Silent {
    fn tell(&self, _: &str) {}

    fn agrees(&self, _: &str) -> bool {
        true
    }
}

/// A card with an ed25519 key to sign with, two other slots that are empty, and somebody else's card.
struct Theatre {
    stage: Stage,
    harm: Harm,
    before: CardFacts,
    directory: tempfile::TempDir,
}

fn firmware(serial: [u8; 4]) -> Firmware {
    Firmware::new(FirmwareOptions {
        serial: Some(serial),
        ..FirmwareOptions::default()
    })
    .unwrap()
}

impl Theatre {
    fn new() -> Self {
        let reader = Reader::new(Box::new(firmware([0x0A, 0x1B, 0x2C, 0x3D])));
        let keys = Arc::default();
        let maker = CardMaker::virtual_card();
        let made = CardDevice::of_made(&maker, reader.clone(), Arc::clone(&keys));
        let capability = Capability {
            algorithm: "ed25519".parse().unwrap(),
            operation: Operation::Sign,
        };
        let key = keys.made_for(capability).unwrap();
        made.import(&key, Slot::Signature).unwrap();
        made.allow_many_signatures().unwrap();
        let mut channel = VirtualPort(reader.clone()).connect().unwrap();
        for command in [
            &SELECT[..],
            b"\x00\x20\x00\x83\x0812345678",
            &ED25519_FOR_AUT,
        ] {
            let mut answer = Vec::new();
            channel.transmit(command, &mut answer).unwrap();
            assert_eq!(answer, [0x90, 0x00]);
        }
        let harm = Harm::default();
        let other = Bystander {
            card: firmware([0x0B, 0xAD, 0xCA, 0xFE]),
            harm: harm.clone(),
        };
        let script = Script {
            other: Some(Box::new(other)),
            ..Script::default()
        };
        let mut theatre = Self {
            stage: Stage {
                reader,
                script: Arc::new(Mutex::new(script)),
            },
            harm,
            before: made.facts().unwrap().clone(),
            directory: tempfile::tempdir().unwrap(),
        };
        theatre.before = theatre.facts();
        theatre
    }

    fn journals(&self) -> Journals {
        Journals::within(self.directory.path().join("journal"))
    }

    /// keymark, which has looked at the card before anything happens to it.
    fn device(&self, user: &str) -> CardDevice {
        let known = |pin: &str| PinSource::Known(Pin::new(pin));
        let user = User {
            pins: Pins {
                user: known(user),
                admin: known(ADMIN_PIN),
            },
            consent: Consent {
                touch: Touch::Refused,
                write: Some(self.before.serial),
            },
            notice: Arc::new(Silent),
        };
        let place = CardPlace::Pcscd("stage".to_owned());
        let identity = CardMaker::virtual_card().identity();
        let device = CardDevice::new(Arc::new(self.stage.clone()), place, &identity, user);
        device.journal_to(self.journals(), "20261121-0415");
        device
    }

    fn facts(&self) -> CardFacts {
        self.device(USER_PIN).facts().unwrap().clone()
    }

    /// What has to be so after any fault, with the first card in its reader again.
    fn inspect(&self, scene: &str, tries: u8) -> CardFacts {
        let harm = self.harm.0.lock().unwrap().clone();
        assert!(
            harm.is_empty(),
            "{scene}: the other card was sent {harm:x?}"
        );
        let facts = self.facts();
        assert!(
            facts.tries.user >= tries && facts.tries.admin == 3,
            "{scene}: {:?} are left",
            facts.tries
        );
        facts
    }

    /// A keymark that finds what another has left: afterwards everything is as it was.
    fn tidy(&self, scene: &str) {
        let facts = self.facts();
        let left = self.journals().left();
        assert!(left.unreadable.is_empty(), "{scene}");
        if left.journals.is_empty() {
            assert_eq!(facts.slots, self.before.slots, "{scene}: and no journal");
            return;
        }
        for journal in left.journals {
            self.device(USER_PIN).undo(journal).expect(scene);
        }
        assert_eq!(self.facts().slots, self.before.slots, "{scene}: restored");
        assert!(self.journals().left().journals.is_empty(), "{scene}");
        assert_eq!(files(&self.directory.path().join("journal")), 0, "{scene}");
    }
}

fn files(directory: &Path) -> usize {
    std::fs::read_dir(directory).map_or(0, Iterator::count)
}

/// Does `act` once for each fault before each of its commands, until no fault strikes any more.
fn every_fault(
    what: &str,
    mut prepare: impl FnMut(&Theatre) -> CardDevice,
    mut act: impl FnMut(&CardDevice) -> Result<(), Error>,
    mut afterwards: impl FnMut(&Theatre, CardDevice, &str),
) {
    for fault in Fault::ALL {
        let theatre = Theatre::new();
        let mut at = 0;
        loop {
            let scene = format!("{what}, {fault:?} at command {at}");
            let device = prepare(&theatre);
            theatre.stage.arm(fault, at);
            let ended = act(&device);
            // keymark goes on with whatever is in the reader now.
            let _ = act(&device);
            if !theatre.stage.disarm() {
                assert!(at > 0, "{what} sends no command");
                assert!(ended.is_ok(), "{scene} without a fault: {ended:?}");
                afterwards(&theatre, device, &scene);
                break;
            }
            afterwards(&theatre, device, &scene);
            at += 1;
        }
    }
}

fn signed(device: &CardDevice) -> Result<(), Error> {
    let mut handle = device.open(&KeyRef {
        algorithm: "ed25519".parse().unwrap(),
        operation: Operation::Sign,
        label: String::new(),
    })?;
    let input = Input { bytes: vec![7; 32] };
    handle.arm(&input)?;
    handle.perform(&input, &mut [0; 1024]).map(drop)
}

#[test]
fn selecting() {
    every_fault(
        "selecting",
        |theatre| theatre.device(USER_PIN),
        |device| device.facts().map(drop),
        |theatre, _, scene| drop(theatre.inspect(scene, 3)),
    );
}

#[test]
fn verifying_the_right_pin() {
    every_fault(
        "verifying",
        |theatre| {
            let device = theatre.device(USER_PIN);
            device.facts().unwrap();
            device
        },
        |device| device.user_pin().map(drop),
        |theatre, device, scene| {
            theatre.inspect(scene, 3);
            // And again, with the same keymark.
            let _ = device.user_pin();
            theatre.inspect(scene, 3);
        },
    );
}

#[test]
fn verifying_a_wrong_pin() {
    for fault in Fault::ALL {
        // One card each time: a try may be lost.
        for at in 0.. {
            let scene = format!("verifying a wrong PIN, {fault:?} at command {at}");
            let theatre = Theatre::new();
            let device = theatre.device(WRONG_PIN);
            device.facts().unwrap();
            theatre.stage.arm(fault, at);
            for _ in 0..2 {
                assert!(device.user_pin().is_err(), "{scene}");
            }
            let struck = theatre.stage.disarm();
            for _ in 0..3 {
                assert!(
                    device.user_pin().is_err() && signed(&device).is_err(),
                    "{scene}"
                );
            }
            theatre.inspect(&scene, 2);
            if !struck {
                break;
            }
        }
    }
}

#[test]
fn operating() {
    every_fault(
        "operating",
        |theatre| {
            let device = theatre.device(USER_PIN);
            device.facts().unwrap();
            device
        },
        signed,
        |theatre, device, scene| {
            // The card goes on where the reader does, or says why not.
            let _ = signed(&device);
            theatre.inspect(scene, 3);
        },
    );
}

/// In a slot whose attributes change, and in one whose attributes stay.
const WRITTEN: [(Slot, &str); 2] = [
    (Slot::Decryption, "cv25519"),
    (Slot::Authentication, "ed25519"),
];

#[test]
fn importing() {
    for (slot, algorithm) in WRITTEN {
        every_fault(
            "importing",
            |theatre| {
                let device = theatre.device(USER_PIN);
                device.facts().unwrap();
                device
            },
            |device| device.write_test_key(slot, algorithm.parse().unwrap()),
            |theatre, device, scene| {
                theatre.inspect(scene, 3);
                // This keymark is killed: the next one finds the journal.
                drop(device);
                theatre.tidy(scene);
            },
        );
    }
}

#[test]
fn restoring() {
    for (slot, algorithm) in WRITTEN {
        every_fault(
            "restoring",
            |theatre| {
                let device = theatre.device(USER_PIN);
                device
                    .write_test_key(slot, algorithm.parse().unwrap())
                    .unwrap();
                device
            },
            KeyStore::restore,
            |theatre, device, scene| {
                theatre.inspect(scene, 3);
                drop(device);
                theatre.tidy(scene);
            },
        );
    }
}

#[test]
fn a_test_key_goes_whatever_the_attributes_were() {
    let theatre = Theatre::new();
    for (slot, algorithm) in WRITTEN {
        let device = theatre.device(USER_PIN);
        device
            .write_test_key(slot, algorithm.parse().unwrap())
            .unwrap();
        let written = theatre.facts();
        assert_eq!(written.slot(slot).key, KeyPresence::Imported);
        assert_eq!(files(&theatre.directory.path().join("journal")), 1);
        device.restore().unwrap();
        assert_eq!(theatre.facts().slots, theatre.before.slots);
        assert_eq!(files(&theatre.directory.path().join("journal")), 0);
    }
}

#[test]
fn restoring_goes_on_after_a_slot_that_refuses() {
    let theatre = Theatre::new();
    let device = theatre.device(USER_PIN);
    for (slot, algorithm) in WRITTEN {
        device
            .write_test_key(slot, algorithm.parse().unwrap())
            .unwrap();
    }
    // The first command of the first slot.
    theatre.stage.arm(Fault::Lost, 0);
    let kept = device.restore().unwrap_err().to_string();
    assert!(
        kept.contains("slot DEC") && !kept.contains("slot AUT") && kept.contains("token restore"),
        "{kept}"
    );
    theatre.stage.disarm();
    let facts = theatre.facts();
    assert_eq!(facts.slot(Slot::Decryption).key, KeyPresence::Imported);
    assert_eq!(facts.slot(Slot::Authentication).key, KeyPresence::Empty);
    drop(device);
    theatre.tidy("after a slot that refuses");
}

#[test]
fn a_key_that_its_owner_has_made_since_is_left_alone() {
    let theatre = Theatre::new();
    let device = theatre.device(USER_PIN);
    let (slot, algorithm) = WRITTEN[0];
    device
        .write_test_key(slot, algorithm.parse().unwrap())
        .unwrap();
    drop(device);
    let keys = Arc::default();
    let owner = CardDevice::of_made(
        &CardMaker::virtual_card(),
        theatre.stage.reader.clone(),
        Arc::clone(&keys),
    );
    let capability = Capability {
        algorithm: "nistp256".parse().unwrap(),
        operation: Operation::Decrypt,
    };
    owner
        .import(&keys.made_for(capability).unwrap(), slot)
        .unwrap();
    let owned = theatre.facts();
    for journal in theatre.journals().left().journals {
        theatre.device(USER_PIN).undo(journal).unwrap();
    }
    assert_eq!(theatre.facts().slots, owned.slots);
    assert!(theatre.journals().left().journals.is_empty());
}

#[test]
fn pins_do_not_stay_verified() {
    let theatre = Theatre::new();
    let device = theatre.device(USER_PIN);
    signed(&device).unwrap();
    let sign = [&[0, 0x2A, 0x9E, 0x9A, 32][..], &[7; 32], &[0]].concat();
    // Another program, which knows no PIN.
    let stranger = || {
        let mut channel = theatre.stage.connect().unwrap();
        let mut answer = Vec::new();
        channel.transmit(&sign, &mut answer).unwrap();
        answer
    };
    assert!(
        stranger().ends_with(&[0x90, 0x00]),
        "it is open during the run"
    );
    device.restore().unwrap();
    let mut channel = theatre.stage.connect().unwrap();
    channel.transmit(&SELECT, &mut Vec::new()).unwrap();
    assert_eq!(stranger(), [0x69, 0x82], "security status not satisfied");
}

#[test]
fn a_verify_that_is_answered_6cxx_is_sent_once() {
    struct Picky {
        card: Firmware,
        verified: Arc<Mutex<u32>>,
    }
    impl Card for Picky {
        fn atr(&self) -> &[u8] {
            self.card.atr()
        }
        fn power_on(&mut self) {
            self.card.power_on();
        }
        fn transmit(&mut self, command: &[u8]) -> Result<Answer, CardFault> {
            let mut answer = self.card.transmit(command)?;
            if command.get(1) == Some(&VERIFY) && command.len() > 5 {
                *self.verified.lock().unwrap() += 1;
                answer.response = vec![0x6C, 0x10];
            }
            Ok(answer)
        }
    }
    let verified = Arc::default();
    let mut theatre = Theatre::new();
    theatre.stage.reader = Reader::new(Box::new(Picky {
        card: firmware([0x0A, 0x1B, 0x2C, 0x3D]),
        verified: Arc::clone(&verified),
    }));
    let device = theatre.device(USER_PIN);
    for _ in 0..3 {
        let error = device.user_pin().err().unwrap().to_string();
        assert!(
            error.contains("6C10") && error.contains("not tried again"),
            "{error}"
        );
    }
    assert_eq!(*verified.lock().unwrap(), 1);
}
