//! What the stacks of a family distinguish beyond device, algorithm, operation and load: one variant a
//! family, with named fields.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::tls::{Arrangement, KeyExchange, TlsVersion};
use crate::algorithm::Family;
use crate::operation::Operation;
use crate::store::Capability;
use crate::words::{UnknownWord, words};

words! {
    /// How GnuPG keeps the key at rest.
    pub enum Protection("protection") {
        /// In the clear.
        None = "none",
        /// Behind a passphrase that the agent has cached; S2K and decryption of the key remain.
        Cached = "cached",
    }
}

words! {
    /// The program that answers at an SSH agent's socket.
    pub enum SshAgent("SSH agent") {
        /// OpenSSH's `ssh-agent`.
        OpenSsh = "openssh",
        /// gpg-agent with `enable-ssh-support`.
        GpgAgent = "gpg-agent",
    }
}

words! {
    /// A library that calculates in place of the OpenSSL that is built in.
    pub enum Library("library") {
        /// The installed libgcrypt, which gpg-agent loads.
        Libgcrypt = "libgcrypt",
        /// The installed libcrypto, which the distribution's servers and ssh load.
        OpenSslSystem = "openssl-system",
        /// The crates of RustCrypto and dalek, which programs in Rust without C use.
        RustCrypto = "rustcrypto",
    }
}

words! {
    /// How the program `openssl` gets at a key.
    pub enum OpenSslWay("way of OpenSSL to a key") {
        /// A file with the key in it (`-keyform PEM`).
        File = "file",
        /// libp11's engine for a PKCS#11 token (`-engine pkcs11`).
        Engine = "engine",
        /// A provider for a PKCS#11 token (`pkcs11-provider`).
        Provider = "provider",
    }
}

words! {
    /// How a key is used, where it is otherwise than usual: as PKCS#1 v1.5 has it for RSA (RFC 8017), and of
    /// a digest that was calculated before for ECDSA.
    pub enum Scheme("scheme") {
        /// RSASSA-PSS of a digest (RFC 8017 §8.1): SHA-256, MGF1 with it, 32 bytes of salt.
        Pss = "pss",
        /// RSAES-OAEP (§7.1): SHA-256, MGF1 with it, no label.
        Oaep = "oaep",
        /// The same with SHA-1, where a key store takes no other.
        OaepSha1 = "oaep-sha1",
        /// The key store calculates the digest of the message as well (`CKM_SHA256_RSA_PKCS`,
        /// `CKM_ECDSA_SHA256`).
        Hashed = "hashed",
        /// The same for RSASSA-PSS (`CKM_SHA256_RSA_PKCS_PSS`).
        PssHashed = "pss-hashed",
    }
}

impl Scheme {
    /// Whether there is such a use of a key.
    #[must_use]
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the other families have one use each"
    )]
    pub const fn is_of(self, capability: Capability) -> bool {
        let signs = matches!(capability.operation, Operation::Sign);
        let decrypts = matches!(capability.operation, Operation::Decrypt);
        match (self, capability.algorithm.family()) {
            (Self::Pss | Self::PssHashed, Family::Rsa(_)) => signs,
            (Self::Oaep | Self::OaepSha1, Family::Rsa(_)) => decrypts,
            (Self::Hashed, Family::Rsa(_) | Family::Weierstrass(_)) => signs,
            _ => false,
        }
    }

    /// Whether the key store is given the message, in place of its digest.
    #[must_use]
    pub const fn hashes(self) -> bool {
        match self {
            Self::Hashed | Self::PssHashed => true,
            Self::Pss | Self::Oaep | Self::OaepSha1 => false,
        }
    }
}

/// A valid set of a family's parameters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Parameters {
    /// The family has none; of `raw`, the usual scheme, and on keys in memory the OpenSSL that is built in.
    #[default]
    None,
    /// GnuPG's stacks.
    Gnupg {
        /// How the key is kept at rest.
        protection: Protection,
    },
    /// SSH agents.
    Ssh {
        /// Which one.
        agent: SshAgent,
    },
    /// `raw` on keys in memory.
    Library {
        /// What calculates.
        library: Library,
    },
    /// The program `openssl`.
    #[serde(rename = "openssl")]
    OpenSsl {
        /// How it gets at the key.
        way: OpenSslWay,
    },
    /// `raw`, otherwise than usual.
    Scheme {
        /// How the key is used.
        scheme: Scheme,
    },
    /// TLS servers.
    Tls {
        /// The version that is negotiated.
        version: TlsVersion,
        /// How client and server agree on a secret.
        key_exchange: KeyExchange,
        /// What stands behind the address.
        #[serde(default, skip_serializing_if = "Arrangement::is_one")]
        arrangement: Arrangement,
    },
}

impl Parameters {
    /// How the key is kept at rest: in the clear, where nothing else can be chosen.
    #[must_use]
    pub const fn protection(self) -> Protection {
        let Self::Gnupg { protection } = self else {
            return Protection::None;
        };
        protection
    }

    /// The SSH agent, if one is asked.
    #[must_use]
    pub const fn ssh_agent(self) -> Option<SshAgent> {
        let Self::Ssh { agent } = self else {
            return None;
        };
        Some(agent)
    }

    /// The library, if another than the built-in one calculates in this process.
    #[must_use]
    pub const fn library(self) -> Option<Library> {
        let Self::Library { library } = self else {
            return None;
        };
        Some(library)
    }

    /// How `openssl` gets at the key, if that is asked.
    #[must_use]
    pub const fn openssl_way(self) -> Option<OpenSslWay> {
        let Self::OpenSsl { way } = self else {
            return None;
        };
        Some(way)
    }

    /// The scheme, if it is not the usual one.
    #[must_use]
    pub const fn scheme(self) -> Option<Scheme> {
        let Self::Scheme { scheme } = self else {
            return None;
        };
        Some(scheme)
    }

    /// Version and key exchange of a TLS server.
    #[must_use]
    pub const fn tls(self) -> Option<(TlsVersion, KeyExchange)> {
        let Self::Tls {
            version,
            key_exchange,
            ..
        } = self
        else {
            return None;
        };
        Some((version, key_exchange))
    }

    /// What stands behind a TLS server's address.
    #[must_use]
    pub const fn arrangement(self) -> Option<Arrangement> {
        let Self::Tls { arrangement, .. } = self else {
            return None;
        };
        Some(arrangement)
    }

    /// What is said of it behind a stack's name; nothing where it is what everybody expects.
    #[must_use]
    pub fn remark(self) -> Option<String> {
        let word = match self {
            Self::None
            | Self::Gnupg {
                protection: Protection::None,
            } => return None,
            Self::Gnupg {
                protection: protection @ Protection::Cached,
            } => protection.word(),
            Self::Ssh { agent } => agent.word(),
            Self::Library { library } => library.word(),
            Self::OpenSsl { way } => way.word(),
            Self::Scheme { scheme } => scheme.word(),
            Self::Tls {
                version,
                key_exchange,
                arrangement,
            } => return Some(format!("{version} {key_exchange}{arrangement}")),
        };
        Some(word.to_owned())
    }
}

/// A value as it is named where one is chosen: the usual one, which a case does not say, has a word as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice<T> {
    /// The OpenSSL that is built in; PKCS#1 v1.5 of RSA, and of every other algorithm the only scheme.
    Usual,
    /// Another.
    Other(T),
}

/// What has a usual value.
pub trait HasUsual {
    /// The word for it.
    const USUAL: &str;
}

impl HasUsual for Library {
    const USUAL: &str = "openssl";
}

impl HasUsual for Scheme {
    const USUAL: &str = "pkcs1";
}

impl<T: HasUsual + fmt::Display> fmt::Display for Choice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual => f.pad(T::USUAL),
            Self::Other(other) => other.fmt(f),
        }
    }
}

impl<T: HasUsual + FromStr<Err = UnknownWord>> FromStr for Choice<T> {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        if word.eq_ignore_ascii_case(T::USUAL) {
            return Ok(Self::Usual);
        }
        word.parse().map(Self::Other).map_err(|error| UnknownWord {
            known: format!("{}, {}", T::USUAL, error.known),
            ..error
        })
    }
}

/// The values that the user wants of one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterChoice {
    /// Of how keys are kept; stacks other than GnuPG's keep them in the clear.
    Protection(Vec<Protection>),
    /// Of which SSH agent is asked; stacks that ask none are not excluded.
    SshAgent(Vec<SshAgent>),
    /// Of which library calculates; stacks of other programs are not excluded.
    Library(Vec<Choice<Library>>),
    /// Of how `openssl` gets at the key; other stacks are not excluded.
    OpenSslWay(Vec<OpenSslWay>),
    /// Of how keys are used; stacks of other programs, which choose for themselves, are not excluded.
    Scheme(Vec<Choice<Scheme>>),
}

impl ParameterChoice {
    /// Whether a set is among the wanted ones.
    #[must_use]
    pub fn admits(&self, parameters: Parameters) -> bool {
        match self {
            Self::Protection(wanted) => wanted.contains(&parameters.protection()),
            Self::SshAgent(wanted) => parameters
                .ssh_agent()
                .is_none_or(|agent| wanted.contains(&agent)),
            Self::Library(wanted) => match parameters {
                Parameters::None => wanted.contains(&Choice::Usual),
                Parameters::Library { library } => wanted.contains(&Choice::Other(library)),
                // By the OpenSSL that is built in, where it is one of this process.
                Parameters::Scheme { .. } => wanted.contains(&Choice::Usual),
                Parameters::Gnupg { .. }
                | Parameters::Ssh { .. }
                | Parameters::OpenSsl { .. }
                | Parameters::Tls { .. } => true,
            },
            Self::Scheme(wanted) => match parameters {
                Parameters::None | Parameters::Library { .. } => wanted.contains(&Choice::Usual),
                Parameters::Scheme { scheme } => wanted.contains(&Choice::Other(scheme)),
                Parameters::Gnupg { .. }
                | Parameters::Ssh { .. }
                | Parameters::OpenSsl { .. }
                | Parameters::Tls { .. } => true,
            },
            Self::OpenSslWay(wanted) => parameters
                .openssl_way()
                .is_none_or(|way| wanted.contains(&way)),
        }
    }
}

/// `protection=none,cached`, `agent=openssh`, `library=openssl,libgcrypt`, `openssl=engine`, `scheme=pkcs1,pss`
impl FromStr for ParameterChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        fn values<T: FromStr<Err: ToString>>(list: &str) -> Result<Vec<T>, String> {
            let values = list.split(',').map(|word| word.parse::<T>());
            values
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string())
        }
        match text.split_once('=') {
            Some(("protection", list)) => values(list).map(Self::Protection),
            Some(("agent", list)) => values(list).map(Self::SshAgent),
            Some(("library", list)) => values(list).map(Self::Library),
            Some(("openssl", list)) => values(list).map(Self::OpenSslWay),
            Some(("scheme", list)) => values(list).map(Self::Scheme),
            _ => Err(format!(
                "'{text}' is not one of protection=VALUE,…, agent=VALUE,…, library=VALUE,…, openssl=VALUE,… and \
                 scheme=VALUE,…"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_admits_stacks_that_lack_the_parameter() {
        let agent: ParameterChoice = "agent=openssh".parse().unwrap();
        let ssh = |agent| Parameters::Ssh { agent };
        assert!(agent.admits(ssh(SshAgent::OpenSsh)) && !agent.admits(ssh(SshAgent::GpgAgent)));
        assert!(agent.admits(Parameters::None));
        let cached: ParameterChoice = "protection=cached".parse().unwrap();
        let gnupg = |protection| Parameters::Gnupg { protection };
        assert!(cached.admits(gnupg(Protection::Cached)));
        assert!(!cached.admits(gnupg(Protection::None)));
        assert!(
            !cached.admits(Parameters::None),
            "the library's keys are in the clear"
        );
        let libgcrypt: ParameterChoice = "library=libgcrypt".parse().unwrap();
        let loaded = Parameters::Library {
            library: Library::Libgcrypt,
        };
        assert!(libgcrypt.admits(loaded) && libgcrypt.admits(gnupg(Protection::None)));
        assert!(!libgcrypt.admits(Parameters::None), "that is OpenSSL");
        let built_in: ParameterChoice = "library=openssl".parse().unwrap();
        assert!(built_in.admits(Parameters::None) && !built_in.admits(loaded));
        let engine: ParameterChoice = "openssl=engine".parse().unwrap();
        let openssl = |way| Parameters::OpenSsl { way };
        assert!(engine.admits(openssl(OpenSslWay::Engine)) && engine.admits(Parameters::None));
        assert!(!engine.admits(openssl(OpenSslWay::File)));
        let pss: ParameterChoice = "scheme=pss".parse().unwrap();
        let scheme = Parameters::Scheme {
            scheme: Scheme::Pss,
        };
        assert!(pss.admits(scheme) && pss.admits(gnupg(Protection::None)));
        assert!(!pss.admits(Parameters::None), "that is PKCS#1 v1.5");
        let usual: ParameterChoice = "scheme=pkcs1".parse().unwrap();
        assert!(usual.admits(Parameters::None) && usual.admits(loaded) && !usual.admits(scheme));
        assert!(built_in.admits(scheme) && !libgcrypt.admits(scheme));
        for bad in [
            "agent",
            "agent=pageant",
            "colour=red",
            "library=nss",
            "openssl=store",
            "scheme=psss",
        ] {
            assert!(bad.parse::<ParameterChoice>().is_err(), "{bad}");
        }
    }
}
