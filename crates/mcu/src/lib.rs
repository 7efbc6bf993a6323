//! What a private-key operation would cost on a microcontroller that is not here.
//!
//! Compiled code runs in a simulator of the Cortex-M3 and Cortex-M4 ([`machine`]); a model of core and flash
//! ([`timing`]) says how long it takes. [`kernel`] has private-key operations as token firmware does them,
//! [`predict`] times one on a part ([`microcontroller`]) with the band that its assumptions leave
//! ([`sensitivity`]).
//!
//! Nothing here reads a clock or a key.

#![warn(missing_docs)]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "an instruction set has hundreds of forms"
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic"))]

pub mod decode;
pub mod image;
pub mod instruction;
pub mod kernel;
pub mod layout;
pub mod machine;
pub mod microcontroller;
pub mod predict;
pub mod profiler;
pub mod sensitivity;
pub mod target;
pub mod timing;
