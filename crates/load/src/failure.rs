//! Why a transaction does not count.

use std::fmt;
use std::io;

use nix::errno::Errno;

use crate::protocol::Alert;

/// A stretch of a transaction, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Until the TCP connection stands.
    Connect,
    /// From there to the end of the TLS handshake, as the client sees it.
    Handshake,
    /// From there to the first byte of the answer.
    FirstByte,
    /// The transaction: from its scheduled start (open loop) or its start (closed loop) to the answer's last byte.
    Whole,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Connect => "connect",
            Self::Handshake => "handshake",
            Self::FirstByte => "first byte",
            Self::Whole => "whole",
        })
    }
}

/// What was expected of a handshake or an answer, and was not so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expectation {
    /// A full handshake: this one resumed a session.
    FullHandshake,
    /// The version.
    Version,
    /// The cipher suite.
    Cipher,
    /// The key exchange with its group.
    KeyExchange,
    /// The server's certificate.
    Certificate,
    /// A key of 2048 bits or more, unless weak ones are allowed ([`crate::Weak`]).
    KeySize,
    /// That the server has the certificate's key: its signature is wrong.
    Signature,
    /// The length of the answer's body.
    BodyLength,
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::FullHandshake => "a full handshake",
            Self::Version => "the version",
            Self::Cipher => "the cipher suite",
            Self::KeyExchange => "the key exchange",
            Self::Certificate => "the certificate",
            Self::KeySize => "a key that is not weak",
            Self::Signature => "a valid signature",
            Self::BodyLength => "the body's length",
        })
    }
}

/// Why a transaction failed. What is equal is counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// Nobody listens: `ECONNREFUSED`.
    Refused,
    /// The connection was reset: `ECONNRESET`, `EPIPE`.
    Reset(Phase),
    /// The connection ended early, without an alert.
    Closed(Phase),
    /// The TCP connection took too long.
    ConnectTimeout,
    /// The handshake took too long.
    HandshakeTimeout,
    /// The transaction took too long.
    WholeTimeout,
    /// The server sent a fatal alert.
    Alert(Alert),
    /// What was expected was not so.
    Unexpected(Expectation),
    /// The answer has another status than 200 to 399.
    Status(u16),
    /// The connection ended before the answer's body did.
    ShortBody,
    /// The answer is not HTTP/1.1 as it is understood here, and why.
    Http(String),
    /// The TLS library gave up, and why.
    Tls(String),
    /// This process has no descriptor left: `EMFILE`, `ENFILE`.
    OutOfDescriptors,
    /// This machine has no port left: `EADDRNOTAVAIL`.
    OutOfPorts,
    /// Another error of the operating system.
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
}

impl Failure {
    /// Whether the server knows of it. Failures may become more, and most reach the server.
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

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("refused"),
            Self::Reset(phase) => write!(f, "reset ({phase})"),
            Self::Closed(phase) => write!(f, "closed ({phase})"),
            Self::ConnectTimeout => f.write_str("connect timeout"),
            Self::HandshakeTimeout => f.write_str("handshake timeout"),
            Self::WholeTimeout => f.write_str("whole timeout"),
            Self::Alert(alert) => write!(f, "alert {alert}"),
            Self::Unexpected(what) => write!(f, "not as expected: {what}"),
            Self::Status(status) => write!(f, "status {status}"),
            Self::ShortBody => f.write_str("short body"),
            Self::Http(why) => write!(f, "HTTP: {why}"),
            Self::Tls(why) => write!(f, "TLS: {why}"),
            Self::OutOfDescriptors => f.write_str("out of descriptors"),
            Self::OutOfPorts => f.write_str("out of ports"),
            Self::Other(kind) => write!(f, "{kind}"),
        }
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
