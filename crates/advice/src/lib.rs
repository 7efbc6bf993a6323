//! What a key is worth, and until when: its strength by each table, its status by each policy at a date.
//! Every statement has its source, and who read it ([`Verified`]); what nobody could check is not here.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

pub mod advise;
pub mod audit;
pub mod capacity;
pub mod catalogue;
pub mod compatibility;
pub mod cost;
pub mod key_spec;
pub mod policy;
pub mod strength;
pub mod until;

pub use keymark_bench::strength::{Strength, Table, Verified};
