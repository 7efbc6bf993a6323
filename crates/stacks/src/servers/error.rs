//! Why a server cannot be had.

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{KeyExchange, TlsVersion};
use keymark_bench::error::Error;

use crate::servers::program::Version;

/// What was asked for cannot be, and nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// libp11's engine and OpenSSL ≥ 3.0.
    #[error(
        "RSA key exchange with a key on a token by the engine is impossible: OpenSSL {openssl} decrypts the premaster \
         secret with a padding mode that engines' keys do not know; take the provider, or ECDHE"
    )]
    RsaExchangeByEngine {
        /// The server's.
        openssl: Version,
    },
    /// libp11 knows RSA and the NIST curves.
    #[error(
        "a key for {0} on a token is impossible by the engine: libp11 knows RSA and the NIST curves"
    )]
    NotByEngine(Algorithm),
    /// Below 112 bits, and not allowed.
    #[error("{0} is weak: it has 80 bits of security or less; allow it by --allow-weak")]
    Weak(String),
    /// No certificate for TLS can have such a key.
    #[error(
        "a certificate for {0} is impossible: TLS servers sign with RSA, ECDSA, EdDSA or ML-DSA"
    )]
    NoCertificate(Algorithm),
    /// ML-DSA and ML-KEM came with OpenSSL 3.5.
    #[error("{what} is impossible here: it needs OpenSSL 3.5, and the server uses {openssl}")]
    TooNew {
        /// The key or the key exchange.
        what: String,
        /// The server's.
        openssl: Version,
    },
    /// Its certificates are for TLS 1.3.
    #[error("{0} is impossible with TLS 1.2 alone: it came with TLS 1.3")]
    NeedsTls13(Algorithm),
    /// Not every version has every key exchange.
    #[error("{0} has no {1}; choose the other version with --tls, or leave it out")]
    NotInVersion(TlsVersion, KeyExchange),
    /// A server with a library of its own has less than OpenSSL.
    #[error("{0} has not {1}")]
    Lacks(&'static str, String),
    /// It loads no module for tokens.
    #[error("{0} reads private keys from files alone, and none on tokens")]
    KeysInFilesAlone(&'static str),
    /// nginx has had `ssl_certificate` twice since 1.11.0.
    #[error(
        "two certificates on one host are impossible with nginx {0}: it takes them since 1.11.0"
    )]
    TwoCertificates(Version),
    /// One RSA, one ECDSA.
    #[error("two certificates on one host are an RSA and an ECDSA one, not {0} and {1}")]
    NotADualPair(Algorithm, Algorithm),
    /// The configuration of OpenSSL has one module, and the server is handed one PIN.
    #[error(
        "two keys on tokens are behind one module, by one way (engine or provider) and with one PIN"
    )]
    TwoModules,
    /// The cipher string leaves nothing for a key of this kind.
    #[error("the cipher string '{ciphers}' has no cipher for a certificate of {algorithm}")]
    NoCipher {
        /// As it was given.
        ciphers: String,
        /// The key's.
        algorithm: Algorithm,
    },
    /// nginx does no DHE without parameters; Apache takes such as fit the certificate's key.
    #[error("the cipher string '{0}' has DHE only, and nginx needs parameters for it")]
    NoDhParameters(String),
    /// What a configuration file cannot say.
    #[error(
        "{what} cannot stand in a configuration: {path:?} has letters that mean something there"
    )]
    Unspeakable {
        /// What it is.
        what: &'static str,
        /// As it was given.
        path: String,
    },
}

/// Why there is no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// It cannot be, here or anywhere.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// Something is missing or failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl From<ServerError> for Error {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Impossible(why) => Self::call("starting a server", why, ""),
            ServerError::Failed(error) => error,
        }
    }
}
