//! Where a token's objects can live on flash of a given geometry, and what a write costs there.
//!
//! [`geometry`] has the parts and their datasheet figures, [`flash`] what they let
//! be done and what a power loss leaves, [`design`] three ways to lay out the
//! objects of [`object`], [`workload`] what a token is used for, and
//! [`simulate`](mod@simulate) puts them together:
//!
//! ```
//! use keymark_mcu::storage::design::DesignKind;
//! use keymark_mcu::storage::geometry::Geometry;
//! use keymark_mcu::storage::simulate::{Length, simulate};
//! use keymark_mcu::storage::workload::Workload;
//!
//! let geometry = Geometry::find("stm32l432")?;
//! let result = simulate(&geometry, DesignKind::LogForcedCollection, Workload::Mixed, Length::Writes(2_000), 1)?;
//! assert!(result.latency_maximum.worst > result.latency_maximum.mean);
//! # Ok::<(), keymark_mcu::storage::error::StorageError>(())
//! ```

mod catalog;
pub mod design;
pub mod error;
pub mod flash;
pub mod geometry;
pub mod object;
mod record;
mod region;
pub mod simulate;
pub mod workload;
