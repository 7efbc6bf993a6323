//! Where a token's objects can live on flash of a given geometry.

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
