//! Tokens that are not there: real firmware as a card in this process, and twins that take the time
//! of a published device.

pub mod attributes;
pub mod card;
pub mod catalogue;
pub mod firmware;
pub mod profile;
pub mod reader;
pub mod socket;
pub mod twin;
pub mod vpcd;

mod chaining;
