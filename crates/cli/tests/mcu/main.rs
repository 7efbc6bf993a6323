//! `keymark mcu` as its users call it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod firmware;
mod place;
mod predict;
mod storage;
