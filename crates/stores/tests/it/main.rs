//! The key stores: what each of them must pass, and what cards do that misbehave.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod card_faults;
mod conformance;
mod fault_matrix;
mod mcu_kernels;
mod scripted;
mod software;
