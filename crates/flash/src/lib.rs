#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "objects and writes that are alike in this"
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic"))]

pub mod design;
mod error;
pub mod geometry;
pub mod nor;
pub mod object;
mod page;
mod record;
pub mod simulate;
pub mod workload;
