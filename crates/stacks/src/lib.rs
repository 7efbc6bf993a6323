//! Real programs, started in private directories and gone afterwards.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

pub mod gnupg;
pub mod private_dir;
