//! Conversations with a card outside the timed region.
//!
//! A session is about the card that it found first, and refuses any other. An application that is selected is not
//! selected again, which could forget verified PINs. This is the one place that sends a card's PIN.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use card_backend::CardBackend;
use keymark_bench::{Error, MonotonicClock, ReturnCode};
use openpgp_card::ocard::StatusBytes;
use openpgp_card::ocard::data::ApplicationIdentifier;
use openpgp_card::state::{Open, Transaction};
use openpgp_card::{Card, Error as CardError};
use parking_lot::Mutex;

use super::backend::{Backend, Breakage, VerifyTime, whole_response};
use super::channel::{Channel, Port};
use crate::card::Aid;
use crate::user::{PinKind, PinRules, Refusal};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Password {
    /// PW1 as 82, for PSO:DECIPHER and INTERNAL AUTHENTICATE.
    User,
    /// PW1 as 81, for PSO:COMPUTE DIGITAL SIGNATURE.
    Signing,
    /// PW3 as 83, for writing.
    Admin,
}

impl Password {
    const fn kind(self) -> PinKind {
        match self {
            Self::User | Self::Signing => PinKind::User,
            Self::Admin => PinKind::Admin,
        }
    }
}

/// Has the card verify a PIN, under the rules for all devices.
#[allow(clippy::wildcard_enum_match_arm, reason = "another library's enum")]
pub(super) fn verify(
    rules: &PinRules,
    card: &mut Card<Transaction<'_>>,
    password: Password,
) -> Result<(), Error> {
    let status = card
        .pw_status_bytes()
        .map_err(|error| failed("GET DATA (C4)", &error))?;
    let tries = match password.kind() {
        PinKind::Admin => status.err_count_pw3(),
        PinKind::User => status.err_count_pw1(),
    };
    rules.verify(password.kind(), tries, |pin| {
        let secret = pin.expose().to_owned().into();
        let verified = match password {
            Password::User => card.verify_user_pin(secret),
            Password::Signing => card.verify_user_signing_pin(secret),
            Password::Admin => card.verify_admin_pin(secret),
        };
        verified.map_err(|error| match error {
            CardError::CardStatus(_) => Refusal::Judged(failed("VERIFY", &error)),
            CardError::Smartcard(_) | CardError::ResponseLength(_) => {
                Refusal::Unanswered(failed("VERIFY", &error))
            }
            _ => Refusal::Unasked(failed("VERIFY", &error)),
        })
    })
}

/// The application, selected once: selecting it again would forget verified PINs (§7.2.1).
pub(super) struct Session {
    pub(super) port: Arc<dyn Port>,
    card: Mutex<Option<(Card<Open>, Breakage)>>,
    verify: VerifyTime,
    /// The card that the session is about: the first that was there.
    aid: OnceLock<Aid>,
}

impl Session {
    pub(super) fn new(port: Arc<dyn Port>) -> Self {
        Self {
            port,
            card: Mutex::default(),
            verify: VerifyTime::default(),
            aid: OnceLock::new(),
        }
    }

    /// The card that the session is about.
    pub(super) fn aid(&self) -> Result<Aid, Error> {
        match self.aid.get() {
            Some(aid) => Ok(*aid),
            None => {
                self.connect()?;
                let aid = self.aid.get().copied();
                aid.ok_or_else(|| Error::call("GET DATA (4F)", "the card said nothing", ""))
            }
        }
    }

    /// A connection to the session's card, and to no other that is in its reader now.
    pub(super) fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        let mut channel = self.port.connect()?;
        self.is_the_card(Aid::selected(channel.as_mut())?)?;
        Ok(channel)
    }

    fn is_the_card(&self, found: Aid) -> Result<(), Error> {
        let expected = *self.aid.get_or_init(|| found);
        if found == expected {
            return Ok(());
        }
        Err(Error::call(
            format!("using card {expected}"),
            format!(
                "card {found} is in '{}' now, and it is left alone",
                self.port.reader()
            ),
            format!("put card {expected} back in, and measure this case again"),
        ))
    }

    /// Lets go of the card.
    pub(super) fn disconnect(&self) {
        *self.card.lock() = None;
    }

    pub(super) fn verify_time(&self) -> Option<Duration> {
        *self.verify.lock()
    }

    /// Connects if need be, and lets `talk` with the session's card. Which card it is is read again each
    /// time, before any PIN and anything that is written.
    pub(super) fn with<R>(
        &self,
        talk: impl FnOnce(&mut Card<Transaction<'_>>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut held = self.card.lock();
        let (mut card, breakage) = match held.take() {
            Some(held) => held,
            None => {
                let breakage = Breakage::default();
                let backend: Box<dyn CardBackend + Send + Sync> = Box::new(Backend {
                    channel: self.connect()?,
                    clock: MonotonicClock::new(),
                    verify: Arc::clone(&self.verify),
                    breakage: Arc::clone(&breakage),
                });
                let card = Card::new(backend);
                let card = card.map_err(|error| failed("GET DATA (6E)", &error))?;
                (card, breakage)
            }
        };
        let talked = card
            .transaction()
            .map_err(|error| failed("GET DATA (6E)", &error))
            .and_then(|mut transaction| {
                self.is_the_card(aid(&mut transaction)?)?;
                talk(&mut transaction)
            })?;
        // What the card did not say for that reason is no answer.
        if let Some(reason) = &*breakage.lock() {
            return Err(Error::call("talking to the card", reason, ""));
        }
        *held = Some((card, breakage));
        Ok(talked)
    }
}

/// Read from the card; `openpgp-card` keeps what it has read before.
fn aid(card: &mut Card<Transaction<'_>>) -> Result<Aid, Error> {
    let read = |error| failed("GET DATA (6E)", &error);
    let data = card.card().application_related_data().map_err(read)?;
    let id = data.application_id().map_err(read)?;
    Ok(id.into())
}

/// A failed command, with what to do.
#[allow(clippy::wildcard_enum_match_arm, reason = "another library's enum")]
pub(super) fn failed(call: &str, error: &CardError) -> Error {
    let CardError::CardStatus(status) = error else {
        return Error::call(call, error, "");
    };
    let (reason, advice) = match status {
        StatusBytes::PasswordNotChecked(tries) => (
            format!("the PIN is wrong; {tries} tries are left, and keymark does not try again"),
            "check the PIN before the next run",
        ),
        StatusBytes::AuthenticationMethodBlocked => (
            "the PIN is blocked".to_owned(),
            "unblock it with gpg --card-edit, admin, passwd",
        ),
        StatusBytes::FileOrApplicationNotFound => (
            "there is no OpenPGP application on this card".to_owned(),
            "",
        ),
        status => (status.to_string(), ""),
    };
    Error::refused(call, code(status), reason, advice)
}

/// The crate leads from status words to meanings only; each has one way back.
fn code(status: &StatusBytes) -> ReturnCode {
    let is_it = |word: &u16| {
        let [sw1, sw2] = word.to_be_bytes();
        StatusBytes::from((sw1, sw2)) == *status
    };
    ReturnCode::status_word((0x6100..=0x9000).find(is_it).unwrap_or_default())
}

/// A status word that is not 9000, by §7.9.
pub(super) fn refused(call: &str, status: [u8; 2]) -> Error {
    let meaning = StatusBytes::from((status[0], status[1]));
    let advice = match status {
        [0x69, 0x82] => "was the card reset? Then it has forgotten the verified PIN",
        [0x66, 0x00] => "touch the card's button in time",
        [0x69, 0x85] => "is there a key in the slot?",
        _ => "",
    };
    let code = ReturnCode::status_word(u16::from_be_bytes(status));
    Error::refused(call, code, meaning, advice)
}

const SELECT: [u8; 12] = [
    0x00, 0xA4, 0x04, 0x00, 0x06, 0xD2, 0x76, 0x00, 0x01, 0x24, 0x01, 0x00,
];
const GET_AID: [u8; 5] = [0x00, 0xCA, 0x00, 0x4F, 0x00];

/// Reading the application identifier, by which one card differs from every other (OpenPGP card 3.4.1 §4.2.1).
impl Aid {
    /// Returns the identifier of the card behind a channel, whose application is then selected. It is not selected
    /// anew if it was: that could cost another program its verified PIN (§7.2.1).
    pub(super) fn selected(channel: &mut dyn Channel) -> Result<Self, Error> {
        if let Some(aid) = Self::read(channel)? {
            return Ok(aid);
        }
        let mut response = Vec::new();
        whole_response(channel, &SELECT, &mut response)?;
        match response.as_slice() {
            [.., 0x90, 0x00] => {}
            [.., sw1, sw2] => return Err(refused("SELECT", [*sw1, *sw2])),
            _ => return Err(Error::call("SELECT", "the response has no status word", "")),
        }
        Self::read(channel)?.ok_or_else(|| {
            let reason = "the card has no application identifier of an OpenPGP card";
            Error::call("GET DATA (4F)", reason, "")
        })
    }

    fn read(channel: &mut dyn Channel) -> Result<Option<Self>, Error> {
        let mut response = Vec::new();
        whole_response(channel, &GET_AID, &mut response)?;
        Ok(response.strip_suffix(&[0x90, 0x00]).and_then(Self::new))
    }
}

impl From<ApplicationIdentifier> for Aid {
    fn from(id: ApplicationIdentifier) -> Self {
        Self {
            version: id.version(),
            manufacturer: id.manufacturer(),
            serial: id.serial(),
        }
    }
}
