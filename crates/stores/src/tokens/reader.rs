//! A card reader in this process: one card, used by several at once, one command at a time.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::tokens::card::{Answer, Card, CardFault};

/// The slot and what is in it.
struct CardSlot {
    card: Option<Box<dyn Card>>,
    /// Counts losses of power: who saw a smaller number lost what was verified.
    resets: u64,
}

/// A reader; clones are the same reader.
#[derive(Clone, derive_more::Debug)]
#[debug("Reader")]
pub struct CardReader(Arc<Mutex<CardSlot>>);

impl CardReader {
    /// A reader with the card in it, switched on.
    pub fn new(mut card: Box<dyn Card>) -> Self {
        card.power_on();
        Self(Arc::new(Mutex::new(CardSlot {
            card: Some(card),
            resets: 0,
        })))
    }

    /// A connection to the card.
    pub fn connect(&self) -> ReaderConnection {
        ReaderConnection {
            resets: self.slot().resets,
            reader: self.clone(),
        }
    }

    /// Pulls the card out.
    pub fn remove(&self) -> Option<Box<dyn Card>> {
        self.slot().card.take()
    }

    /// Puts a card in and switches it on.
    pub fn insert(&self, mut card: Box<dyn Card>) {
        card.power_on();
        let mut slot = self.slot();
        slot.card = Some(card);
        slot.resets += 1;
    }

    fn slot(&self) -> MutexGuard<'_, CardSlot> {
        self.0.lock()
    }
}

/// Connection of one user of the card.
#[derive(Debug)]
pub struct ReaderConnection {
    reader: CardReader,
    resets: u64,
}

impl ReaderConnection {
    /// Answer to reset.
    pub fn atr(&self) -> Result<Vec<u8>, CardFault> {
        let slot = self.reader.slot();
        let card = slot.card.as_ref().ok_or(CardFault::Removed)?;
        Ok(card.atr().to_vec())
    }

    /// Switches the card off and on, for everybody, and returns its answer to reset.
    pub fn power_on(&mut self) -> Result<Vec<u8>, CardFault> {
        let mut slot = self.reader.slot();
        slot.resets += 1;
        self.resets = slot.resets;
        let card = slot.card.as_mut().ok_or(CardFault::Removed)?;
        card.power_on();
        Ok(card.atr().to_vec())
    }

    /// Asks the card.
    pub fn transmit(&mut self, command: &[u8]) -> Result<Answer, CardFault> {
        let mut slot = self.reader.slot();
        let resets = slot.resets;
        let card = slot.card.as_mut().ok_or(CardFault::Removed)?;
        if std::mem::replace(&mut self.resets, resets) != resets {
            return Err(CardFault::Reset);
        }
        card.transmit(command)
    }
}
