//! TLS servers from the distribution, run by keymark: Apache httpd, nginx, and haproxy before several of them.
//!
//! A [`ServerSpec`] says what is wanted: certificates, where their keys are, key exchange, room for clients. Where it
//! cannot be had there is an [`Impossible`] with the reason, before anything is started. Everything else lives in a
//! private directory and is gone with the [`RunningServer`]. The same code writes the configuration that an
//! administrator asks for ([`administrator`]); [`check`] reads one that is there.

#![warn(missing_docs)]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

pub mod administrator;
mod balancer;
mod certificate;
pub mod check;
mod ciphers;
mod configuration;
mod dh;
mod drain;
mod error;
mod handshakes;
mod identity;
mod linked;
mod log;
mod place;
mod possible;
mod process;
mod ready;
mod server;
mod software;
mod spec;
mod token;
mod token_trace;
mod version;
mod worker_user;

pub use balancer::Balancer;
pub use certificate::Authority;
pub use dh::{DhBits, DhParameters, Ffdhe};
pub use error::{Impossible, ServerError};
pub use handshakes::{Ciphers, Group, Handshakes, KeyExchange, Protocol, UnknownWord};
pub use identity::{Certificates, Identity, KeyPlace, TokenKey, TokenWay};
pub use linked::LinkedOpenSsl;
pub use process::ProcessorTime;
pub use server::RunningServer;
pub use software::{Installed, Mpm, SearchPath, Software};
pub use spec::{BodySize, Capacity, Port, ServerSpec, Weak};
pub use token_trace::{CallsSoFar, Tracing};
pub use version::Version;
