//! A worker's way to a slot's key: the timed call, and the work around it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_bench::{Algorithm, Error, Part, PartSums};

use super::apdu;
use super::channel::Channel;
use super::device::CardDevice;
use super::facts::Transfer;
use super::session::{Password, refused, verify};
use crate::card::{Slot, TouchPolicy};

pub(super) type Verified = [AtomicBool; 2];

/// The way. `perform` is the APDU and nothing else.
#[derive(derive_more::Debug)]
#[debug("CardHandle({slot})")]
pub(super) struct CardHandle {
    pub(super) channel: Box<dyn Channel>,
    pub(super) card: CardDevice,
    pub(super) slot: Slot,
    pub(super) algorithm: Algorithm,
    pub(super) transfer: Transfer,
    pub(super) password: Password,
    /// True if that PIN is good for one operation only.
    pub(super) each: bool,
    pub(super) touch: TouchPolicy,
    pub(super) touched: bool,
    pub(super) verify_time: Option<Duration>,
    pub(super) commands: Vec<Vec<u8>>,
    pub(super) response: Vec<u8>,
}

impl CardHandle {
    /// PIN 82 is good until the card is reset, PIN 81 perhaps for one signature only (§4.4.1).
    fn verify(&mut self) -> Result<(), Error> {
        let CardDevice {
            session,
            rules,
            verified,
            ..
        } = &self.card;
        let verified = &verified[usize::from(self.password == Password::Signing)];
        if !self.each && verified.load(Ordering::Acquire) {
            return Ok(());
        }
        session.with(|card| verify(rules, card, self.password))?;
        verified.store(true, Ordering::Release);
        self.verify_time = session.verify_time();
        Ok(())
    }

    fn ask_for_touch(&mut self) {
        let needed = match self.touch {
            TouchPolicy::Off => false,
            TouchPolicy::Each => true,
            TouchPolicy::Cached => !self.touched,
        };
        if needed {
            self.card.user.notice.ask_for_touch();
            self.touched = true;
        }
    }
}

impl KeyHandle for CardHandle {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        self.verify()?;
        let data = apdu::data(self.slot, self.algorithm, &input.bytes);
        self.commands = apdu::commands(apdu::header(self.slot), &data, self.transfer);
        self.ask_for_touch();
        Ok(())
    }

    fn parts(&mut self, _: Duration, into: &mut PartSums) {
        if let Some(time) = self.verify_time.take() {
            into.add(Part::Verify, time);
        }
    }

    fn perform(&mut self, _: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let call = apdu::call(self.slot);
        let mut length = 0;
        let Some((last, before)) = self.commands.split_last() else {
            return Err(Error::call(call, "it was not armed", ""));
        };
        for command in before {
            self.channel.transmit(command, &mut self.response)?;
            if *self.response != [0x90, 0x00] {
                return Err(refused(call, status(call, &self.response)?));
            }
        }
        self.channel.transmit(last, &mut self.response)?;
        let mut asked = false;
        loop {
            let status = status(call, &self.response)?;
            let data = &self.response[..self.response.len() - 2];
            let room = output.get_mut(length..length + data.len());
            room.ok_or_else(|| {
                Error::call(call, "the response is longer than a result can be", "")
            })?
            .copy_from_slice(data);
            length += data.len();
            match status {
                [0x90, 0x00] => return Ok(Performed { length, cpu: None }),
                // A part without data is none: it could go on for ever.
                [0x61, _] if self.response.len() == 2 && asked => {
                    return Err(refused(call, status));
                }
                // §7.2.9
                [0x61, more] => {
                    asked = true;
                    self.channel
                        .transmit(&[0x00, 0xC0, 0x00, 0x00, more], &mut self.response)?;
                }
                status => return Err(refused(call, status)),
            }
        }
    }
}

fn status(call: &str, response: &[u8]) -> Result<[u8; 2], Error> {
    response.last_chunk().copied().ok_or_else(|| {
        let advice = "was the card pulled out of its reader?";
        Error::call(call, "the response has no status word", advice)
    })
}
