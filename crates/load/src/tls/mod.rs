//! The client's side of TLS, by OpenSSL as it is built in, and the check of each handshake.

mod check;
mod leaf;
mod session;

pub use check::Negotiated;
pub(crate) use check::{Checker, Seen};
pub use leaf::algorithm as key_of_certificate;
pub(crate) use session::{Connector, Session, Stop};

/// Whether keys are accepted that nobody should use any more: RSA and DH below 2048 bits, SHA-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weak {
    /// No: OpenSSL's own limits hold.
    #[default]
    Refused,
    /// Yes: OpenSSL's security level 0.
    Allowed,
}
