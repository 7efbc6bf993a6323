//! What a server is to be.

use std::num::NonZeroU16;

use crate::servers::handshakes::Handshakes;
use crate::servers::identity::{Certificates, Identity};
use crate::servers::possible::is_weak;

/// Whether keys and parameters with 80 bits of security may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Weak {
    /// They may: where there are any, OpenSSL's level of security is lowered to 1 (SSL_CTX_set_security_level(3)).
    Allowed,
    /// They may not.
    #[default]
    Refused,
}

/// Of OpenSSL (SSL_CTX_set_security_level(3)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecurityLevel {
    /// 2 in Debian: 112 bits.
    Distributions,
    /// 80 bits.
    One,
}

/// How many clients are served at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Capacity {
    /// Of nginx, and of Apache's MPMs with threads. prefork has a process a connection.
    pub processes: NonZeroU16,
    /// Connections at once.
    pub connections: NonZeroU16,
}

impl Capacity {
    /// One process, and room for that many connections.
    #[must_use]
    pub const fn one_process(connections: NonZeroU16) -> Self {
        Self {
            processes: NonZeroU16::MIN,
            connections,
        }
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self::one_process(NonZeroU16::MIN.saturating_add(255))
    }
}

/// Where the server listens, on 127.0.0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Port {
    /// A port that is free.
    #[default]
    Free,
    /// That one.
    Given(NonZeroU16),
}

/// Bytes of the file that is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BodySize(pub u32);

impl Default for BodySize {
    /// 4 KiB.
    fn default() -> Self {
        Self(4096)
    }
}

/// What a server is to be. Tickets and caches of sessions are always off: each handshake is a full one.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// Who it is.
    pub certificates: Certificates,
    /// What it negotiates.
    pub handshakes: Handshakes,
    /// What it may be weak in.
    pub weak: Weak,
    /// How many clients it serves.
    pub capacity: Capacity,
    /// Where it listens.
    pub port: Port,
    /// What it serves.
    pub body: BodySize,
}

impl ServerSpec {
    /// With those certificates and that key exchange, and everything else as usual.
    #[must_use]
    pub fn new(certificates: Certificates, handshakes: Handshakes) -> Self {
        Self {
            certificates,
            handshakes,
            weak: Weak::default(),
            capacity: Capacity::default(),
            port: Port::default(),
            body: BodySize::default(),
        }
    }

    /// What of it has less than 112 bits of security, for people.
    #[must_use]
    pub fn weaknesses(&self) -> Vec<String> {
        let keys = self.certificates.iter().map(Identity::algorithm);
        let keys = keys
            .filter(|algorithm| is_weak(*algorithm))
            .map(|algorithm| algorithm.to_string());
        let dh = self.handshakes.dh.filter(|dh| dh.bits() < 2048);
        let dh = dh.map(|dh| format!("DHE with {} bits", dh.bits()));
        keys.chain(dh).collect()
    }

    /// What it takes.
    pub(crate) fn level(&self) -> SecurityLevel {
        match self.weak {
            Weak::Allowed if !self.weaknesses().is_empty() => SecurityLevel::One,
            Weak::Allowed | Weak::Refused => SecurityLevel::Distributions,
        }
    }
}
