//! The client against servers of the tests' own.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod loops;
mod peers;
mod resumption;
mod services;
mod support;
