//! The client against servers of the tests' own and the installed nginx.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod loops;
mod peers;
mod services;
mod support;
