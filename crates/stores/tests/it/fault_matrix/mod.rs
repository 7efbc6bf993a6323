//! Every fault at every step: a card is pulled out, swapped for another, reset by another program, or does
//! not answer, before and after each command of selecting, verifying, operating, importing and restoring.
//!
//! Whatever happens, at most one try of a PIN is lost, no other card is sent a PIN or a write, and every
//! change is undone or is in the journal, by which a later keymark undoes it (docs/safety.md).

mod theatre;

use std::sync::{Arc, Mutex};

use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::Input;
use keymark_stores::card::{CardAccess as _, Slot};
use keymark_stores::openpgp_card::{CardDevice, KeyPresence, Port as _};
use keymark_stores::store::KeyStore;
use keymark_stores::tokens::card::{Answer, Card, CardFault};
use keymark_stores::tokens::firmware::Firmware;

use crate::scripted::load;
use theatre::{Fault, SELECT, Theatre, USER_PIN, every_fault, firmware};

const VERIFY: u8 = 0x20;
const WRONG_PIN: &str = "654321";

fn signed(device: &CardDevice) -> Result<(), Error> {
    let capability = Capability::new("ed25519".parse().unwrap(), Operation::Sign);
    let mut handle = device.open(&KeyRef::new(capability, String::new()), None)?;
    let input = Input { bytes: vec![7; 32] };
    handle.arm(&input)?;
    handle.perform(&input, &mut [0; 1024]).map(drop)
}

#[test]
fn selecting() {
    every_fault(
        "selecting",
        |theatre| theatre.new_device(USER_PIN),
        |device| device.facts().map(drop),
        |theatre, _, scene| drop(theatre.inspect(scene, 3)),
    );
}

#[test]
fn verifying_the_right_pin() {
    every_fault(
        "verifying",
        |theatre| theatre.device(USER_PIN),
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
        |theatre| theatre.device(USER_PIN),
        signed,
        |theatre, device, scene| {
            // The card goes on where the reader does, or says why not.
            let _ = signed(&device);
            theatre.inspect(scene, 3);
        },
    );
}

const WRITTEN: [(Slot, &str); 2] = [
    (Slot::Decryption, "cv25519"),
    (Slot::Authentication, "ed25519"),
];

fn write(device: &CardDevice, (slot, algorithm): (Slot, &str)) -> Result<(), Error> {
    device.write_test_key(slot, algorithm.parse().unwrap())
}

#[test]
fn importing() {
    for key in WRITTEN {
        every_fault(
            "importing",
            |theatre| theatre.device(USER_PIN),
            |device| write(device, key),
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
    for key in WRITTEN {
        every_fault(
            "restoring",
            |theatre| {
                let device = theatre.device(USER_PIN);
                write(&device, key).unwrap();
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
fn restoring_goes_on_after_a_slot_that_refuses() {
    let theatre = Theatre::new();
    let device = theatre.device(USER_PIN);
    for key in WRITTEN {
        write(&device, key).unwrap();
    }
    // The first command of the first slot.
    theatre.stage.arm(Fault::Lost, 0);
    let kept = device.restore().unwrap_err().to_string();
    assert!(
        kept.contains("slot DEC") && !kept.contains("slot AUT") && kept.contains("devices restore"),
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
    write(&device, WRITTEN[0]).unwrap();
    drop(device);
    load(&theatre.stage.reader, &[("nistp256", Operation::Decrypt)]);
    let owned = theatre.facts();
    for journal in theatre.journals().left().journals {
        theatre.new_device(USER_PIN).undo(journal).unwrap();
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
    let theatre = Theatre::new();
    theatre.stage.reader.insert(Box::new(Picky {
        card: firmware([0x0A, 0x1B, 0x2C, 0x3D]),
        verified: Arc::clone(&verified),
    }));
    let device = theatre.device(USER_PIN);
    for _ in 0..3 {
        let error = device.user_pin().err().unwrap().to_string();
        assert!(
            error.contains("6C10") && error.contains("does not send it again"),
            "{error}"
        );
    }
    assert_eq!(*verified.lock().unwrap(), 1);
}
