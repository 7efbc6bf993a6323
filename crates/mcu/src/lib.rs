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

/// Why something cannot be had: a part, a target, a program or its result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct McuError(String);

/// Result with the one error that this crate has.
pub type Result<T, E = McuError> = std::result::Result<T, E>;
