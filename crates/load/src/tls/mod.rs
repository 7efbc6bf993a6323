//! The client's side of TLS, by two libraries behind one trait.

mod check;
mod leaf;
mod with_openssl;
mod with_rustls;

use std::fmt;
use std::str::FromStr;

use keymark_bench::algorithm::{Curve, Family};
use mio::net::TcpStream;

pub use check::Negotiated;
pub(crate) use check::{Checker, Handshake, Seen};

use keymark_bench::case::{KeyExchange, TlsVersion};

use crate::error::Error;
use crate::failure::Failure;
use crate::protocol::CipherSuite;
use crate::target::{Certificate, Expected, Target, Unknown};

/// The library that speaks TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// rustls with aws-lc-rs: the quicker one.
    Rustls,
    /// OpenSSL, built in: what rustls refuses for good reasons, and what it has not yet.
    OpenSsl,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Rustls => "rustls",
            Self::OpenSsl => "openssl",
        })
    }
}

impl FromStr for Engine {
    type Err = Unknown;

    fn from_str(word: &str) -> Result<Self, Unknown> {
        match word {
            "rustls" => Ok(Self::Rustls),
            "openssl" => Ok(Self::OpenSsl),
            other => Err(Unknown::new("TLS engine", other)),
        }
    }
}

impl Engine {
    /// The engine for a key exchange: rustls where it can.
    #[must_use]
    pub const fn for_(exchange: KeyExchange) -> Self {
        match exchange {
            KeyExchange::EcdheP256
            | KeyExchange::EcdheP384
            | KeyExchange::X25519
            | KeyExchange::X25519MlKem768
            | KeyExchange::SecP256r1MlKem768 => Self::Rustls,
            KeyExchange::Rsa
            | KeyExchange::Dhe1024
            | KeyExchange::Dhe2048
            | KeyExchange::Dhe3072
            | KeyExchange::Dhe4096
            | KeyExchange::EcdheP521
            | KeyExchange::X448
            | KeyExchange::SecP384r1MlKem1024 => Self::OpenSsl,
        }
    }

    /// The engine for all that is expected: a certificate's key, too, may be beyond rustls. A pinned certificate
    /// does not tell its key.
    #[must_use]
    pub const fn for_expected(expected: &Expected, weak: WeakSizes) -> Self {
        match (expected.certificate, weak) {
            (Certificate::Key(algorithm), _) if !is_for_rustls(algorithm.family()) => Self::OpenSsl,
            (Certificate::Pinned(_) | Certificate::Any, WeakSizes::Allowed) => Self::OpenSsl,
            (Certificate::Key(_), _)
            | (Certificate::Pinned(_) | Certificate::Any, WeakSizes::Refused) => {
                Self::for_(expected.key_exchange)
            }
        }
    }

    /// What makes connections to the target.
    pub(crate) fn connector(
        self,
        target: &Target,
        weak: WeakSizes,
    ) -> Result<Box<dyn Connector>, Error> {
        match self {
            Self::Rustls => with_rustls::connector(target),
            Self::OpenSsl => with_openssl::connector(target, weak),
        }
    }
}

/// The suite of TLS 1.3 that is offered first, as browsers do: servers that follow the client's order then do the same
/// work for both engines.
const FAVOURITE: CipherSuite = CipherSuite(0x1301);

/// Whether rustls verifies signatures of certificates with such a key.
const fn is_for_rustls(family: Family) -> bool {
    match family {
        Family::Rsa(2048..)
        | Family::Weierstrass(Curve::NistP256 | Curve::NistP384 | Curve::NistP521)
        | Family::Ed25519 => true,
        Family::Rsa(_)
        | Family::Weierstrass(
            Curve::BrainpoolP256r1
            | Curve::BrainpoolP384r1
            | Curve::BrainpoolP512r1
            | Curve::Secp256k1,
        )
        | Family::Dsa(_)
        | Family::Elgamal(_)
        | Family::Cv25519
        | Family::Cv448
        | Family::Ed448
        | Family::MlKem(_)
        | Family::MlDsa(_)
        | Family::SlhDsa(..)
        | Family::KyberComposite(_) => false,
    }
}

/// The curves that a TLS 1.2 client offers besides the group it wants: there the list of groups is that of the
/// certificate's curves as well (RFC 8422 §5.1.1), and a server with a P-256 certificate would refuse a client that has
/// X25519 alone. Which group was used is checked.
fn curves_of_certificate(expected: &Expected) -> &'static [KeyExchange] {
    const BOTH: &[KeyExchange] = &[KeyExchange::EcdheP256, KeyExchange::EcdheP384];
    match (expected.version, expected.certificate) {
        (TlsVersion::V1_3, _) => &[],
        (TlsVersion::V1_2, Certificate::Pinned(_) | Certificate::Any) => BOTH,
        (TlsVersion::V1_2, Certificate::Key(algorithm)) => match algorithm.length() {
            ("nist", 256) => &[KeyExchange::EcdheP256],
            ("nist", 384) => &[KeyExchange::EcdheP384],
            ("nist", 521) => &[KeyExchange::EcdheP521],
            _ => &[],
        },
    }
}

/// Whether keys are accepted that nobody should use any more: RSA and DH below 2048 bits, SHA-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WeakSizes {
    /// No: the library's own limits hold.
    #[default]
    Refused,
    /// Yes: OpenSSL's security level 0.
    Allowed,
}

/// Makes TLS connections, all alike.
pub(crate) trait Connector: fmt::Debug + Send + Sync {
    /// A handshake to be made over a connected socket.
    fn open(&self, socket: TcpStream) -> Result<Box<dyn Session>, Failure>;
}

/// Why a step of a session did not end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The socket would block.
    Blocked,
    /// There is nothing to wait for.
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// So many bytes, more than none.
    Bytes(usize),
    /// The peer has said that this was all.
    End,
}

/// One TLS connection over a socket that does not block. A step that was blocked is taken again when the socket is
/// ready.
pub(crate) trait Session: fmt::Debug + Send {
    /// Goes on with the handshake. The client's last flight may go out with what is sent first.
    fn handshake(&mut self) -> Result<(), Stop>;

    /// Shows the handshake, which has ended, to who checks it.
    fn show(&self, checker: &mut Checker) -> Result<(), Failure>;

    /// The certificates that the server sent, in DER, its own first.
    fn chain(&self) -> Vec<Vec<u8>>;

    /// Sends all of `bytes`; after a block the same bytes are handed in again, from the start.
    fn send(&mut self, bytes: &[u8]) -> Result<(), Stop>;

    /// Receives some of the answer.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, Stop>;
}
