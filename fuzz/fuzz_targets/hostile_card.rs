//! A card that lies to the key store: it answers as a real one would, but for what the input
//! changes, cuts off or puts in its place.

#![no_main]

use std::fmt;
use std::panic;
use std::sync::{Arc, Mutex, PoisonError};

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::DeviceName;
use keymark_bench::error::Error;
use keymark_bench::store::KeyRef;
use keymark_bench::workload::Input;
use keymark_stores::card::{CardAccess as _, CardPlace, Slot};
use keymark_stores::openpgp_card::{CardDevice, Channel, Port, Reset};
use keymark_stores::store::KeyStore;
use keymark_stores::tokens::card::Card;
use keymark_stores::tokens::firmware::{Firmware, FirmwareOptions};
use keymark_stores::user::User;
use libfuzzer_sys::fuzz_target;

/// Ed25519, X25519 and Ed25519 in the three slots.
const KEYS: [(u8, u8, &[u8]); 3] = [
    (0xC1, 0xB6, &[0x16, 0x2B, 6, 1, 4, 1, 0xDA, 0x47, 0x0F, 1]),
    (0xC2, 0xB8, &[0x12, 0x2B, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1]),
    (0xC3, 0xA4, &[0x16, 0x2B, 6, 1, 4, 1, 0xDA, 0x47, 0x0F, 1]),
];
const OK: [u8; 2] = [0x90, 0x00];

/// The card that the lies are about, made once.
static CARD: Mutex<Option<Firmware>> = Mutex::new(None);

/// Panics of the crate openpgp-card 0.7.0 that any card can cause: file and message. Every user of the
/// crate has them; here they end the input, that others be found. Every other panic is a finding.
const KNOWN: [(&str, &str); 1] = [
    // A command of extended length that is answered 61xx or 6Cxx.
    (
        "openpgp-card-0.7.0/src/ocard/apdu/command.rs",
        "This should not happen",
    ),
];

fuzz_target!(init: pass_known_panics(), |data: &[u8]| {
    let _ = panic::catch_unwind(|| lie(data));
});

/// Keeps libFuzzer's hook, which ends the process, from those that are known.
fn pass_known_panics() {
    let fatal = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let file = info.location().map_or("", panic::Location::file);
        let message = info.payload_as_str().unwrap_or("");
        let known = |(at, says): &(&str, &str)| file.ends_with(at) && message.contains(says);
        if !KNOWN.iter().any(known) {
            fatal(info);
        }
    }));
}

fn lie(data: &[u8]) {
    reset();
    let card = CardDevice::new(
        Arc::new(Liar(Arc::new(Mutex::new(data.to_vec())))),
        CardPlace::Pcscd("Liar".to_owned()),
        DeviceName::new("liar"),
        User::of_made_device(),
    );
    // Nothing was changed in an empty input: then everything succeeds.
    let honest = data.is_empty();
    let used = use_card(&card);
    assert!(!honest || used.is_ok(), "{used:?}");
    let _ = card.allow_many_signatures();
    let name = ["rsa2048", "nistp256", "ed25519"][data.len() % 3];
    let algorithm: Algorithm = name.parse().expect("a name of keymark's");
    for slot in Slot::ALL {
        let _ = card.slot_public_key(slot, algorithm);
    }
}

fn use_card(card: &CardDevice) -> Result<(), Error> {
    let facts = card.facts()?;
    let _ = facts.aid.to_string();
    let input = Input { bytes: vec![9; 32] };
    for capability in card.capabilities()? {
        let key = KeyRef {
            algorithm: capability.algorithm,
            operation: capability.operation,
            label: String::new(),
        };
        let mut handle = card.open(&key, None)?;
        handle.arm(&input)?;
        let mut output = [0; 512];
        let performed = handle.perform(&input, &mut output)?;
        assert!(performed.length <= output.len());
    }
    Ok(())
}

/// Switched off and on; made first, with a key in each slot.
fn reset() {
    let mut card = CARD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(card) = card.as_mut() {
        card.power_on();
        return;
    }
    let mut made = Firmware::new(FirmwareOptions::default()).expect("a card in memory");
    let mut ask = |command: &[u8]| {
        let response = made.transmit(command).expect("it answers").response;
        assert!(response.ends_with(&OK), "{command:x?}");
    };
    ask(&[0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0]);
    ask(b"\x00\x20\x00\x83\x0812345678");
    for (attributes, reference, curve) in KEYS {
        ask(&[&[0, 0xDA, 0, attributes, curve.len() as u8], curve].concat());
        ask(&[0, 0x47, 0x80, 0, 2, reference, 0, 0]);
    }
    *card = Some(made);
}

/// Every connection takes its lies from the same input.
struct Liar(Arc<Mutex<Vec<u8>>>);

impl Liar {
    /// The next octet; 0 when there is none, which changes nothing.
    fn next(&self) -> u8 {
        let mut lies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lies.pop().unwrap_or(0)
    }

    fn about(&self, mut response: Vec<u8>) -> Result<Vec<u8>, Error> {
        let kind = self.next();
        for _ in 0..kind & 7 {
            let at = usize::from(u16::from_be_bytes([self.next(), self.next()]));
            let octet = self.next();
            let at = at % response.len().max(1);
            if let Some(told) = response.get_mut(at) {
                *told = octet;
            }
        }
        match kind >> 3 & 7 {
            1 => response.truncate(self.next().into()),
            2 => response.splice(0..0, [self.next()]).for_each(drop),
            3 => {
                response = (0..self.next()).map(|_| self.next()).collect();
                response.extend(OK);
            }
            4 => response = vec![self.next(), self.next()],
            5 => return Err(Error::call("transmit", "the card is gone", "")),
            _ => {}
        }
        Ok(response)
    }
}

impl fmt::Debug for Liar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Liar")
    }
}

impl Channel for Liar {
    fn transmit(&mut self, command: &[u8], response: &mut Vec<u8>) -> Result<(), Error> {
        let mut card = CARD.lock().unwrap_or_else(PoisonError::into_inner);
        let card = card.as_mut().expect("it was made");
        let answer = card.transmit(command).expect("it answers");
        *response = self.about(answer.response)?;
        Ok(())
    }
}

impl Port for Liar {
    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        Ok(Box::new(Self(Arc::clone(&self.0))))
    }

    fn reader(&self) -> String {
        "Liar".to_owned()
    }

    fn reset(&self) -> Result<Reset, Error> {
        Ok(Reset::Shared)
    }
}
