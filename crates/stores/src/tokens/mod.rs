//! Tokens that are not there: real firmware as a card in this process, and twins that take the time
//! of a published device ([`keymark_bench::profile`]).

pub mod attributes;
pub mod card;
pub mod firmware;
pub mod mark;
pub mod reader;
pub mod socket;
pub mod twin;
pub mod vpcd;

mod chaining;
