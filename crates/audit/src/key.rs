//! A public key that was found, and where.

use derive_more::Display;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use keymark_bench::Family;
use keymark_bench::outside::visible::visible;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::read::ssh::fingerprint_of;
use super::weakness::{bits, trimmed};
use super::{Finding, Standing};
use keymark_advice::key_spec::KeySpec;
use keymark_advice::policy::Use;
use keymark_bench::strength::{Strength, Table};

/// The numbers of a public key. Octets weigh less from first to last.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// Modulus and exponent.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// Prime, order, generator and public number.
    Dsa {
        p: Vec<u8>,
        q: Vec<u8>,
        g: Vec<u8>,
        y: Vec<u8>,
    },
    /// Elgamal and Diffie-Hellman: prime and public number.
    Discrete { p: Vec<u8>, y: Vec<u8> },
    /// A point of a curve, or its string.
    Point(Vec<u8>),
    /// Octets of which only the algorithm is judged; empty if hidden.
    Opaque(Vec<u8>),
}

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PublicKey {
    /// Algorithm and size; or what it calls itself, where keymark does not know it.
    pub spec: Result<KeySpec, String>,
    /// Its numbers.
    pub numbers: Numbers,
}

impl PublicKey {
    /// RSA by its numbers.
    pub fn rsa(n: &[u8], e: &[u8]) -> Self {
        let (n, e) = (trimmed(n).to_vec(), trimmed(e).to_vec());
        Self {
            spec: Ok(KeySpec::rsa(bits(&n))),
            numbers: Numbers::Rsa { n, e },
        }
    }

    /// DSA by its numbers.
    pub fn dsa(numbers: [&[u8]; 4]) -> Self {
        let [p, q, g, y] = numbers.map(|number| trimmed(number).to_vec());
        Self {
            spec: Ok(KeySpec::Family(Family::Dsa(bits(&p)))),
            numbers: Numbers::Dsa { p, q, g, y },
        }
    }

    /// Returns a key with a public number modulo a prime.
    pub fn discrete(of_bits: fn(u32) -> KeySpec, p: &[u8], y: &[u8]) -> Self {
        let (p, y) = (trimmed(p).to_vec(), trimmed(y).to_vec());
        Self {
            spec: Ok(of_bits(bits(&p))),
            numbers: Numbers::Discrete { p, y },
        }
    }

    /// Returns a key on a curve, by its name.
    pub fn on_curve(name: &str, point: &[u8]) -> Self {
        Self {
            spec: name.parse().map_err(|_| name.to_owned()),
            numbers: Numbers::Point(point.to_vec()),
        }
    }

    /// Returns a key of an algorithm by its name; its octets identify it.
    pub fn named(name: &str, octets: &[u8]) -> Self {
        Self {
            numbers: Numbers::Opaque(octets.to_vec()),
            ..Self::on_curve(name, &[])
        }
    }

    /// Returns the strength by SP 800-57.
    pub fn strength(&self) -> Option<Strength> {
        self.spec.as_ref().ok()?.strength(Table::nist())
    }

    /// Its algorithm, for people.
    pub fn name(&self) -> String {
        self.spec
            .as_ref()
            .map_or_else(Clone::clone, ToString::to_string)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut said = serializer.serialize_map(Some(2))?;
        said.serialize_entry("algorithm", &self.name())?;
        said.serialize_entry("strength_bits", &self.strength().map(|bits| bits.0))?;
        said.end()
    }
}

/// The place of a key. A name may be anybody's: for people it is made visible.
#[derive(Debug, Display, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[display("{}{}", visible(within), line.map_or_else(String::new, |line| format!(":{line}")))]
pub struct Location {
    /// A file, a device, a server.
    pub within: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl Location {
    /// The whole of it.
    pub fn of(within: impl Into<String>) -> Self {
        let within = within.into();
        Self { within, line: None }
    }
}

/// Another place of a key.
#[derive(Debug, Display, Clone, PartialEq, Eq, Hash, Serialize)]
#[display("{place}")]
pub struct Elsewhere {
    #[serde(flatten)]
    pub place: Location,
    /// Owner, if another one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub owner: String,
}

/// Form in which a key was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// X.509.
    Certificate,
    /// OpenPGP.
    #[serde(rename = "openpgp")]
    OpenPgp,
    /// A key of SSH.
    Ssh,
    /// A public key, or the public part of a private one.
    Plain,
    /// A key on a token.
    Token,
}

/// The broken hash of the signature that binds a key to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Broken {
    /// SHA-1, MD5, ….
    pub hash: &'static str,
    /// True if a root has certified itself: nobody verifies that signature (RFC 5280 §6.1).
    pub is_root: bool,
}

/// A key that was found, and the statements about it; in JSON one object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct FoundKey {
    #[serde(flatten)]
    pub place: Location,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Elsewhere>,
    /// User id, subject, comment, label: untrusted text.
    pub owner: String,
    pub form: Form,
    /// The key itself.
    #[serde(flatten)]
    pub key: PublicKey,
    /// Fingerprint of OpenPGP, or of SSH if it has such keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Uses; all of its algorithm's if empty.
    #[serde(skip)]
    pub uses: Vec<Use>,
    /// Its last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Date>,
    #[serde(skip)]
    pub is_revoked: bool,
    /// Its signature, if that is made with a broken hash.
    #[serde(skip)]
    pub broken: Option<Broken>,
    /// Statuses by policies, once judged.
    pub status: Vec<Standing>,
    /// Findings, the gravest first.
    pub findings: Vec<Finding>,
}

impl FoundKey {
    /// Returns a key of which nothing else is known.
    pub fn new(place: Location, owner: impl Into<String>, form: Form, key: PublicKey) -> Self {
        Self {
            place,
            also: Vec::new(),
            owner: owner.into(),
            form,
            fingerprint: fingerprint_of(&key),
            key,
            uses: Vec::new(),
            expires: None,
            is_revoked: false,
            broken: None,
            status: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Returns whether a certificate or a signature tells its end or its uses.
    pub(super) fn is_bound(&self) -> bool {
        let is_bound = self.expires.is_some() || self.broken.is_some() || self.is_revoked;
        is_bound || !self.uses.is_empty() || !self.findings.is_empty()
    }

    /// Returns whether only its algorithm is visible, as of a private key without its public part.
    pub(super) fn is_hidden(&self) -> bool {
        matches!(&self.key.numbers,
            Numbers::Point(octets) | Numbers::Opaque(octets) if octets.is_empty())
    }

    pub fn is_weak(&self) -> bool {
        self.findings.iter().any(Finding::is_weakness)
    }
}

/// The day of a time in seconds since 1970, UTC. What is beyond the calendar has no end.
pub fn day(seconds: u64) -> Option<Date> {
    let time = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(time.to_zoned(TimeZone::UTC).date())
}
