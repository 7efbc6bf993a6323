//! A reader whose commands go through a script, and keymark's device of the card in it.

use std::sync::{Arc, Mutex};

use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_stores::card::{CardPlace, Slot};
use keymark_stores::openpgp_card::{CardDevice, CardFacts, CardMaker, Channel, Port, Reset};
use keymark_stores::software::SoftwareStore;
use keymark_stores::tokens::reader::{CardReader, ReaderConnection};
use keymark_stores::user::{Consent, Notice, Pin, PinSource, Pins, User};

/// Fate of the commands to a card.
pub(crate) trait Script: Send + 'static {
    fn transmit(
        &mut self,
        card: &mut dyn Channel,
        command: &[u8],
        response: &mut Vec<u8>,
    ) -> Result<(), Error>;
}

/// The reader.
#[derive(derive_more::Debug)]
#[debug("Scripted")]
pub(crate) struct Scripted<S> {
    pub(crate) reader: CardReader,
    pub(crate) script: Arc<Mutex<S>>,
}

impl<S> Scripted<S> {
    pub(crate) fn new(reader: CardReader, script: S) -> Arc<Self> {
        let script = Arc::new(Mutex::new(script));
        Arc::new(Self { reader, script })
    }
}

impl<S: Script> Port for Scripted<S> {
    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        Ok(Box::new(ScriptedChannel {
            card: self.reader.connect(),
            script: Arc::clone(&self.script),
        }))
    }

    fn reader(&self) -> String {
        "scripted".to_owned()
    }

    fn reset(&self) -> Result<Reset, Error> {
        Port::reset(&self.reader)
    }
}

struct ScriptedChannel<S> {
    card: ReaderConnection,
    script: Arc<Mutex<S>>,
}

impl<S: Script> Channel for ScriptedChannel<S> {
    fn transmit(&mut self, command: &[u8], response: &mut Vec<u8>) -> Result<(), Error> {
        let mut script = self.script.lock().unwrap();
        script.transmit(&mut self.card, command, response)
    }
}

/// Permission to write to a card.
pub(crate) fn may_write(card: &CardFacts) -> Consent {
    Consent {
        write: Some(card.token().name()),
        ..Consent::default()
    }
}

/// A user with that PIN, and the admin PIN of the factory.
pub(crate) fn user(pin: &str, consent: Consent, notice: impl Notice + 'static) -> User {
    User {
        pins: Pins {
            user: PinSource::Known(Pin::new(pin)),
            ..Pins::factory()
        },
        consent,
        notice: Arc::new(notice),
    }
}

/// Lets everything be written over.
pub(crate) struct Willing;

impl Notice for Willing {
    fn tell(&self, _: &str) {}

    fn agrees(&self, _: &str) -> bool {
        true
    }
}

/// The card in a reader, with an identity that nobody has read yet.
pub(crate) fn device(port: Arc<dyn Port>, user: User) -> CardDevice {
    let place = CardPlace::Pcscd(port.reader());
    CardDevice::new(port, place, CardMaker::virtual_card().device(), user)
}

/// Writes test keys to the slots of a card that was made here, whose signing PIN is good for many signatures.
pub(crate) fn load(reader: &CardReader, keys: &[(&str, Operation)]) -> CardDevice {
    let test_keys = Arc::new(SoftwareStore::default());
    let maker = CardMaker::virtual_card();
    let device = CardDevice::of_virtual(&maker, reader.clone(), Arc::clone(&test_keys));
    for (algorithm, operation) in keys {
        let capability = Capability::new(algorithm.parse().unwrap(), *operation);
        let key = test_keys.made_for(capability).unwrap();
        device.import(&key, Slot::of(*operation).unwrap()).unwrap();
    }
    device.allow_many_signatures().unwrap();
    device
}
