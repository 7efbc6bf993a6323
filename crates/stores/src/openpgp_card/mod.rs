//! The family `openpgp-card`: cards in readers, the virtual card in this process, and twins.
//!
//! Setting up goes through the crate `openpgp-card`; what is timed is the APDU itself, sent through
//! a [`Channel`] of our own: the crate `card-backend-pcsc` begins a transaction for each command,
//! which would be between the two clock readings.

mod apdu;
mod backend;
pub mod catalogue;
mod channel;
mod device;
mod facts;
mod family;
mod handle;
mod import;
mod inserted;
mod journal;
pub mod pcsc;
mod session;
mod virtual_card;
mod writing;

pub use channel::{Channel, Port, Reset};
pub use device::CardDevice;
pub(crate) use facts::algorithm;
pub use facts::{CardFacts, KeyPresence, SlotFacts, Transfer, Tries};
pub use family::look;
pub use virtual_card::{CardMaker, VirtualCards};
