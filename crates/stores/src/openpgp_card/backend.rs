//! A [`Channel`] for the crate `openpgp-card`, noting what PIN verification takes.

use std::sync::Arc;
use std::time::Duration;

use card_backend::{CardBackend, CardCaps, CardTransaction, PinType, SmartcardError};
use keymark_bench::{Clock, Error, MonotonicClock, ReturnCode};
use parking_lot::Mutex;

use super::channel::Channel;

const SELECT: u8 = 0xA4;
const VERIFY: u8 = 0x20;
/// More octets than any response has.
const LONGEST: usize = 70_000;

pub(super) type VerifyTime = Arc<Mutex<Option<Duration>>>;

/// Why nothing more is sent on a connection: after a failure another card may be in the reader, and
/// `openpgp-card` goes on after some of them.
pub(super) type Breakage = Arc<Mutex<Option<String>>>;

pub(super) struct Backend {
    /// To a card whose application is selected.
    pub(super) channel: Box<dyn Channel>,
    pub(super) clock: MonotonicClock,
    pub(super) verify: VerifyTime,
    pub(super) breakage: Breakage,
}

impl CardBackend for Backend {
    /// A card that claims to take no commands at all is taken for one of short commands.
    fn limit_card_caps(&self, caps: CardCaps) -> CardCaps {
        const SHORT: u16 = 255;
        CardCaps::new(
            caps.ext_support(),
            caps.chaining_support(),
            caps.max_cmd_bytes().max(SHORT),
            caps.max_rsp_bytes().max(SHORT),
            caps.pw1_max_len(),
            caps.pw3_max_len(),
        )
    }

    fn transaction(
        &mut self,
        _reselect: Option<&[u8]>,
    ) -> Result<Box<dyn CardTransaction + Send + Sync + '_>, SmartcardError> {
        Ok(Box::new(Plain(self)))
    }
}

struct Plain<'a>(&'a mut Backend);

impl CardTransaction for Plain<'_> {
    fn transmit(&mut self, command: &[u8], _: usize) -> Result<Vec<u8>, SmartcardError> {
        // `openpgp-card` begins with it; the session has seen to it.
        if command.get(1) == Some(&SELECT) {
            return Ok(vec![0x90, 0x00]);
        }
        let Backend {
            channel,
            clock,
            verify,
            breakage,
        } = &mut *self.0;
        if let Some(reason) = &*breakage.lock() {
            return Err(SmartcardError::Error(reason.clone()));
        }
        let mut response = Vec::new();
        let begin = clock.now();
        whole_response(channel.as_mut(), command, &mut response).map_err(|error| {
            *breakage.lock() = Some(error.to_string());
            SmartcardError::Error(error.to_string())
        })?;
        // Without data VERIFY asks how many tries are left (OpenPGP card 3.4.1 §7.2.2).
        if command.get(1) == Some(&VERIFY) && command.len() > 5 {
            *verify.lock() = Some(clock.now().since(begin));
        }
        Ok(response)
    }

    fn feature_pinpad_verify(&self) -> bool {
        false
    }

    fn feature_pinpad_modify(&self) -> bool {
        false
    }

    fn pinpad_verify(
        &mut self,
        _: PinType,
        _: &Option<CardCaps>,
    ) -> Result<Vec<u8>, SmartcardError> {
        Err(no_pinpad())
    }

    fn pinpad_modify(
        &mut self,
        _: PinType,
        _: &Option<CardCaps>,
    ) -> Result<Vec<u8>, SmartcardError> {
        Err(no_pinpad())
    }

    fn was_reset(&self) -> bool {
        false
    }
}

/// Sends a command and fetches what the card keeps back (61xx, 6Cxx: ISO 7816-4 §5.6), before
/// `openpgp-card` sees it: of a card that takes extended lengths it expects no such answer, and of others it
/// sends any command again.
pub(super) fn whole_response(
    channel: &mut dyn Channel,
    command: &[u8],
    response: &mut Vec<u8>,
) -> Result<(), Error> {
    channel.transmit(command, response)?;
    if let ([.., 0x6C, exact], [header @ .., _]) = (response.as_slice(), command)
        && only_reads(command)
    {
        let again = [header, &[*exact]].concat();
        channel.transmit(&again, response)?;
    }
    if let [.., 0x6C, exact] = response.as_slice() {
        let code = ReturnCode::status_word(u16::from_be_bytes([0x6C, *exact]));
        let reason = "the card expects another length of the response; the command is not repeated";
        return Err(Error::refused("transmitting an APDU", code, reason, ""));
    }
    let mut part = Vec::new();
    while let Some([0x61, more]) = response.last_chunk().copied() {
        channel.transmit(&[0x00, 0xC0, 0x00, 0x00, more], &mut part)?;
        if part.len() <= 2 || response.len() > LONGEST {
            let reason = "the card never finishes its response";
            return Err(Error::call("GET RESPONSE", reason, ""));
        }
        response.truncate(response.len() - 2);
        response.append(&mut part);
    }
    Ok(())
}

/// Returns whether a command may be sent twice: SELECT, GET DATA, GET NEXT DATA, reading a public key, Yubico's
/// version. A VERIFY may cost a try each time.
fn only_reads(command: &[u8]) -> bool {
    matches!(
        command,
        [_, 0xA4 | 0xA5 | 0xCA | 0xCB | 0xCC | 0xF1, ..] | [_, 0x47, 0x81, ..]
    )
}

fn no_pinpad() -> SmartcardError {
    SmartcardError::Error("PIN pads are not used".to_owned())
}
