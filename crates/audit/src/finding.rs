//! Findings: their kinds, gravity, sources and advice.

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
    pub enum FindingKind("kind of finding") {
        /// The private key is in a list of Debian's weak keys.
        Debian = "debian",
        /// The private key was published.
        Published = "published",
        /// Made by Infineon's library.
        Roca = "roca",
        /// The primes are close.
        Fermat = "fermat",
        /// Another key has the same prime.
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
    pub level: Level,
    /// Kind; in JSON `finding`.
    #[serde(rename = "finding")]
    pub kind: FindingKind,
    /// The weakness in words that hold for every such key.
    #[serde(default)]
    pub text: String,
    /// Details of this key: the other key of a shared factor, the day of its end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Source; policies and devices have their own.
    #[serde(default)]
    pub source: String,
    #[serde(rename = "what_to_do")]
    pub advice: String,
}

#[derive(Deserialize)]
struct FindingFile {
    finding: Vec<Finding>,
}

/// Texts of the kinds, in their order.
static KNOWN: LazyLock<Vec<Finding>> = LazyLock::new(|| {
    let file: FindingFile = shipped(include_str!("../../../data/findings.toml"));
    file.finding
});

impl Finding {
    /// Returns the finding as it holds for all keys.
    pub fn of(kind: FindingKind) -> Self {
        KNOWN[kind as usize].clone()
    }

    /// Returns the finding with its own text and gravity.
    pub fn new(level: Level, kind: FindingKind, text: impl Into<String>) -> Self {
        Self {
            level,
            text: text.into(),
            ..Self::of(kind)
        }
    }

    /// Adds details of a key.
    pub fn with(self, detail: impl Into<String>) -> Self {
        Self {
            detail: detail.into(),
            ..self
        }
    }

    /// Returns whether the finding makes the key weak.
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
        assert_eq!(KNOWN.len(), FindingKind::ALL.len());
        for kind in FindingKind::ALL {
            let said = Finding::of(*kind);
            assert_eq!(said.kind, *kind);
            assert!(!said.advice.is_empty(), "{kind}");
        }
    }
}
