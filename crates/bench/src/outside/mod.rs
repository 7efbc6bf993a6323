//! What comes from outside: how much of a file is read ([`read`]), and how text is shown that somebody else
//! wrote ([`visible`]).

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

pub mod read;
pub mod visible;
