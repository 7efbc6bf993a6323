//! The programs through which keys are reached, started in private directories and gone afterwards. One
//! file or folder a family; [`registry`] has the list, [`inventory`] what of it is here.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

pub mod card_holder;
pub mod git;
pub mod gnupg;
mod installed;
pub mod inventory;
pub mod loads;
pub mod openssl;
pub mod plans;
mod programs;
pub mod provider;
pub mod raw;
mod references;
pub mod registry;
pub mod services;
pub mod sop;
pub mod ssh;
mod templates;
pub mod tls;

pub use keymark_stores::places::{private_dir, process};

use keymark_stores::places::program;
