//! What can be wrong with a key: which kinds there are, how grave each is, where that is read, and what to do.

use std::sync::LazyLock;

use keymark_bench::shipped::shipped;
use keymark_bench::words;
use serde::{Deserialize, Serialize};

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
        /// It breaks the rules of its form.
        Malformed = "malformed",
    }
}

/// Something that is wrong with a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// How grave it is.
    pub level: Level,
    /// What kind of thing it is; in JSON `finding`.
    #[serde(rename = "finding")]
    pub kind: Kind,
    /// What is wrong, in words that hold for every such key.
    #[serde(default)]
    pub text: String,
    /// What is particular to this one: with which key it shares a factor, since when it has expired.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Where it is read; of policies and devices they say it themselves.
    #[serde(default)]
    pub source: String,
    /// What to do.
    #[serde(rename = "what_to_do")]
    pub advice: String,
}

#[derive(Deserialize)]
struct File {
    finding: Vec<Finding>,
}

/// What is said of each kind, in their order.
static KNOWN: LazyLock<Vec<Finding>> = LazyLock::new(|| {
    let file: File = shipped(include_str!("../../../data/findings.toml"));
    file.finding
});

impl Finding {
    /// As it is said of all keys.
    pub fn of(kind: Kind) -> Self {
        KNOWN[kind as usize].clone()
    }

    /// In other words, and as grave as that.
    pub fn new(level: Level, kind: Kind, text: impl Into<String>) -> Self {
        Self {
            level,
            text: text.into(),
            ..Self::of(kind)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_says_what_to_do() {
        assert_eq!(KNOWN.len(), Kind::ALL.len());
        for kind in Kind::ALL {
            let said = Finding::of(*kind);
            assert_eq!(said.kind, *kind);
            assert!(!said.advice.is_empty(), "{kind}");
        }
    }
}
