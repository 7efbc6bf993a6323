//! The library as C programs see it: loaded from its file, in a process of its own for each
//! scenario, because it reads the environment once.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod forwarded;
mod library;
mod served;
mod server;
mod status;
mod status_change;
mod traced;
mod world;
