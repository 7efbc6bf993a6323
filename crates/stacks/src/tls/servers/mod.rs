//! TLS servers, run by keymark: Apache httpd, nginx and Caddy, and haproxy before several of them.
//!
//! A [`ServerSpec`] says what is wanted: certificates, where their keys are, key exchange, room for clients. Where it
//! cannot be had there is an error with the reason, before anything is started. Everything else lives in a
//! private directory and is gone with the [`RunningServer`]. What only one kind of server has is in its file
//! ([`ServerKind`]). The same code writes the configuration that an administrator asks for ([`administrator`]).

#![warn(missing_docs)]

pub mod administrator;
mod apache;
mod balancer;
mod caddy;
mod certificate;
pub(crate) mod directory;
mod identity;
mod kind;
pub(crate) mod log;
mod nginx;
mod openssl;
pub(crate) mod process;
pub(crate) mod running;
mod spec;
mod text;
mod token;
mod worker_user;

pub use crate::installed::{SearchPath, Version};
pub use crate::openssl::TokenWay;
pub use balancer::{Balancer, HAPROXY};
pub(crate) use certificate::private_key;
pub use certificate::{Authority, Purpose};
pub use identity::{Certificates, Identity};
pub use keymark_load::Weak;
pub use kind::{CryptoLibrary, InstalledServer, KINDS, ServerKind, kind};
pub(crate) use openssl::too_new;
pub use running::{RunningServer, Served};
pub use spec::{Capacity, DhParameters, Handshakes, ServerSpec};
pub use token::{CallsSoFar, Tracing};

/// Returns the error for a server that cannot be had; nothing was started.
pub(crate) fn impossible(why: impl std::fmt::Display) -> keymark_bench::Error {
    keymark_bench::Error::Impossible(why.to_string())
}

/// The configuration of OpenSSL has one module, and the server is handed one PIN.
pub(crate) const TWO_MODULES: &str = "two keys on tokens must be behind one module, used in one way (engine or provider), with one PIN";
