//! What becomes of runs: the [`archive`] keeps them, [`exchange`] carries them elsewhere and back,
//! [`analysis`] and [`compare`] say what they show as a [`document`], and [`render`] writes that down for
//! people; [`pictures`] makes charts of its figures. Programs read [`table`]s.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

pub mod analysis;
pub mod answers;
pub mod archive;
pub mod charts;
pub mod compare;
pub mod document;
pub mod exchange;
pub mod formats;
mod grouped;
pub mod history;
mod lines;
pub mod pictures;
pub mod pivot;
pub mod render;
pub mod report;
pub mod series;
pub mod site;
pub mod table;
pub mod units;
pub mod visible;
mod xml;
