//! What becomes of runs: the [`archive`] keeps them, [`exchange`] carries them elsewhere and back,
//! [`analysis`] says what they show, [`table`] and [`compare`] put it side by side.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

pub mod analysis;
pub mod archive;
pub mod compare;
pub mod exchange;
pub mod table;
#[cfg(test)]
mod testing;
pub mod trace;
pub mod units;
