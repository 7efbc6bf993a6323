//! Plans and the runner, over stacks that do nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod baseline;
mod plan;
mod runner;
