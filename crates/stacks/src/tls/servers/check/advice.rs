//! What is to be changed in a configuration, as people read it.

use std::path::PathBuf;

use derive_more::Display;
use keymark_bench::outside::visible::visible;

use super::At;
use crate::tls::servers::text::filled;

/// A line of a configuration, and what is the matter with it. `Display` is the advice.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
#[display("{}", wrapped(&format!("{at}: {problem}")))]
pub struct Finding {
    /// The line to change, or behind which one is to be added.
    pub at: At,
    /// What is the matter.
    pub problem: Problem,
}

/// What is the matter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A file cannot be read, or includes itself.
    #[error("{} was not read: it is unreadable, or includes itself", .0.display())]
    NotIncluded(PathBuf),
    /// No certificate is configured.
    #[error("no certificate is configured for this host")]
    NoCertificate,
    /// All certificates that are configured have RSA keys. With directives to add.
    #[error("no certificate has an ECDSA key; add one with its key: {0}")]
    NoEcdsaCertificate(String),
    /// All certificates have ECDSA keys: old clients get nothing. With directives to add.
    #[error("clients without ECDSA get no certificate; add an RSA one: {0}")]
    NoRsaCertificate(String),
    /// What is in the file could not be told.
    #[error("the kind of key in {file} is not known: {why}")]
    UnreadCertificate {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// There are more certificates than keys.
    #[error("{certificates} certificates have {keys} keys; give each certificate its own")]
    KeysMissing {
        /// Certificates.
        certificates: usize,
        /// Keys.
        keys: usize,
    },
    /// nginx takes the second certificate since 1.11.0; older ones take the last.
    #[error("nginx {0} uses only the last certificate; two need nginx 1.11.0 or later")]
    TooOldForTwo(String),
    /// The cipher string has no suite with ECDSA. With the line to have instead.
    #[error("no cipher of TLS 1.2 is for ECDSA certificates; change it to: {0}")]
    NoEcdsaCipher(String),
    /// OpenSSL does not know the cipher string, and says why.
    #[error("OpenSSL refuses the cipher string: {0}")]
    UnknownCiphers(String),
    /// The system's policy decides on the ciphers, which only its own OpenSSL knows.
    #[error("ciphers of TLS 1.2 not judged: the system's policy decides (PROFILE=SYSTEM)")]
    SystemPolicy,
    /// The server's order counts, and RSA comes first in it. With the line to have instead.
    #[error(
        "the server's order applies and has RSA first, so clients with TLS 1.2 get RSA; change it to: {0}"
    )]
    RsaFirst(String),
    /// OpenSSL does not know a curve.
    #[error("OpenSSL knows no curve '{0}'")]
    UnknownGroup(String),
    /// None of the curves is one that clients have. With the line to have instead.
    #[error("clients support none of these curves; change it to: {0}")]
    NoCommonGroup(String),
    /// Apache ignores `SSLOpenSSLConfCmd DHParameters`. With the file that they belong into.
    #[error(
        "Apache ignores DHParameters here; append the parameters to the first certificate's file, {0}"
    )]
    DhParametersIgnored(String),
}

/// In lines, with what cannot be seen made visible.
fn wrapped(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().map(visible).collect();
    filled(&words.join(" "), "  ", "    ")
}
