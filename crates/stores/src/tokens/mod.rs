//! Tokens that are not there: real firmware as a card in this process, and twins that take the time
//! of a published device ([`keymark_bench::profile`]).

#[cfg(feature = "openpgp-card")]
pub mod attributes;
pub mod card;
#[cfg(feature = "openpgp-card")]
mod chaining;
#[cfg(feature = "openpgp-card")]
pub mod firmware;
#[cfg(feature = "openpgp-card")]
pub mod identity_tag;
pub mod reader;
pub mod socket;
#[cfg(feature = "openpgp-card")]
pub mod twin;
#[cfg(feature = "openpgp-card")]
pub mod vpcd;
