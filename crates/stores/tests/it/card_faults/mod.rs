//! Cards that misbehave: each fault ends the operation with its reason, and nothing panics.

mod keys;

use std::sync::{Arc, Mutex};

use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::{KeyHandle, Verifiable};
use keymark_stores::answer::AnswerForm;
use keymark_stores::card::{CardAccess as _, Slot};
use keymark_stores::challenge::Challenge;
use keymark_stores::journal::Journals;
use keymark_stores::openpgp_card::{CardDevice, CardMaker, Channel, KeyPresence};
use keymark_stores::software::SoftwareStore;
use keymark_stores::store::KeyStore;
use keymark_stores::user::{Consent, Notice, Touch, Unattended};

use crate::scripted::{self, Script, Scripted, Willing, may_write, user};

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

/// Answers a command in its own way.
#[derive(Default)]
struct Faulty {
    fault: Option<(u8, Answer)>,
    rest: Vec<u8>,
}

impl Faulty {
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

impl Script for Faulty {
    fn transmit(
        &mut self,
        card: &mut dyn Channel,
        command: &[u8],
        response: &mut Vec<u8>,
    ) -> Result<(), Error> {
        match self.fault.clone() {
            Some((_, Answer::InParts(size))) if command[1] == 0xC0 => self.part(size, response),
            Some((ins, answer)) if command[1] == ins => match answer {
                Answer::Is(bytes) => *response = bytes,
                Answer::Removed => {
                    return Err(Error::call("SCardTransmit", "the card was pulled out", ""));
                }
                Answer::Silent => {
                    card.transmit(command, response)?;
                    // Three slots with a status each, under a tag that nobody knows.
                    let at = response.windows(2).position(|octets| octets == [0xDE, 6]);
                    at.into_iter().for_each(|at| response[at] = 0xD4);
                }
                Answer::InParts(size) => {
                    card.transmit(command, &mut self.rest)?;
                    self.part(size, response);
                }
            },
            _ => card.transmit(command, response)?,
        }
        Ok(())
    }
}

/// A card with an RSA key to sign with, and its script.
struct FaultyCard {
    device: CardDevice,
    challenge: Challenge,
    port: Arc<Scripted<Faulty>>,
}

const PSO: u8 = 0x2A;
const VERIFY: u8 = 0x20;
const GET_DATA: u8 = 0xCA;

fn card() -> FaultyCard {
    let reader = CardMaker::virtual_card().make().unwrap();
    let made = scripted::load(&reader, &[("rsa2048", Operation::Sign)]);
    let key = made.slot_public_key(Slot::Signature, "rsa2048".parse().unwrap());
    let port = Scripted::new(reader, Faulty::default());
    FaultyCard {
        device: device(&port, "123456"),
        challenge: Challenge::new(&key.unwrap(), Operation::Sign, None, 16, 0).unwrap(),
        port,
    }
}

fn device(port: &Arc<Scripted<Faulty>>, pin: &str) -> CardDevice {
    let user = user(pin, Consent::default(), Unattended);
    scripted::device(Arc::clone(port) as _, user)
}

fn open(device: &CardDevice, operation: Operation) -> Result<Box<dyn KeyHandle>, Error> {
    let capability = Capability::new("rsa2048".parse().unwrap(), operation);
    device.open(&KeyRef::new(capability, String::new()), None)
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
        self.answers(ins, answer);
        let ended = self.sign();
        self.port.script.lock().unwrap().fault = None;
        ended.unwrap_err()
    }

    /// From now on the card answers that instruction so.
    fn answers(&self, ins: u8, answer: Answer) {
        self.port.script.lock().unwrap().fault = Some((ins, answer));
    }
}

#[test]
fn a_status_word_ends_the_operation_with_its_meaning() {
    let card = card();
    assert_eq!(card.sign(), Ok(()));
    // Of §7.9, and one that is not.
    for (status, meaning) in [
        (0x63C1, "not checked"),
        (0x6600, "touch the card's button"),
        (0x6700, "Wrong length"),
        (0x6982, "was the card reset"),
        (0x6983, "blocked"),
        (0x6985, "is there a key in the slot?"),
        (0x6A88, "not found"),
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
        card.answers(PSO, Answer::InParts(size));
        assert_eq!(card.sign(), Ok(()), "parts of {size}");
    }
    // More and more of it, for ever.
    let said = card.with(PSO, Answer::Is([vec![7; 100], vec![0x61, 0xFF]].concat()));
    assert!(said.contains("PSO"), "{said}");
}

#[test]
fn a_card_that_keeps_something_back_for_ever_is_given_up() {
    let card = card();
    let said = card.with(PSO, Answer::Is(vec![0x61, 0x10]));
    assert!(said.contains("PSO"), "{said}");
    card.answers(GET_DATA, Answer::InParts(100));
    let facts = device(&card.port, "123456").facts().unwrap().clone();
    assert_eq!(facts.aid, card.device.facts().unwrap().aid);
    for answer in [vec![0x61, 0xFF], vec![0x6C, 0x10], vec![0x61, 0x00]] {
        card.answers(GET_DATA, Answer::Is(answer));
        assert!(device(&card.port, "123456").facts().is_err());
    }
}

#[test]
fn a_card_that_is_pulled_out_says_so_and_comes_back() {
    let card = card();
    assert!(card.with(PSO, Answer::Removed).contains("pulled out"));
    assert_eq!(card.sign(), Ok(()));
    let taken = card.port.reader.remove().unwrap();
    assert!(card.sign().unwrap_err().contains("no card in the reader"));
    card.port.reader.insert(taken);
    let reset = card.sign().unwrap_err();
    assert!(reset.contains("reset"), "{reset}");
}
