//! What a server is to be.

use std::num::NonZeroU16;

use crate::handshakes::Handshakes;
use crate::identity::Certificates;

/// Whether keys and parameters with 80 bits of security may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Weak {
    /// They may: OpenSSL's level of security is lowered to 1 (SSL_CTX_set_security_level(3)).
    Allowed,
    /// They may not.
    #[default]
    Refused,
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
}
