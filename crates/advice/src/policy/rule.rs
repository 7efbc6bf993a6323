//! A statement of a policy about keys in a use, and its dates.

use jiff::civil::Date;
use keymark_bench::words;
use keymark_bench::{Composite, Family, Operation, Verified};
use serde::Deserialize;

use crate::key_spec::KeySpec;

words! {
    /// Use of a key.
    pub enum Use("use of a key") {
        /// Signatures.
        Signature = "signature",
        /// A secret for two: RSA encryption, Diffie-Hellman, encapsulation.
        Encryption = "encryption",
    }
}

impl Use {
    /// Returns the use of an operation.
    pub const fn of(operation: Operation) -> Self {
        match operation {
            Operation::Sign | Operation::Authenticate | Operation::Handshake => Self::Signature,
            Operation::Decrypt | Operation::Decapsulate => Self::Encryption,
        }
    }
}

words! {
    /// Act with a key, as SP 800-57 part 1, section 5.6.3 distinguishes.
    pub enum Act("act") {
        /// Protection is applied: signing, encrypting.
        Applying = "applying",
        /// Processing of protected data: verifying, decrypting.
        Processing = "processing",
    }
}

words! {
    /// Status of a key by a policy.
    #[derive(Default)]
    pub enum Status("status") {
        /// Advised.
        Recommended = "recommended",
        /// Allowed.
        Allowed = "allowed",
        /// Allowed, at a risk that the user accepts.
        Deprecated = "deprecated",
        /// Together with another one only.
        HybridOnly = "hybrid-only",
        /// Allowed for existing data.
        Legacy = "legacy",
        /// Forbidden.
        Disallowed = "disallowed",
        /// The policy says nothing of it.
        #[default]
        NotListed = "not-listed",
    }
}

impl Status {
    /// Returns the status of a key that is combined with another one.
    pub(super) const fn combined(self) -> Self {
        match self {
            Self::HybridOnly => Self::Allowed,
            Self::Recommended
            | Self::Allowed
            | Self::Deprecated
            | Self::Legacy
            | Self::Disallowed
            | Self::NotListed => self,
        }
    }

    /// Returns whether a new key with this status may be taken into use.
    pub const fn permits(self) -> bool {
        match self {
            Self::Recommended | Self::Allowed | Self::Deprecated => true,
            Self::HybridOnly | Self::Legacy | Self::Disallowed | Self::NotListed => false,
        }
    }
}

words! {
    /// A policy's name of an algorithm in its use.
    pub enum KeyKind("kind of algorithm") {
        /// RSA, signing or encrypting.
        Rsa = "RSA",
        /// DSA.
        Dsa = "DSA",
        /// Elgamal encryption.
        Elgamal = "Elgamal",
        /// Diffie-Hellman modulo a prime.
        Dh = "DH",
        /// ECDSA.
        Ecdsa = "ECDSA",
        /// Diffie-Hellman on a curve, X25519 and X448 among them.
        Ecdh = "ECDH",
        /// Ed25519, Ed448.
        EdDsa = "EdDSA",
        /// FIPS 203.
        MlKem = "ML-KEM",
        /// ML-KEM combined with ECDH.
        HybridKem = "hybrid KEM",
        /// ML-DSA combined with a signature on a curve.
        HybridSignature = "hybrid signature",
        /// FIPS 204.
        MlDsa = "ML-DSA",
        /// FIPS 205.
        SlhDsa = "SLH-DSA",
    }
}

impl KeyKind {
    /// Returns the kind of a key in a use; `None` where it has no such use.
    pub const fn of(key: KeySpec, usage: Use) -> Option<Self> {
        let (signs, encrypts) = Self::in_uses(key);
        match usage {
            Use::Signature => signs,
            Use::Encryption => encrypts,
        }
    }

    /// Returns the kinds as which it signs and encrypts.
    const fn in_uses(key: KeySpec) -> (Option<Self>, Option<Self>) {
        let family = match key {
            KeySpec::Dh(_) => return (None, Some(Self::Dh)),
            KeySpec::Curve(_) => return (Some(Self::Ecdsa), Some(Self::Ecdh)),
            KeySpec::Family(family) => family,
        };
        match family {
            Family::Rsa(_) => (Some(Self::Rsa), Some(Self::Rsa)),
            Family::Weierstrass(_) => (Some(Self::Ecdsa), Some(Self::Ecdh)),
            Family::Dsa(_) => (Some(Self::Dsa), None),
            Family::Ed25519 | Family::Ed448 => (Some(Self::EdDsa), None),
            Family::MlDsa(_) => (Some(Self::MlDsa), None),
            Family::SlhDsa(..) => (Some(Self::SlhDsa), None),
            Family::Elgamal(_) => (None, Some(Self::Elgamal)),
            Family::Cv25519 | Family::Cv448 => (None, Some(Self::Ecdh)),
            Family::MlKem(_) => (None, Some(Self::MlKem)),
            Family::Composite(Composite::MlDsa65Ed25519) => (Some(Self::HybridSignature), None),
            Family::Composite(_) => (None, Some(Self::HybridKem)),
        }
    }
}

/// Bits, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    #[serde(default)]
    pub from: u32,
    #[serde(default = "no_end")]
    pub to: u32,
}

const fn no_end() -> u32 {
    u32::MAX
}

impl Range {
    const fn has(self, bits: u32) -> bool {
        self.from <= bits && bits <= self.to
    }
}

/// A status from a day on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Period {
    /// The first day; none: always.
    #[serde(default)]
    pub from: Option<Date>,
    /// Status for new data.
    pub applying: Status,
    /// Status for existing data, if another one.
    #[serde(default)]
    pub processing: Option<Status>,
}

impl Period {
    fn status(&self, act: Act) -> Status {
        match act {
            Act::Applying => self.applying,
            Act::Processing => self.processing.unwrap_or(self.applying),
        }
    }
}

/// A statement of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Name in its policy.
    pub id: String,
    /// Whom it is about.
    pub of: Vec<KeyKind>,
    /// Uses; `None`: each that the kind has.
    #[serde(default)]
    uses: Vec<Use>,
    /// Bits of a modulus or prime.
    #[serde(default)]
    modulus: Option<Range>,
    /// Bits of a curve's order. Says nothing of Curve25519 and Curve448.
    #[serde(default)]
    order: Option<Range>,
    /// Curves by keymark's names, in addition to those of such an order.
    #[serde(default)]
    names: Vec<String>,
    /// Statuses in order of time.
    pub periods: Vec<Period>,
    pub verified: Verified,
    /// Place in the document: table, section.
    pub source: String,
}

impl Rule {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.periods.is_empty() {
            return Err("it needs a period with a status");
        }
        if !self.periods.is_sorted_by_key(|period| period.from) {
            return Err("its periods must be in order of time");
        }
        let known = |name: &String| name.parse::<KeySpec>().is_ok();
        if !self.names.iter().all(known) {
            return Err("it names a key that keymark does not know");
        }
        Ok(())
    }

    /// Returns whether it is about that key in that use.
    pub fn is_about(&self, key: KeySpec, usage: Use) -> bool {
        let kind = KeyKind::of(key, usage);
        let of_kind = kind.is_some_and(|kind| self.of.contains(&kind));
        let in_use = self.uses.is_empty() || self.uses.contains(&usage);
        of_kind && in_use && self.has_size(key)
    }

    fn has_size(&self, key: KeySpec) -> bool {
        let everything = self.modulus.is_none() && self.order.is_none() && self.names.is_empty();
        let within = |range: Option<Range>, bits: Option<u32>| {
            range.zip(bits).is_some_and(|(range, bits)| range.has(bits))
        };
        everything
            || within(self.modulus, key.modulus_bits())
            || within(self.order, key.order_bits())
            || self.names.contains(&key.to_string())
    }

    /// The status at a date: of the last period that has begun.
    pub fn status(&self, act: Act, date: Date) -> Status {
        let begun = |period: &&Period| period.from.is_none_or(|from| from <= date);
        let period = self.periods.iter().rfind(begun);
        period.map_or(Status::NotListed, |period| period.status(act))
    }

    /// The last day of the status that holds at a date, and the one after it.
    pub(super) fn change_after(&self, act: Act, date: Date) -> Option<(Date, Status)> {
        let now = self.status(act, date);
        self.periods.iter().find_map(|period| {
            let from = period.from.filter(|from| *from > date)?;
            let next = period.status(act);
            (next != now).then(|| (from.yesterday().unwrap_or(from), next))
        })
    }
}
