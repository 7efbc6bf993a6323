//! Why a server cannot be had.

use keymark_bench::{Algorithm, Error};
use keymark_load::{KeyExchange, TlsVersion};

use crate::installed::Version;

/// Request that cannot be met; nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// libp11's engine and OpenSSL ≥ 3.0.
    #[error(
        "RSA key exchange is impossible with a key on a token through the engine: OpenSSL {openssl} decrypts the \
         premaster secret with a padding mode that engines' keys do not support; use the provider, or ECDHE"
    )]
    RsaExchangeByEngine {
        /// The server's.
        openssl: Version,
    },
    /// libp11 knows RSA and the NIST curves.
    #[error(
        "a {0} key on a token is impossible through the engine: libp11 supports RSA and the NIST curves"
    )]
    NotByEngine(Algorithm),
    /// Below 112 bits, and not allowed.
    #[error("{0} is weak: it has 80 bits of security or less; allow it with --allow-weak")]
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
    #[error("{0} is impossible with TLS 1.2: it needs TLS 1.3")]
    NeedsTls13(Algorithm),
    /// Not every version has every key exchange.
    #[error("{0} does not have {1}; choose the other version with --tls, or omit --tls")]
    NotInVersion(TlsVersion, KeyExchange),
    /// A server with a library of its own has less than OpenSSL.
    #[error("{0} does not support {1}")]
    Lacks(&'static str, String),
    /// The server loads no module for tokens.
    #[error("{0} reads private keys from files only, not from tokens")]
    KeysInFilesAlone(&'static str),
    /// Two certificates are not an RSA and an ECDSA one.
    #[error("two certificates on one host must be an RSA and an ECDSA one, not {0} and {1}")]
    NotADualPair(Algorithm, Algorithm),
    /// The configuration of OpenSSL has one module, and the server is handed one PIN.
    #[error(
        "two keys on tokens must be behind one module, used in one way (engine or provider), with one PIN"
    )]
    TwoModules,
    /// The cipher string leaves nothing for a key of this kind.
    #[error("the cipher string '{ciphers}' has no cipher for a {algorithm} certificate")]
    NoCipher {
        /// The cipher string.
        ciphers: String,
        /// The key's.
        algorithm: Algorithm,
    },
    /// A configuration file cannot contain the path.
    #[error("{what} cannot be in a configuration: {path:?} has characters with a meaning there")]
    PathNotRepresentable {
        /// Name of the path.
        what: &'static str,
        /// The path.
        path: String,
    },
}

/// Why there is no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// The request cannot be met.
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
