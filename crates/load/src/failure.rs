//! Why a transaction does not count.

use std::io;

use nix::errno::Errno;

use crate::protocol::Alert;

/// A stretch of a transaction, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Phase {
    /// Time until the TCP connection is open.
    Connect,
    /// TLS handshake, as the client sees it.
    Handshake,
    /// Time from the handshake to the first byte of the answer.
    #[strum(to_string = "first byte")]
    FirstByte,
    /// The transaction: from its scheduled start (open loop) or its start (closed loop) to the answer's last byte.
    Whole,
}

/// Unmet expectation of a handshake or an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display)]
pub enum Expectation {
    /// A full handshake: this one resumed a session.
    #[strum(to_string = "a full handshake")]
    FullHandshake,
    /// The version.
    #[strum(to_string = "the version")]
    Version,
    /// The cipher suite.
    #[strum(to_string = "the cipher suite")]
    Cipher,
    /// The key exchange with its group.
    #[strum(to_string = "the key exchange")]
    KeyExchange,
    /// The server's certificate.
    #[strum(to_string = "the certificate")]
    Certificate,
    /// A key of 2048 bits or more, unless weak ones are allowed ([`crate::Weak`]).
    #[strum(to_string = "a key that is not weak")]
    KeySize,
    /// A valid signature with the certificate's key.
    #[strum(to_string = "a valid signature")]
    Signature,
    /// The length of the answer's body.
    #[strum(to_string = "the body's length")]
    BodyLength,
    /// An answer that can be read.
    #[strum(to_string = "the answer's form")]
    Form,
    /// The consent of the service.
    #[strum(to_string = "consent")]
    Consent,
    /// The commit, or the digest, that was sent in.
    #[strum(to_string = "what was to be signed")]
    Subject,
    /// The request's nonce.
    #[strum(to_string = "the nonce")]
    Nonce,
    /// The key that signs.
    #[strum(to_string = "the key")]
    Signer,
}

/// Why a transaction failed. What is equal is counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Failure {
    /// Nobody listens: `ECONNREFUSED`.
    #[error("refused")]
    Refused,
    /// The connection was reset: `ECONNRESET`, `EPIPE`.
    #[error("reset ({0})")]
    Reset(Phase),
    /// The connection ended early, without an alert.
    #[error("closed ({0})")]
    Closed(Phase),
    /// The TCP connection took too long.
    #[error("connect timeout")]
    ConnectTimeout,
    /// The handshake took too long.
    #[error("handshake timeout")]
    HandshakeTimeout,
    /// The transaction took too long.
    #[error("whole timeout")]
    WholeTimeout,
    /// The server sent a fatal alert.
    #[error("alert {0}")]
    Alert(Alert),
    /// An expectation was not met.
    #[error("not as expected: {0}")]
    Unexpected(Expectation),
    /// The answer has another status than 200 to 399.
    #[error("status {0}")]
    Status(u16),
    /// The connection ended before the answer's body did.
    #[error("short body")]
    ShortBody,
    /// The answer is not HTTP/1.1 as it is understood here, and why.
    #[error("HTTP: {0}")]
    Http(String),
    /// The TLS library gave up, and why.
    #[error("TLS: {0}")]
    Tls(String),
    /// No descriptor is left in this process: `EMFILE`, `ENFILE`.
    #[error("out of descriptors")]
    OutOfDescriptors,
    /// No port is left on this machine: `EADDRNOTAVAIL`.
    #[error("out of ports")]
    OutOfPorts,
    /// Another error of the operating system.
    #[error("{0}")]
    Other(io::ErrorKind),
}

impl Failure {
    /// The class of an error of a socket.
    pub(crate) fn of_socket(error: &io::Error, phase: Phase) -> Self {
        let errno = error.raw_os_error().map(Errno::from_raw);
        if matches!(errno, Some(Errno::EMFILE | Errno::ENFILE)) {
            return Self::OutOfDescriptors;
        }
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "the kinds of std have no end"
        )]
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted => Self::Reset(phase),
            io::ErrorKind::UnexpectedEof => Self::Closed(phase),
            io::ErrorKind::AddrNotAvailable => Self::OutOfPorts,
            kind => Self::Other(kind),
        }
    }

    /// Returns whether the server knows of it. Failures may become more, and most reach the server.
    pub(crate) const fn has_reached_the_server(&self) -> bool {
        !matches!(
            self,
            Self::Refused
                | Self::ConnectTimeout
                | Self::Reset(Phase::Connect)
                | Self::Closed(Phase::Connect)
                | Self::OutOfDescriptors
                | Self::OutOfPorts
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_sockets_have_classes() {
        let of = |errno: Errno| {
            Failure::of_socket(
                &io::Error::from_raw_os_error(errno as i32),
                Phase::Handshake,
            )
        };
        assert_eq!(of(Errno::ECONNREFUSED), Failure::Refused);
        assert_eq!(of(Errno::ECONNRESET), Failure::Reset(Phase::Handshake));
        assert_eq!(of(Errno::EPIPE), Failure::Reset(Phase::Handshake));
        assert_eq!(of(Errno::EMFILE), Failure::OutOfDescriptors);
        assert_eq!(of(Errno::EADDRNOTAVAIL), Failure::OutOfPorts);
        assert_eq!(
            Failure::Alert(Alert(70)).to_string(),
            "alert protocol_version"
        );
    }
}
