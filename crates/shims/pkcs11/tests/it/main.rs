//! The library before SoftHSM2, as programs see it that load it from its file.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod clients;
mod module;
mod network;
mod traced;
mod twin;
mod world;
