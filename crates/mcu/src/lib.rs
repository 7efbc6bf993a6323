//! Microcontrollers of security tokens, by simulation.
//!
//! [`storage`] answers where a token's data objects can live on the flash of a
//! given part, what a write costs there and how long the flash lasts. Nothing
//! here reads a clock, a file or a key; whatever is random takes a seed.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic"))]

pub mod storage;
