//! How other programs reach a card.

use std::sync::Arc;

use crate::tokens::reader::Reader;

use super::device::CardDevice;
use super::slot::Slot;
use crate::software::SoftwareStore;

/// A key in a slot of a card.
#[derive(Debug, Clone)]
pub struct CardAccess {
    /// The card: its PIN, its touch policies.
    pub card: CardDevice,
    pub slot: Slot,
    /// Where the card is.
    pub place: CardPlace,
}

/// Where a card is.
#[derive(Debug, Clone)]
pub enum CardPlace {
    /// In a reader of this process, made for the run: it can be served at a socket.
    Made {
        reader: Reader,
        /// Where the keys in its slots come from, in the clear.
        test_keys: Arc<SoftwareStore>,
    },
    /// In a reader of pcscd's, by its name.
    Pcscd(String),
}
