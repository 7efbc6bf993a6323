//! Cards that misbehave: each fault ends the operation with its reason, and nothing panics.

mod keys;

use std::sync::{Arc, Mutex};

use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::{KeyHandle, Verifiable};
use keymark_stores::answer::AnswerForm;
use keymark_stores::card::{CardAccess as _, CardPlace, Slot};
use keymark_stores::challenge::Challenge;
use keymark_stores::journal::Journals;
use keymark_stores::openpgp_card::{
    CardDevice, CardMaker, Channel, KeyPresence, Port, Reset, VirtualPort,
};
use keymark_stores::public_key::PublicKey;
use keymark_stores::software::SoftwareStore;
use keymark_stores::store::KeyStore;
use keymark_stores::user::{Consent, Notice, Pin, PinSource, Pins, Touch, Unattended, User};

type Fault = Arc<Mutex<Option<(u8, Answer)>>>;

#[derive(Clone)]
enum Answer {
    /// Answer in place of the card's.
    Is(Vec<u8>),
    /// The card was pulled out.
    Removed,
    /// The card's, in parts of that number of octets, each fetched with GET RESPONSE.
    InParts(usize),
    /// The card's, without what it says of keys (DO DE).
    Silent,
}

/// A reader in which some commands are answered by the script.
#[derive(Clone)]
struct Faulty {
    port: VirtualPort,
    fault: Fault,
}

impl std::fmt::Debug for Faulty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Faulty")
    }
}

impl Port for Faulty {
    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        Ok(Box::new(FaultyChannel {
            card: self.port.connect()?,
            fault: Arc::clone(&self.fault),
            rest: Vec::new(),
        }))
    }

    fn reader(&self) -> String {
        "faulty".to_owned()
    }

    fn atr(&self) -> Result<Vec<u8>, Error> {
        self.port.atr()
    }

    fn reset(&self) -> Result<Reset, Error> {
        self.port.reset()
    }
}

struct FaultyChannel {
    card: Box<dyn Channel>,
    fault: Fault,
    rest: Vec<u8>,
}

impl FaultyChannel {
    fn part(&mut self, size: usize, response: &mut Vec<u8>) {
        let data = self.rest.len() - 2;
        if data <= size {
            *response = std::mem::take(&mut self.rest);
        } else {
            let after = self.rest.split_off(size);
            *response = std::mem::replace(&mut self.rest, after);
            response.extend([0x61, u8::try_from(size.min(255)).unwrap()]);
        }
    }
}

impl Channel for FaultyChannel {
    fn transmit(&mut self, command: &[u8], response: &mut Vec<u8>) -> Result<(), Error> {
        let fault = self.fault.lock().unwrap().clone();
        match fault {
            Some((_, Answer::InParts(size))) if command[1] == 0xC0 => {
                self.part(size, response);
                Ok(())
            }
            Some((ins, answer)) if command[1] == ins => match answer {
                Answer::Is(bytes) => {
                    *response = bytes;
                    Ok(())
                }
                Answer::Removed => Err(Error::call("SCardTransmit", "the card was pulled out", "")),
                Answer::Silent => {
                    self.card.transmit(command, response)?;
                    // Three slots with a status each, under a tag that nobody knows.
                    let at = response.windows(2).position(|octets| octets == [0xDE, 6]);
                    at.into_iter().for_each(|at| response[at] = 0xD4);
                    Ok(())
                }
                Answer::InParts(size) => {
                    self.card.transmit(command, &mut self.rest)?;
                    self.part(size, response);
                    Ok(())
                }
            },
            _ => self.card.transmit(command, response),
        }
    }
}

/// A card with an RSA key to sign with, and its script.
struct FaultyCard {
    device: CardDevice,
    fault: Fault,
    challenge: Challenge,
    port: Faulty,
}

const PSO: u8 = 0x2A;
const VERIFY: u8 = 0x20;

fn card() -> FaultyCard {
    let maker = CardMaker::virtual_card();
    let reader = maker.make().unwrap();
    let keys = Arc::new(SoftwareStore::default());
    let key = keys.made_for(Capability::new("rsa2048".parse().unwrap(), Operation::Sign));
    let key = key.unwrap();
    let made = CardDevice::of_virtual(&maker, reader.clone(), keys);
    made.import(&key, Slot::Signature).unwrap();
    made.allow_many_signatures().unwrap();
    let fault = Fault::default();
    let port = Faulty {
        port: VirtualPort(reader),
        fault: Arc::clone(&fault),
    };
    FaultyCard {
        device: device(&port, "123456"),
        fault,
        challenge: Challenge::new(&PublicKey::of(&key).unwrap(), Operation::Sign, None, 16, 0)
            .unwrap(),
        port,
    }
}

fn device(port: &Faulty, pin: &str) -> CardDevice {
    let pins = Pins {
        user: PinSource::Known(Pin::new(pin)),
        admin: PinSource::Known(Pin::new("12345678")),
    };
    let user = User {
        pins,
        consent: Consent::default(),
        notice: Arc::new(Unattended),
    };
    behind(port, user)
}

fn behind(port: &Faulty, user: User) -> CardDevice {
    let place = CardPlace::Pcscd("faulty".to_owned());
    let name = CardMaker::virtual_card().device();
    CardDevice::new(Arc::new(port.clone()), place, name, user)
}

fn open(device: &CardDevice, operation: Operation) -> Result<Box<dyn KeyHandle>, Error> {
    device.open(
        &KeyRef {
            algorithm: "rsa2048".parse().unwrap(),
            operation,
            label: String::new(),
        },
        None,
    )
}

impl FaultyCard {
    fn sign(&self) -> Result<(), String> {
        let mut handle = open(&self.device, Operation::Sign).map_err(|error| error.to_string())?;
        let input = &self.challenge.inputs[0];
        let mut output = vec![0; 1024];
        let done = handle
            .arm(input)
            .and_then(|()| handle.perform(input, &mut output))
            .map_err(|error| error.to_string())?;
        let check = Arc::clone(&self.challenge.verifier);
        let rsa2048 = "rsa2048".parse().unwrap();
        let check = AnswerForm::Concatenated.checked(rsa2048, Operation::Sign, check);
        let output = &output[..done.length];
        check.verify(&[Verifiable { input: 0, output }]).remove(0)
    }

    fn with(&self, ins: u8, answer: Answer) -> String {
        *self.fault.lock().unwrap() = Some((ins, answer));
        let ended = self.sign();
        *self.fault.lock().unwrap() = None;
        ended.unwrap_err()
    }
}

#[test]
fn every_status_word_of_the_specification_ends_the_operation_with_its_meaning() {
    let card = card();
    assert_eq!(card.sign(), Ok(()));
    // §7.9, less those that are no failure.
    for (status, meaning) in [
        (0x6285, "termination state"),
        (0x63C1, "not checked"),
        (0x6581, "6581"),
        (0x6600, "touch the card's button"),
        (0x6700, "Wrong length"),
        (0x6881, "Logical channel"),
        (0x6882, "Secure messaging"),
        (0x6883, "Last command"),
        (0x6884, "chaining not supported"),
        (0x6982, "was the card reset"),
        (0x6983, "blocked"),
        (0x6985, "is there a key in the slot?"),
        (0x6987, "SM"),
        (0x6A80, "Incorrect parameters"),
        (0x6A82, "not found"),
        (0x6A88, "not found"),
        (0x6B00, "Wrong parameters"),
        (0x6D00, "INS"),
        (0x6E00, "CLA"),
        (0x6F00, "No precise diagnosis"),
        (0x1234, "1234"),
    ] {
        let said = card.with(PSO, Answer::Is(u16::to_be_bytes(status).to_vec()));
        let expected = format!("PSO:COMPUTE DIGITAL SIGNATURE failed: {status:04X}");
        assert!(
            said.starts_with(&expected) && said.contains(meaning),
            "{said}"
        );
    }
    assert_eq!(
        card.sign(),
        Ok(()),
        "the card goes on where the reader does"
    );
}

#[test]
fn responses_of_the_wrong_length_are_no_results() {
    let card = card();
    for truncated in [vec![], vec![0x90]] {
        let said = card.with(PSO, Answer::Is(truncated));
        assert!(said.contains("no status word"), "{said}");
    }
    for length in [0, 1, 255, 257, 600] {
        let response = [vec![7; length], vec![0x90, 0x00]].concat();
        let said = card.with(PSO, Answer::Is(response));
        assert!(
            said.contains("verif") || said.contains("length of a result"),
            "{said}"
        );
    }
    let said = card.with(PSO, Answer::Is([vec![7; 5000], vec![0x90, 0x00]].concat()));
    assert!(said.contains("longer than a result can be"), "{said}");
}

#[test]
fn a_response_in_parts_is_put_together() {
    let card = card();
    for size in [1, 100, 254, 255] {
        *card.fault.lock().unwrap() = Some((PSO, Answer::InParts(size)));
        assert_eq!(card.sign(), Ok(()), "parts of {size}");
    }
    // More and more of it, for ever.
    let said = card.with(PSO, Answer::Is([vec![7; 100], vec![0x61, 0xFF]].concat()));
    assert!(said.contains("PSO"), "{said}");
}

#[test]
fn a_card_that_keeps_something_back_for_ever_is_given_up() {
    const GET_DATA: u8 = 0xCA;
    let card = card();
    let said = card.with(PSO, Answer::Is(vec![0x61, 0x10]));
    assert!(said.contains("PSO"), "{said}");
    *card.fault.lock().unwrap() = Some((GET_DATA, Answer::InParts(100)));
    let facts = device(&card.port, "123456").facts().unwrap().clone();
    assert_eq!(facts.aid, card.device.facts().unwrap().aid);
    for answer in [vec![0x61, 0xFF], vec![0x6C, 0x10], vec![0x61, 0x00]] {
        *card.fault.lock().unwrap() = Some((GET_DATA, Answer::Is(answer)));
        assert!(device(&card.port, "123456").facts().is_err());
    }
}

#[test]
fn a_card_that_is_pulled_out_says_so_and_comes_back() {
    let card = card();
    assert!(card.with(PSO, Answer::Removed).contains("pulled out"));
    assert_eq!(card.sign(), Ok(()));
    let taken = card.port.port.0.remove().unwrap();
    assert!(card.sign().unwrap_err().contains("no card in the reader"));
    card.port.port.0.insert(taken);
    let reset = card.sign().unwrap_err();
    assert!(reset.contains("reset"), "{reset}");
}

#[test]
fn another_card_in_the_reader_gets_no_pin_and_no_key() {
    let card = card();
    let key = card.port.port.0.remove().unwrap();
    let other = CardMaker::virtual_card().make().unwrap().remove().unwrap();
    card.port.port.0.insert(key);
    let maker = CardMaker::virtual_card();
    let device = |pin: &str| {
        let device = device(&card.port, pin);
        device.facts().unwrap();
        device
    };
    let (right, wrong) = (device("123456"), device("000000"));
    let mut handle = open(&wrong, Operation::Sign).unwrap();
    let writer = CardDevice::new(
        Arc::new(card.port.clone()),
        CardPlace::Virtual {
            reader: card.port.port.0.clone(),
            test_keys: Arc::new(SoftwareStore::default()),
        },
        maker.device(),
        User::of_made_device(),
    );
    let expected = writer.facts().unwrap().aid.to_string();
    card.port.port.0.remove();
    card.port.port.0.insert(other);

    let key = SoftwareStore::default()
        .made_for(Capability::new("rsa2048".parse().unwrap(), Operation::Sign));
    let key = key.unwrap();
    for _ in 0..3 {
        let input = &card.challenge.inputs[0];
        let refusals = [
            handle.arm(input).unwrap_err(),
            right.user_pin().err().unwrap(),
            writer.import(&key, Slot::Signature).unwrap_err(),
            writer.allow_many_signatures().unwrap_err(),
        ];
        for refusal in refusals {
            let said = refusal.to_string();
            // The first of each session is that the old card is gone.
            assert!(
                said.contains("left alone") || said.contains("reset"),
                "{said}"
            );
        }
    }
    let said = right.user_pin().err().unwrap().to_string();
    assert!(
        said.contains("put card") && said.contains(&expected),
        "{said}"
    );
    let there = self::device(&card.port, "123456");
    let facts = there.facts().unwrap();
    assert_ne!(facts.aid.to_string(), expected);
    assert_eq!((facts.tries.user, facts.tries.admin), (3, 3));
    assert!(!facts.slot(Slot::Signature).has_key());
}
