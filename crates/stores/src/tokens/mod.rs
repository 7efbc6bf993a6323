//! Tokens that are not there: real firmware as a card in this process, and twins that take the time
//! of a published device ([`keymark_bench::profile`]).

pub mod card;
#[cfg(feature = "tokens")]
mod chaining;
#[cfg(feature = "tokens")]
pub mod firmware;
#[cfg(feature = "tokens")]
pub mod identity_tag;
pub mod reader;
pub mod socket;
#[cfg(feature = "tokens")]
pub mod twin;
#[cfg(feature = "tokens")]
pub mod vpcd;
