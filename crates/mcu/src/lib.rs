#![doc = include_str!("../README.md")]
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
pub mod listing;
pub mod machine;
pub mod microcontroller;
mod named;
pub mod predict;
pub mod profiler;
pub mod target;
pub mod timing;
