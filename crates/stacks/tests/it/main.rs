//! The stacks on real programs: GnuPG, OpenSSH, OpenSSL, and TLS servers.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod gnupg;
mod keyrings;
mod openssl;
mod raw;
mod servers;
mod signatures;
mod sop;
mod ssh;
mod suite;
