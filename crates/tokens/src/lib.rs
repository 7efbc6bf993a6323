//! Tokens that are not there: real firmware as a card in this process, and twins that take the time
//! of a published device. Without the feature `firmware`, their profiles alone.

#[cfg(feature = "firmware")]
pub mod attributes;
#[cfg(feature = "firmware")]
pub mod card;
#[cfg(feature = "firmware")]
pub mod firmware;
#[cfg(feature = "firmware")]
pub mod mark;
pub mod profile;
#[cfg(feature = "firmware")]
pub mod reader;
#[cfg(feature = "firmware")]
pub mod socket;
#[cfg(feature = "firmware")]
pub mod twin;
#[cfg(feature = "firmware")]
pub mod vpcd;

#[cfg(feature = "firmware")]
mod chaining;
