//! Tokens that are not there: real firmware as a card in this process, and twins that take the time
//! of a published device ([`keymark_bench::profile`]).

pub mod card;
#[cfg(feature = "cards")]
mod chaining;
#[cfg(feature = "cards")]
pub mod firmware;
#[cfg(feature = "cards")]
pub mod identity_tag;
pub mod reader;
pub mod socket;
#[cfg(feature = "cards")]
pub mod twin;
#[cfg(feature = "cards")]
pub mod vpcd;
