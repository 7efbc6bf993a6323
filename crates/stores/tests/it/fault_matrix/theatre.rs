//! The stage of the fault matrix: a card in a reader to which faults happen, and another to put in its place.

use std::path::Path;
use std::sync::{Arc, Mutex};

use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_stores::journal::Journals;
use keymark_stores::openpgp_card::{CardDevice, CardFacts, Channel};
use keymark_stores::tokens::card::{Answer, Card, CardFault};
use keymark_stores::tokens::firmware::{Firmware, FirmwareOptions};
use keymark_stores::tokens::reader::CardReader;

use crate::scripted::{self, Script, Scripted, Willing, may_write, user};

pub(crate) const USER_PIN: &str = "123456";
pub(crate) const SELECT: [u8; 12] = [0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0];
/// PUT DATA C3.
const ED25519_FOR_AUT: [u8; 15] = [
    0, 0xDA, 0, 0xC3, 10, 0x16, 0x2B, 6, 1, 4, 1, 0xDA, 0x47, 0x0F, 1,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The card is pulled out, and stays out.
    Pulled,
    /// The card is pulled out, and another put in its place.
    Swapped,
    /// Another program resets it.
    Reset,
    /// The command does not arrive.
    Lost,
    /// The command arrives, and its response does not.
    Unanswered,
}

impl Fault {
    pub(crate) const ALL: [Self; 5] = [
        Self::Pulled,
        Self::Swapped,
        Self::Reset,
        Self::Lost,
        Self::Unanswered,
    ];
}

/// A fault that strikes at one of the commands.
pub(crate) struct Play {
    reader: CardReader,
    strike: Option<(Fault, usize)>,
    sent: usize,
    /// The card that was taken out.
    taken: Option<Box<dyn Card>>,
    /// The one that is put in its place.
    other: Option<Box<dyn Card>>,
}

impl Script for Play {
    fn transmit(
        &mut self,
        card: &mut dyn Channel,
        command: &[u8],
        response: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let gone = |what: &str| Error::call("SCardTransmit", what, "");
        let strikes = self.strike.filter(|(_, at)| *at == self.sent);
        self.sent += 1;
        match strikes.map(|(fault, _)| fault) {
            Some(Fault::Pulled) => self.taken = self.reader.remove(),
            Some(Fault::Swapped) => {
                self.taken = self.reader.remove();
                self.reader.insert(self.other.take().unwrap());
            }
            Some(Fault::Reset) => drop(self.reader.connect().power_on()),
            Some(Fault::Lost) => return Err(gone("the command was lost")),
            Some(Fault::Unanswered) => {
                card.transmit(command, response)?;
                return Err(gone("the response was lost"));
            }
            None => {}
        }
        card.transmit(command, response)
    }
}

impl Scripted<Play> {
    pub(crate) fn arm(&self, fault: Fault, at: usize) {
        let mut script = self.script.lock().unwrap();
        script.sent = 0;
        script.strike = Some((fault, at));
    }

    /// The first card is in the reader again. Says whether the fault had struck.
    pub(crate) fn disarm(&self) -> bool {
        let mut script = self.script.lock().unwrap();
        let struck = script.strike.take().is_some_and(|(_, at)| script.sent > at);
        if let Some(card) = script.taken.take() {
            script.other = self.reader.remove().or(script.other.take());
            self.reader.insert(card);
        }
        struck
    }
}

#[derive(Clone, Default)]
pub(crate) struct Harm(Arc<Mutex<Vec<Vec<u8>>>>);

/// A card that nobody has said anything about.
pub(crate) struct Bystander {
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

/// A card with an ed25519 key to sign with, two other slots that are empty, and another owner's card.
pub(crate) struct Theatre {
    pub(crate) stage: Arc<Scripted<Play>>,
    harm: Harm,
    pub(crate) before: CardFacts,
    pub(crate) directory: tempfile::TempDir,
}

pub(crate) fn firmware(serial: [u8; 4]) -> Firmware {
    Firmware::new(FirmwareOptions {
        serial: Some(serial),
        ..FirmwareOptions::default()
    })
    .unwrap()
}

impl Theatre {
    pub(crate) fn new() -> Self {
        let reader = CardReader::new(Box::new(firmware([0x0A, 0x1B, 0x2C, 0x3D])));
        let made = scripted::load(&reader, &[("ed25519", Operation::Sign)]);
        let mut channel = reader.connect();
        for command in [
            &SELECT[..],
            b"\x00\x20\x00\x83\x0812345678",
            &ED25519_FOR_AUT,
        ] {
            assert_eq!(channel.transmit(command).unwrap().response, [0x90, 0x00]);
        }
        let harm = Harm::default();
        let other = Bystander {
            card: firmware([0x0B, 0xAD, 0xCA, 0xFE]),
            harm: harm.clone(),
        };
        let play = Play {
            reader: reader.clone(),
            strike: None,
            sent: 0,
            taken: None,
            other: Some(Box::new(other)),
        };
        let mut theatre = Self {
            stage: Scripted::new(reader, play),
            harm,
            before: made.facts().unwrap().clone(),
            directory: tempfile::tempdir().unwrap(),
        };
        theatre.before = theatre.facts();
        theatre
    }

    pub(crate) fn journals(&self) -> Journals {
        Journals::within(self.directory.path().join("journal"))
    }

    /// keymark, which has looked at the card before anything happens to it.
    pub(crate) fn device(&self, pin: &str) -> CardDevice {
        let device = self.new_device(pin);
        device.facts().unwrap();
        device
    }

    /// keymark, which has not looked at the card yet.
    pub(crate) fn new_device(&self, pin: &str) -> CardDevice {
        let user = user(pin, may_write(&self.before), Willing);
        let device = scripted::device(Arc::clone(&self.stage) as _, user);
        device.journal_to(self.journals(), "20261121-0415");
        device
    }

    pub(crate) fn facts(&self) -> CardFacts {
        self.new_device(USER_PIN).facts().unwrap().clone()
    }

    pub(crate) fn inspect(&self, scene: &str, tries: u8) -> CardFacts {
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
    pub(crate) fn tidy(&self, scene: &str) {
        let facts = self.facts();
        let left = self.journals().left();
        assert!(left.unreadable.is_empty(), "{scene}");
        if left.journals.is_empty() {
            assert_eq!(facts.slots, self.before.slots, "{scene}: and no journal");
            return;
        }
        for journal in left.journals {
            let device = self.new_device(USER_PIN);
            device.undo(journal).expect(scene);
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
pub(crate) fn every_fault(
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
