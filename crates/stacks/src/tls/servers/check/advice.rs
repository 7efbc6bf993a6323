//! What is to be changed in a configuration, as people read it.

use std::fmt;
use std::path::PathBuf;

use keymark_bench::outside::visible::visible;

use super::At;
use crate::tls::servers::text::filled;

/// A line of a configuration, and what is the matter with it. `Display` is the advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line to change, or behind which one is to be added.
    pub at: At,
    /// What is the matter.
    pub problem: Problem,
}

/// What is the matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A file cannot be read, or includes itself.
    NotIncluded(PathBuf),
    /// No certificate is configured.
    NoCertificate,
    /// All certificates that are configured have RSA keys.
    NoEcdsaCertificate {
        /// Directives to add.
        add: String,
    },
    /// All certificates have ECDSA keys: old clients get nothing.
    NoRsaCertificate {
        /// Directives to add.
        add: String,
    },
    /// What is in the file could not be told.
    UnreadCertificate {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// There are more certificates than keys.
    KeysMissing {
        /// Certificates.
        certificates: usize,
        /// Keys.
        keys: usize,
    },
    /// nginx takes the second certificate since 1.11.0; older ones take the last.
    TooOldForTwo {
        /// The version.
        version: String,
    },
    /// The cipher string has no suite with ECDSA.
    NoEcdsaCipher {
        /// The line to have instead.
        instead: String,
    },
    /// OpenSSL does not know the cipher string.
    UnknownCiphers {
        /// What it says.
        why: String,
    },
    /// The server's order counts, and RSA comes first in it.
    RsaFirst {
        /// The line to have instead.
        instead: String,
    },
    /// OpenSSL does not know a curve.
    UnknownGroup {
        /// The curve.
        group: String,
    },
    /// None of the curves is one that clients have.
    NoCommonGroup {
        /// The line to have instead.
        instead: String,
    },
    /// Apache ignores `SSLOpenSSLConfCmd DHParameters`.
    DhParametersIgnored {
        /// The file that they belong into.
        certificate: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotIncluded(file) => {
                write!(
                    f,
                    "{} was not read: it is unreadable, or includes itself",
                    file.display()
                )
            }
            Self::NoCertificate => f.write_str("no certificate is configured for this host"),
            Self::NoEcdsaCertificate { add } => {
                write!(
                    f,
                    "no certificate has an ECDSA key; add one with its key: {add}"
                )
            }
            Self::NoRsaCertificate { add } => {
                write!(
                    f,
                    "clients without ECDSA get no certificate; add an RSA one: {add}"
                )
            }
            Self::UnreadCertificate { file, why } => {
                write!(f, "the kind of key in {file} is not known: {why}")
            }
            Self::KeysMissing { certificates, keys } => {
                write!(
                    f,
                    "{certificates} certificates have {keys} keys; give each certificate its own"
                )
            }
            Self::TooOldForTwo { version } => write!(
                f,
                "nginx {version} uses only the last certificate; two need nginx 1.11.0 or later"
            ),
            Self::NoEcdsaCipher { instead } => {
                write!(
                    f,
                    "no cipher of TLS 1.2 is for ECDSA certificates; change it to: {instead}"
                )
            }
            Self::UnknownCiphers { why } => write!(f, "OpenSSL refuses the cipher string: {why}"),
            Self::RsaFirst { instead } => write!(
                f,
                "the server's order applies and has RSA first, so clients with TLS 1.2 get RSA; change it to: \
                 {instead}"
            ),
            Self::UnknownGroup { group } => write!(f, "OpenSSL knows no curve '{group}'"),
            Self::NoCommonGroup { instead } => {
                write!(
                    f,
                    "clients support none of these curves; change it to: {instead}"
                )
            }
            Self::DhParametersIgnored { certificate } => write!(
                f,
                "Apache ignores DHParameters here; append the parameters to the first certificate's file, {certificate}"
            ),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wrapped(&format!("{}: {}", self.at, self.problem)))
    }
}

/// In lines, with what cannot be seen made visible.
fn wrapped(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().map(visible).collect();
    filled(&words.join(" "), "  ", "    ")
}
