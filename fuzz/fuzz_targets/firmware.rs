//! Any sequence of commands to the virtual card: keymark's command chaining and the application
//! behind it. Programs reach it through PC/SC, and what they send is theirs.
//!
//! An input is an octet that says how the sequence begins, and commands: a length of one octet and
//! as many octets, FF and a length of two, or FE, which repeats the last command a hundred times.

#![no_main]

use std::sync::{Mutex, PoisonError};

use keymark_stores::tokens::card::Card;
use keymark_stores::tokens::firmware::{AllowedAlgorithms, Firmware, FirmwareOptions};
use libfuzzer_sys::fuzz_target;

const SELECT: &[u8] = &[0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0];
const SIGNING_PIN: &[u8] = b"\x00\x20\x00\x81\x06123456";
const USER_PIN: &[u8] = b"\x00\x20\x00\x82\x06123456";
const ADMIN_PIN: &[u8] = b"\x00\x20\x00\x83\x0812345678";
const WRONG_PIN: &[u8] = b"\x00\x20\x00\x83\x08wrongpin";
const TERMINATE: &[u8] = &[0, 0xE6, 0, 0];
const ACTIVATE: &[u8] = &[0, 0x44, 0, 0];
const GENERATE: u8 = 0x47;
/// Enough for what an input of libFuzzer's default length says, a few times over.
const COMMANDS: usize = 400;

/// Reset for each input rather than made anew: a card's memory is never freed. The second one takes
/// RSA keys, whose generation, at seconds a key, would leave no time for anything else.
static CARDS: Mutex<[Option<Firmware>; 2]> = Mutex::new([None, None]);

fuzz_target!(|data: &[u8]| {
    let Some((&begin, commands)) = data.split_first() else {
        return;
    };
    let rsa = begin & 0x80 != 0;
    let mut cards = CARDS.lock().unwrap_or_else(PoisonError::into_inner);
    let slot = &mut cards[usize::from(rsa)];
    let mut card = match slot.take() {
        Some(card) => card,
        None => fresh(rsa),
    };
    if begin & 1 != 0 {
        ask(&mut card, SELECT);
    }
    for (bit, pin) in [(2, SIGNING_PIN), (4, USER_PIN), (8, ADMIN_PIN)] {
        if begin & bit != 0 {
            ask(&mut card, pin);
        }
    }
    for command in sequence(commands) {
        if !(rsa && command.get(1) == Some(&GENERATE)) {
            ask(&mut card, command);
        }
    }
    // One that cannot be reset is lost, with its memory.
    *slot = reset(&mut card).then_some(card);
});

fn fresh(rsa: bool) -> Firmware {
    let curves = AllowedAlgorithms::all()
        - AllowedAlgorithms::RSA_2048
        - AllowedAlgorithms::RSA_3072
        - AllowedAlgorithms::RSA_4096;
    let options = FirmwareOptions {
        serial: Some([1, 2, 3, 4]),
        algorithms: if rsa {
            AllowedAlgorithms::all()
        } else {
            curves
        },
        ..FirmwareOptions::default()
    };
    Firmware::new(options).expect("a card in memory")
}

/// The commands of an input; what is left in the end is also one.
fn sequence(mut data: &[u8]) -> Vec<&[u8]> {
    let mut commands: Vec<&[u8]> = Vec::new();
    while let Some((&first, rest)) = data.split_first()
        && commands.len() < COMMANDS
    {
        let (length, rest) = match (first, rest) {
            (0xFE, _) => {
                let last = commands.last().copied().unwrap_or_default();
                commands.extend([last; 100]);
                data = rest;
                continue;
            }
            (0xFF, [high, low, rest @ ..]) => (u16::from_be_bytes([*high, *low]).into(), rest),
            _ => (usize::from(first), rest),
        };
        let (command, rest) = rest.split_at(length.min(rest.len()));
        commands.push(command);
        data = rest;
    }
    commands
}

fn ask(card: &mut Firmware, command: &[u8]) -> [u8; 2] {
    let response = card.transmit(command).expect("it always answers").response;
    // A command without a long Le gets no longer a response (ISO 7816-4 §5.1).
    let room = if command.len() < 7 || command[4] != 0 {
        256
    } else {
        65_536
    };
    assert!(response.len() <= room + 2, "{} octets", response.len());
    *response.last_chunk().expect("a status word")
}

/// Back to the state of the factory (OpenPGP card 3.4.1 §7.2.16, §7.2.17); whether that succeeded.
fn reset(card: &mut Firmware) -> bool {
    card.power_on();
    ask(card, SELECT);
    // The input may have terminated it, and then it knows no PIN.
    ask(card, ACTIVATE);
    for _ in 0..3 {
        ask(card, WRONG_PIN);
    }
    let done = ask(card, TERMINATE) == [0x90, 0] && ask(card, ACTIVATE) == [0x90, 0];
    card.power_on();
    done
}
