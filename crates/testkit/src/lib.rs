//! What keymark's tests share: cases, scripted stacks, a keymark with a place of its own, a private
//! pcscd with a card in its reader.
//!
//! Integration tests only. A crate below this one is compiled a second time for its unit tests, and
//! its types are then not those of the cases and fakes in here.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod case;
pub mod fake;
#[cfg(feature = "cards")]
pub mod inserted;
#[cfg(feature = "cards")]
pub mod pcscd;
pub mod place;
pub mod process;
pub mod record;
pub mod softhsm;
pub mod waiting;
mod words;

pub use case::{CaseBuilder, case};
pub use words::{assert_says, assert_silent};
