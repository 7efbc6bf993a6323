//! A home with the keys of one algorithm, or of one card.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keymark_bench::case::Case;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_stores::card::{CardAccess, Slot, TouchPolicy};
use keymark_stores::tokens::socket::CardServer;
use keymark_stores::user::Pin;

use super::home::Home;
use super::listing::{self, ListedKey};
use super::meter::Meter;

/// The home.
#[derive(Debug)]
pub struct KeyHome {
    /// The home; its agent ends before the card that it uses.
    pub home: Home,
    pub(super) keys: Vec<ListedKey>,
    pub(super) meter: Option<Arc<Meter>>,
    /// For each signature anew, if the card wants that.
    pub(super) signing_pin: Option<SigningPin>,
    pub(super) card: HomeCard,
}

/// The card of a home.
#[derive(Debug)]
pub(super) enum HomeCard {
    /// Its keys are in files.
    None,
    /// In this process, served to scdaemon for as long as the home lives; or by somebody else.
    Made { _server: Option<CardServer> },
    /// In a reader; it may want its owner's finger.
    Inserted(Arc<dyn CardAccess>),
}

/// The PIN of a card that wants it for each signature, until it is refused.
#[derive(derive_more::Debug)]
#[debug("SigningPin")]
pub(super) struct SigningPin {
    pub(super) pin: Pin,
    pub(super) refused: AtomicBool,
}

impl KeyHome {
    /// One with keys in files.
    pub(super) const fn of_files(home: Home, keys: Vec<ListedKey>) -> Self {
        Self {
            home,
            keys,
            meter: None,
            signing_pin: None,
            card: HomeCard::None,
        }
    }

    /// One with keys on a card.
    pub(super) fn of_card(home: Home, keys: Vec<ListedKey>, card: HomeCard) -> Result<Self, Error> {
        Ok(Self {
            meter: Meter::of(&home)?.map(Arc::new),
            home,
            keys,
            signing_pin: None,
            card,
        })
    }

    /// What measures the parts of a case's operations: where there is a card, and one worker.
    pub fn meter(&self, case: &Case) -> Option<Arc<Meter>> {
        self.meter.clone().filter(|_| case.concurrency() == 1)
    }

    /// Tells the user to touch the card's button, if the key of the operation wants that.
    pub(crate) fn ask_for_touch(&self, operation: Operation) {
        let (HomeCard::Inserted(card), Some(slot)) = (&self.card, Slot::of(operation)) else {
            return;
        };
        match card.check_touch(slot) {
            Ok(TouchPolicy::Each | TouchPolicy::Cached) => card.ask_for_touch(),
            Ok(TouchPolicy::Off) | Err(_) => {}
        }
    }

    /// Whether the card lets several workers at its key: of a PIN that is told each time, each of them
    /// would cost a try before the first refusal is known.
    pub(crate) fn check_workers(&self, case: &Case) -> Result<(), Error> {
        if case.concurrency() == 1 || self.pin_for(case.operation)?.is_none() {
            return Ok(());
        }
        Err(Error::call(
            format!("letting {} workers use one card", case.concurrency()),
            "it needs its PIN for every signature: a refused PIN would cost several tries",
            "--stack raw asks it in turn; gpg --card-edit, admin, forcesig makes the card remember its PIN",
        ))
    }

    /// The PIN that the card's operation needs, told each time; refused before, it is not tried again.
    pub(crate) fn pin_for(&self, operation: Operation) -> Result<Option<Pin>, Error> {
        let Some(signing) = self
            .signing_pin
            .as_ref()
            .filter(|_| operation == Operation::Sign)
        else {
            return Ok(None);
        };
        if signing.refused.load(Ordering::Acquire) {
            return Err(Error::call(
                "VERIFY",
                "a signature with this PIN failed before; no PIN is tried twice",
                "",
            ));
        }
        Ok(Some(signing.pin.clone()))
    }

    /// An operation failed that was given this PIN, if any.
    pub(crate) fn pin_was_refused(&self, pin: Option<&Pin>) {
        if let (Some(_), Some(signing)) = (pin, &self.signing_pin) {
            signing.refused.store(true, Ordering::Release);
        }
    }

    /// The key that does the operation: that in the card's slot, by the fingerprint that the card has of it, or
    /// else that which gpg would use.
    pub fn key(&self, operation: Operation) -> Result<&ListedKey, Error> {
        if let Some((slot, fingerprint)) = self.in_slot(operation)? {
            let mut keys = self.keys.iter();
            let key = keys.find(|key| key.fingerprint == fingerprint);
            let key = key.ok_or_else(|| {
                Error::call(
                    "gpg --list-secret-keys",
                    format!(
                        "your keyring has no public key for the key in slot {slot}, {fingerprint}"
                    ),
                    "import it (gpg --card-edit, fetch), or measure with --stack raw",
                )
            })?;
            key.check(operation)?;
            return Ok(key);
        }
        listing::chosen(&self.keys, operation)
    }

    /// The slot of a card in a reader whose key does the operation, and the key's fingerprint, if the
    /// card has it.
    fn in_slot(&self, operation: Operation) -> Result<Option<(Slot, String)>, Error> {
        let (HomeCard::Inserted(card), Some(slot)) = (&self.card, Slot::of(operation)) else {
            return Ok(None);
        };
        let fingerprint = card.fingerprint(slot)?;
        Ok(fingerprint.map(|fingerprint| (slot, fingerprint)))
    }
}
