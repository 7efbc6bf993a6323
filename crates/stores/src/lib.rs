//! Key stores, one file each, and what is asked of them.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

pub mod challenge;
mod elgamal;
pub mod openpgp_card;
pub mod raw;
pub mod software;
pub mod test_key;
