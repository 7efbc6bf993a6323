//! The key store `openpgp-card`: cards in readers, the virtual card in this process, and twins.
//!
//! Setting up goes through the crate `openpgp-card`; what is timed is the APDU itself, sent through
//! a [`Channel`] of our own: the crate `card-backend-pcsc` begins a transaction for each command,
//! which would stand between the two clock readings.

mod answer;
mod apdu;
mod backend;
mod channel;
mod device;
mod facts;
mod handle;
mod import;
#[cfg(feature = "pcsc")]
pub mod pcsc;
mod pin;
mod session;
mod slot;
mod stack;
mod virtual_card;

pub use answer::checked;
pub use channel::{Channel, Port};
pub use device::{CardDevice, Consent, Notice};
pub use facts::{CardFacts, KeyPresence, SigningPin, SlotFacts, TouchPolicy, Transfer, Tries};
pub use pin::{Pin, PinSource, Pins};
pub use slot::Slot;
pub use stack::CardRawStack;
pub use virtual_card::{CardMaker, VirtualPort};
