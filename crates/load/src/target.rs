//! The server that is asked, and what each of its handshakes must be.

use std::net::SocketAddr;

use derive_more::Display;
use keymark_bench::Algorithm;
use openssl::pkey::{PKey, Private};
use openssl::x509::X509;

use crate::key_exchange::{KeyExchange, TlsVersion};
use crate::resumption::ResumedShare;
use crate::service::Service;

/// Target or service of a load.
#[derive(Debug, Clone, Copy, derive_more::From)]
pub enum Asked<'a> {
    /// A TLS server, for a handshake and a file.
    Tls(&'a Target),
    /// A service of HTTP.
    Service(&'a Service),
}

/// A server and what is asked of it.
#[derive(Debug, Clone)]
pub struct Target {
    /// Address at which it listens.
    pub address: SocketAddr,
    /// The name in the handshake (RFC 6066 §3) and in the request's `Host`.
    pub server_name: String,
    /// The request's path, with its leading slash.
    pub path: String,
    /// Certificate of the clients, for a server that asks for one.
    pub client: Option<ClientIdentity>,
    /// Expectations of each transaction.
    pub expected: Expected,
}

/// Certificate of a client with its private key.
#[derive(Clone, derive_more::Debug)]
#[debug("ClientIdentity({algorithm})")]
pub struct ClientIdentity {
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// The certificate.
    pub certificate: X509,
    /// The private key.
    pub key: PKey<Private>,
}

/// Expectations of every handshake and answer: all else is a failure, of a class of its own.
///
/// That the handshake was a full one is expected unless sessions are to be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The version, the only one that is offered.
    pub version: TlsVersion,
    /// The key exchange, the only one that is offered.
    pub key_exchange: KeyExchange,
    /// The server's certificate.
    pub certificate: Certificate,
    /// Bytes of the answer's body, if they are known.
    pub body: Option<u64>,
    /// Share of connections that resume a session. What the server resumed is counted.
    pub resumed: ResumedShare,
}

/// Versions, key exchanges and signatures that a client offers a server to choose from.
#[derive(Debug, Clone)]
pub struct ClientOffer {
    /// The only version; none means all that OpenSSL has.
    pub version: Option<TlsVersion>,
    /// The only key exchange; none means all that OpenSSL has.
    pub key_exchange: Option<KeyExchange>,
    /// The certificates that are accepted.
    pub certificate: Certificate,
    /// Certificate for a server that asks for one.
    pub client: Option<ClientIdentity>,
    /// Share of connections that offer a session.
    pub resumed: ResumedShare,
}

impl ClientOffer {
    /// Every version and key exchange, with these certificates.
    pub const fn of_certificates(certificate: Certificate) -> Self {
        Self {
            version: None,
            key_exchange: None,
            certificate,
            client: None,
            resumed: ResumedShare::NONE,
        }
    }
}

impl From<&Target> for ClientOffer {
    fn from(target: &Target) -> Self {
        let expected = &target.expected;
        Self {
            version: Some(expected.version),
            key_exchange: Some(expected.key_exchange),
            certificate: expected.certificate,
            client: target.client.clone(),
            resumed: expected.resumed,
        }
    }
}

/// Expectation of the server's own certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificate {
    /// The certificate with this fingerprint.
    Pinned(Fingerprint),
    /// A certificate with a key of this algorithm. Only its signatures are offered, so that of two certificates the
    /// server sends this one.
    Key(Algorithm),
    /// Any with an RSA key: only RSA signatures are offered.
    Rsa,
    /// Any with a key on a curve: only ECDSA and EdDSA are offered.
    Curve,
    /// Any: the result says which was seen.
    Any,
}

/// SHA-256 of a certificate in DER.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Debug, Display)]
#[display("{}", hex::encode(_0))]
#[debug("Fingerprint({self})")]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Computes the fingerprint of a certificate in DER.
    pub fn of(der: &[u8]) -> Self {
        Self(openssl::sha::sha256(der))
    }
}
