//! TLS servers under load: those of [`servers`] with a key in a file or on a PKCS#11 token, driven by keymark's own client.
//!
//! A load is no crew of workers with handles, so that no [`Stack`](keymark_bench::workload::Stack) makes it ready: a
//! case is a server that is started and a load on it ([`StartedServers`], [`RemoteServer`]), driven by [`crate::loads`].

mod cluster;
mod comparisons;
mod handshake;
mod key_use;
mod keys;
mod measuring;
pub(crate) mod remote;
pub mod servers;
pub mod survey;
pub(crate) mod trust;

use keymark_bench::StackName;

use crate::provider::StackFamily;

pub use cluster::{Cluster, Servers, Starting};
pub use handshake::{Arrangement, Balance, Fate, Handshake, MOST_USERS, Saturating, VERSION};
pub use keymark_load::{
    ClientLine, Clients, KeyExchange, ResumedShare, Timeouts, TlsVersion, clients,
};
pub use keys::Keys;
pub use measuring::{StartedServers, search_step};
pub use remote::{Address, CONNECT, Reached, Remote, RemoteServer, Tried};
pub use servers::Tracing;

/// A server with a library of cryptography of its own.
pub const CADDY: StackName = StackName::of("caddy");

/// Servers that keymark starts, and those that run already.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || {
        let kinds = servers::KINDS.iter().map(|kind| kind.stack);
        kinds.chain([CONNECT]).collect()
    },
    dimensions: &[
        handshake::VERSION,
        handshake::KEY_EXCHANGE,
        handshake::SECOND_CERTIFICATE,
        handshake::SERVERS,
        handshake::BALANCE,
        handshake::FATE,
        handshake::MOST_USERS,
        handshake::P99_LIMIT,
        handshake::RESUMED,
        handshake::CLIENT_CERTIFICATE,
    ],
    comparisons: comparisons::ALL,
    tokens: comparisons::tokens,
    ..StackFamily::ON_REQUEST
};
