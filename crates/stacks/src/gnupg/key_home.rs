//! A home with the keys of one algorithm, or of one card.

use std::sync::Arc;

use keymark_bench::case::Case;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
#[cfg(feature = "openpgp-card")]
use keymark_stores::openpgp_card::{CardDevice, Slot, TouchPolicy};
#[cfg(feature = "openpgp-card")]
use keymark_tokens::socket::CardServer;

use super::home::Home;
use super::meter::Meter;
use super::status::ListedKey;

/// The home.
#[derive(Debug)]
pub struct KeyHome {
    /// The home; its agent ends before the card that it uses.
    pub home: Home,
    pub(super) keys: Vec<ListedKey>,
    pub(super) meter: Option<Arc<Meter>>,
    #[cfg(feature = "openpgp-card")]
    pub(super) card: HomeCard,
}

/// The card of a home.
#[cfg(feature = "openpgp-card")]
#[derive(Debug)]
pub(super) enum HomeCard {
    /// Its keys are in files.
    None,
    /// In this process, served to scdaemon for as long as the home lives; or by somebody else.
    Made { _server: Option<CardServer> },
    /// In a reader; it may want its owner's finger.
    Inserted(CardDevice),
}

impl KeyHome {
    /// One with keys in files.
    pub(super) const fn of_files(home: Home, keys: Vec<ListedKey>) -> Self {
        Self {
            home,
            keys,
            meter: None,
            #[cfg(feature = "openpgp-card")]
            card: HomeCard::None,
        }
    }

    /// One with keys on a card.
    #[cfg(feature = "openpgp-card")]
    pub(super) fn of_card(home: Home, keys: Vec<ListedKey>, card: HomeCard) -> Result<Self, Error> {
        Ok(Self {
            meter: Meter::of(&home)?.map(Arc::new),
            home,
            keys,
            card,
        })
    }

    /// What measures the parts of a case's operations: where there is a card, and one worker.
    #[must_use]
    pub fn meter(&self, case: &Case) -> Option<Arc<Meter>> {
        self.meter.clone().filter(|_| case.concurrency() == 1)
    }

    /// Tells the user to touch the card's button, if the key of the operation wants that.
    #[cfg(feature = "openpgp-card")]
    pub(crate) fn ask_for_touch(&self, operation: Operation) {
        let (HomeCard::Inserted(card), Some(slot)) = (&self.card, Slot::of(operation)) else {
            return;
        };
        match card.check_touch(slot) {
            Ok(TouchPolicy::Each | TouchPolicy::Cached) => card.ask_for_touch(),
            Ok(TouchPolicy::Off) | Err(_) => {}
        }
    }

    /// Keys in files want no touch.
    #[cfg(not(feature = "openpgp-card"))]
    pub(crate) const fn ask_for_touch(&self, _: Operation) {}

    /// The key that does the operation; a primary key signs, a subkey decrypts, an RSA key does both.
    ///
    /// # Errors
    /// When the home has none, which gpg's listing then shows.
    pub fn key(&self, operation: Operation) -> Result<&ListedKey, Error> {
        let letter = if operation.signs() { 's' } else { 'e' };
        self.keys
            .iter()
            .find(|key| key.capabilities.contains(letter))
            .ok_or_else(|| {
                Error::call(
                    "gpg --list-secret-keys",
                    format!("no key can {operation}"),
                    "",
                )
            })
    }
}
