//! Conversations with a card outside the timed region, and the rules under which a PIN is tried.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use keymark_bench::error::Error;
use openpgp_card::ocard::StatusBytes;
use openpgp_card::state::{Open, Transaction};
use openpgp_card::{Card, Error as CardError};

use super::backend::{Backend, VerifyTime};
use super::channel::Port;
use super::pin::{Pin, PinSource, Pins};

/// Fewer tries are never touched: who mistypes next would lock the card.
const TRIES_NEEDED: u8 = 2;

/// Which PIN is verified (§7.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum PinKind {
    /// PW1 as 82, for PSO:DECIPHER and INTERNAL AUTHENTICATE.
    User,
    /// PW1 as 81, for PSO:COMPUTE DIGITAL SIGNATURE.
    Signing,
    /// PW3 as 83, for writing.
    Admin,
}

impl PinKind {
    const fn name(self) -> &'static str {
        match self {
            Self::User | Self::Signing => "user PIN",
            Self::Admin => "admin PIN",
        }
    }
}

/// PINs of one card: each is fetched once, and none is tried again once the card has refused it.
pub(super) struct Verification {
    pins: Pins,
    card: String,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    user: Option<Pin>,
    admin: Option<Pin>,
    refused: Option<&'static str>,
}

impl Verification {
    pub(super) fn new(pins: Pins, card: String) -> Self {
        Self {
            pins,
            card,
            known: Mutex::default(),
        }
    }

    /// Has the card verify a PIN. Tried once: a PIN that was refused is
    /// refused here from then on.
    pub(super) fn verify(
        &self,
        card: &mut Card<Transaction<'_>>,
        kind: PinKind,
    ) -> Result<(), Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.refused {
            return Err(self.refusal(format!(
                "the card has refused the {name} before; no PIN is tried twice"
            )));
        }
        let status = card
            .pw_status_bytes()
            .map_err(|error| failed("GET DATA (C4)", &error))?;
        let tries = match kind {
            PinKind::Admin => status.err_count_pw3(),
            PinKind::User | PinKind::Signing => status.err_count_pw1(),
        };
        self.allowed(kind, tries)?;
        let pin = self.pin(&mut known, kind)?;
        let secret = || pin.expose().to_owned().into();
        let verified = match kind {
            PinKind::User => card.verify_user_pin(secret()),
            PinKind::Signing => card.verify_user_signing_pin(secret()),
            PinKind::Admin => card.verify_admin_pin(secret()),
        };
        match verified {
            Ok(()) => Ok(()),
            Err(error) => {
                if matches!(error, CardError::CardStatus(_)) {
                    known.refused = Some(kind.name());
                }
                Err(failed("VERIFY", &error))
            }
        }
    }

    fn allowed(&self, kind: PinKind, tries: u8) -> Result<(), Error> {
        let name = kind.name();
        match tries {
            0 => Err(self.refusal(format!("the {name} is blocked (6983)"))),
            tries if tries < TRIES_NEEDED => Err(self.refusal(format!(
                "the {name} has {tries} try left, and keymark tries none that has fewer than {TRIES_NEEDED}"
            ))),
            _ => Ok(()),
        }
    }

    fn refusal(&self, reason: String) -> Error {
        let advice =
            "check the PIN with gpg --card-edit; a right PIN entered there resets the tries";
        Error::call(format!("VERIFY on {}", self.card), reason, advice)
    }

    fn pin(&self, known: &mut Known, kind: PinKind) -> Result<Pin, Error> {
        let (slot, source): (&mut Option<Pin>, &PinSource) = match kind {
            PinKind::Admin => (&mut known.admin, &self.pins.admin),
            PinKind::User | PinKind::Signing => (&mut known.user, &self.pins.user),
        };
        if let Some(pin) = slot {
            return Ok(pin.clone());
        }
        let pin = source.fetch(&format!("{} of {}", kind.name(), self.card))?;
        *slot = Some(pin.clone());
        Ok(pin)
    }

    /// The user PIN, once the card has accepted it, for a program that has to enter it too.
    pub(super) fn accepted_user_pin(&self) -> Result<Pin, Error> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted = known.user.clone().filter(|_| known.refused.is_none());
        accepted.ok_or_else(|| self.refusal("the card has not accepted a user PIN".to_owned()))
    }
}

/// The application, selected once: selecting it again would forget verified PINs (§7.2.1).
pub(super) struct Session {
    port: Arc<dyn Port>,
    card: Mutex<Option<Card<Open>>>,
    verify: VerifyTime,
}

impl Session {
    pub(super) fn new(port: Arc<dyn Port>) -> Self {
        Self {
            port,
            card: Mutex::new(None),
            verify: VerifyTime::default(),
        }
    }

    pub(super) fn port(&self) -> &dyn Port {
        self.port.as_ref()
    }

    /// What the last VERIFY took at the APDU.
    pub(super) fn verify_time(&self) -> Option<Duration> {
        self.verify.last()
    }

    /// Connects and selects the application if need be, and lets `talk`.
    pub(super) fn with<R>(
        &self,
        talk: impl FnOnce(&mut Card<Transaction<'_>>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut held = self.card.lock().unwrap_or_else(PoisonError::into_inner);
        let mut card = match held.take() {
            Some(card) => card,
            None => {
                let backend = Backend::new(self.port.connect()?, self.verify.clone());
                Card::new(backend).map_err(|error| failed("SELECT", &error))?
            }
        };
        let talked = card
            .transaction()
            .map_err(|error| failed("GET DATA (6E)", &error))
            .and_then(|mut transaction| talk(&mut transaction))?;
        *held = Some(card);
        Ok(talked)
    }
}

/// A failed command, with what to do.
pub(super) fn failed(call: &str, error: &CardError) -> Error {
    let (reason, advice) = match error {
        CardError::CardStatus(StatusBytes::PasswordNotChecked(tries)) => (
            format!("the PIN is wrong; {tries} tries are left, and it is not tried again"),
            "check the PIN before the next run",
        ),
        CardError::CardStatus(StatusBytes::AuthenticationMethodBlocked) => (
            "the PIN is blocked (6983)".to_owned(),
            "unblock it with gpg --card-edit, admin, passwd",
        ),
        CardError::CardStatus(StatusBytes::FileOrApplicationNotFound) => (
            "there is no OpenPGP application on this card (6A82)".to_owned(),
            "",
        ),
        CardError::CardStatus(status) => (status.to_string(), ""),
        other => (other.to_string(), ""),
    };
    Error::call(call, reason, advice)
}

/// A status word that is not 9000, by §7.9.
pub(super) fn refused(call: &str, status: [u8; 2]) -> Error {
    let meaning = StatusBytes::from((status[0], status[1]));
    let advice = match status {
        [0x69, 0x82] => "was the card reset meanwhile? A PIN verified before is then lost",
        [0x66, 0x00] => "touch the card's button in time",
        [0x69, 0x85] => "is there a key in the slot?",
        _ => "",
    };
    Error::call(
        call,
        format!("{:02X}{:02X} ({meaning})", status[0], status[1]),
        advice,
    )
}
