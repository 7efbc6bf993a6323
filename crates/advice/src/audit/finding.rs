//! What can be wrong with a key: which kinds there are, how grave each is, where that is read, and what to do.

use keymark_bench::words;
use serde::Serialize;

words! {
    /// How grave a finding is, in SARIF's words (2.1.0, §3.27.10).
    pub enum Level("level") {
        /// The key protects nothing, or may not be used.
        Error = "error",
        /// It is to be replaced.
        Warning = "warning",
        /// To be known.
        Note = "note",
    }
}

words! {
    /// Kinds of findings, the gravest first.
    pub enum Kind("kind of finding") {
        /// The private key is in a list of Debian's weak keys.
        Debian = "debian",
        /// The private key was published.
        Published = "published",
        /// Made by Infineon's library.
        Roca = "roca",
        /// The primes are close.
        Fermat = "fermat",
        /// A prime is another key's as well.
        SharedFactor = "shared-factor",
        /// The modulus has a small factor.
        SmallFactor = "small-factor",
        /// The public number is in a small subgroup, or in none.
        SmallSubgroup = "small-subgroup",
        /// There is no RSA with such an exponent.
        InvalidExponent = "invalid-exponent",
        /// The public exponent is below 2^16.
        SmallExponent = "small-exponent",
        /// The public exponent is above 2^256.
        LargeExponent = "large-exponent",
        /// The device that has the key is known to be weak.
        Device = "device",
        /// It has less strength than anybody accepts.
        Short = "short",
        /// A policy does not allow the key.
        Policy = "policy",
        /// It is signed with SHA-1, or worse.
        Sha1Signature = "sha1-signature",
        /// Its time is over.
        Expired = "expired",
        /// Its owner has revoked it.
        Revoked = "revoked",
        /// Nothing is known of its algorithm.
        UnknownAlgorithm = "unknown-algorithm",
    }
}

impl Kind {
    /// Where it is read that this is wrong; of policies and devices they say it themselves.
    pub const fn source(self) -> &'static str {
        match self {
            Self::Debian => "CVE-2008-0166, DSA-1571",
            Self::Published => "badkeys.info, list of published private keys",
            Self::Roca => "CVE-2017-15361; Nemec et al., ACM CCS 2017",
            Self::Fermat => "CVE-2022-26320; Böck, IACR ePrint 2023/026",
            Self::SharedFactor => "Heninger et al., USENIX Security 2012",
            Self::SmallFactor => "RFC 8017 §3.1",
            Self::SmallSubgroup => "NIST SP 800-56A rev. 3, 5.6.2.3; RFC 7748 §6",
            Self::InvalidExponent => "RFC 8017 §3.1",
            Self::SmallExponent | Self::LargeExponent => "FIPS 186-5, A.1.1",
            Self::Short => "NIST SP 800-57 part 1, table 4: nothing is protected below 112 bits",
            Self::Sha1Signature => {
                "Leurent and Peyrin, USENIX Security 2020; SP 800-131A rev. 2, 9"
            }
            Self::Expired | Self::Revoked => "what the key says of itself",
            Self::Device | Self::Policy | Self::UnknownAlgorithm => "",
        }
    }

    /// What its owner should do.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Debian | Self::Published => {
                "anybody has the private key: revoke it, and make a new one"
            }
            Self::Roca => {
                "the private key can be computed up to 2048 bits, and is weakened beyond: make a \
                 new one elsewhere, or import one"
            }
            Self::Fermat | Self::SharedFactor => {
                "anybody can compute the private key: make a new one with another program or device"
            }
            Self::SmallFactor | Self::InvalidExponent => {
                "the key is damaged or was made up: get it again from its owner"
            }
            Self::SmallSubgroup => "do not use it: its secrets can be guessed",
            Self::SmallExponent => {
                "faulty padding becomes a forged signature or a read message: make a key with 65537"
            }
            Self::LargeExponent => "the private exponent may be small: make a key with 65537",
            Self::Device => "use what the source advises, and make new keys",
            Self::Short => "make a longer key: 'keymark strength --level 128' shows which",
            Self::Policy => "make a key that the policy allows: 'keymark strength' shows which",
            Self::Sha1Signature => "have the key signed again, with SHA-256",
            Self::Expired => "extend or replace it",
            Self::Revoked => "replace it where it is still used",
            Self::UnknownAlgorithm => "nothing is known of its strength here",
        }
    }
}

/// Something that is wrong with a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// How grave it is.
    pub level: Level,
    /// What kind of thing it is; in JSON `finding`.
    #[serde(rename = "finding")]
    pub kind: Kind,
    /// What is wrong, in words that hold for every such key.
    pub text: String,
    /// What is particular to this one: with which key it shares a factor, since when it has expired.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Where it is read.
    pub source: String,
    /// What to do.
    #[serde(rename = "what_to_do")]
    pub advice: String,
}

impl Finding {
    /// With the kind's source and advice.
    pub fn new(level: Level, kind: Kind, text: impl Into<String>) -> Self {
        Self {
            level,
            kind,
            text: text.into(),
            detail: String::new(),
            source: kind.source().to_owned(),
            advice: kind.advice().to_owned(),
        }
    }

    /// With what is particular to a key.
    pub fn with(self, detail: impl Into<String>) -> Self {
        Self {
            detail: detail.into(),
            ..self
        }
    }

    /// Whether the key is weak by it.
    pub const fn is_weakness(&self) -> bool {
        match self.level {
            Level::Error | Level::Warning => true,
            Level::Note => false,
        }
    }
}
