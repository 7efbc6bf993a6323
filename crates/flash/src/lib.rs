//! Where a token's objects can live on flash of a given geometry, and what a write costs there.
//!
//! [`geometry`] has the parts and their datasheet figures, [`nor`] what they let
//! be done and what a power loss leaves, [`design`] three ways to lay out the
//! objects of [`object`], [`workload`] what a token is used for, and
//! [`simulate`](mod@simulate) puts them together:
//!
//! ```
//! use keymark_flash::design::DesignKind;
//! use keymark_flash::geometry::Geometry;
//! use keymark_flash::simulate::{Length, simulate};
//! use keymark_flash::workload::Workload;
//!
//! let geometry = Geometry::find("stm32l432")?;
//! let result = simulate(&geometry, DesignKind::LogForcedCollection, Workload::Mixed, Length::Writes(2_000), 1)?;
//! assert!(result.latency_maximum.worst > result.latency_maximum.mean);
//! # Ok::<(), keymark_flash::error::StorageError>(())
//! ```
//!
//! Nothing here reads a clock or a key; whatever is random takes a seed.

#![warn(missing_docs)]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "objects and writes that are alike in this"
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic"))]

mod catalog;
pub mod design;
pub mod error;
pub mod geometry;
pub mod nor;
pub mod object;
mod record;
mod region;
pub mod simulate;
pub mod workload;
