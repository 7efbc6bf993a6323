//! Where a token's objects can live on flash of a given geometry.

pub mod error;
pub mod flash;
pub mod geometry;
pub mod object;
