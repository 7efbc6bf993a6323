//! A key as policies speak of it: any length of modulus, and curves that keymark does not measure.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use keymark_bench::shipped::shipped;
use keymark_bench::{Algorithm, Family, Strength, Table, UnknownAlgorithm};
use serde::Deserialize;

/// Algorithm and size of a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeySpec {
    /// A key of a family that keymark knows; a modulus may have any length.
    Family(Family),
    /// A key on a curve that keymark does not measure.
    Curve(&'static OtherCurve),
    /// Diffie-Hellman modulo a prime with that number of bits.
    Dh(u32),
}

/// A curve of ECDSA or ECDH that is met in keys, and that keymark does not measure.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherCurve {
    /// The first of which is keymark's.
    pub names: Vec<String>,
    order_bits: u32,
    /// Its identifier.
    pub oid: String,
}

/// Object identifiers of no measured algorithm, and points that no key has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identifiers {
    /// Curves.
    pub curve: Vec<OtherCurve>,
    /// ML-DSA, SLH-DSA and ML-KEM, by keymark's name.
    pub post_quantum: BTreeMap<String, String>,
    /// Hashes that signatures must not be made with any more.
    pub broken_hash: BTreeMap<String, String>,
    /// Attributes of names in certificates.
    pub attribute: BTreeMap<String, String>,
    /// Points whose order divides 8, by keymark's name of the algorithm, in hexadecimal digits.
    pub small_order: BTreeMap<String, Vec<String>>,
}

/// Identifiers that come with keymark.
pub static IDENTIFIERS: LazyLock<Identifiers> =
    LazyLock::new(|| shipped(include_str!("../../../data/identifiers.toml")));

type OfBits = fn(u32) -> KeySpec;

/// Kinds whose length is written behind their name. DSA's and Elgamal's are those of the prime.
const KINDS: [(&str, OfBits); 6] = [
    ("rsa", |bits| KeySpec::Family(Family::Rsa(bits))),
    ("dsa", |bits| KeySpec::Family(Family::Dsa(bits))),
    ("elgamal", |bits| KeySpec::Family(Family::Elgamal(bits))),
    ("elg", |bits| KeySpec::Family(Family::Elgamal(bits))),
    ("ffdhe", KeySpec::Dh),
    ("dh", KeySpec::Dh),
];

impl KeySpec {
    /// RSA with a modulus of that number of bits.
    pub const fn rsa(bits: u32) -> Self {
        Self::Family(Family::Rsa(bits))
    }

    /// keymark's algorithm, if it measures such keys.
    pub fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Family(family) => Algorithm::of(family),
            Self::Curve(_) | Self::Dh(_) => None,
        }
    }

    /// Returns the two keys of a composite.
    pub fn parts(self) -> Option<[Self; 2]> {
        match self {
            Self::Family(family) => family.parts().map(|parts| parts.map(Self::Family)),
            Self::Curve(_) | Self::Dh(_) => None,
        }
    }

    /// Its strength by a table; none where the table does not have it.
    pub fn strength(self, table: &Table) -> Option<Strength> {
        match self {
            Self::Family(family) => table.of_family(family),
            Self::Curve(curve) => table.of_order(curve.order_bits),
            Self::Dh(bits) => table.of_modulus(bits),
        }
    }

    /// Bits of the modulus or the prime.
    pub const fn modulus_bits(self) -> Option<u32> {
        match self {
            Self::Dh(bits) => Some(bits),
            Self::Family(family) => family.modulus(),
            Self::Curve(_) => None,
        }
    }

    /// Bits of the order of a short-Weierstrass curve. Curve25519 and Curve448 are not judged by theirs (2^252, 2^446):
    /// documents name them.
    pub const fn order_bits(self) -> Option<u32> {
        match self {
            Self::Curve(curve) => Some(curve.order_bits),
            Self::Family(family) => match family.curve() {
                Some(curve) => Some(curve.bits()),
                None => None,
            },
            Self::Dh(_) => None,
        }
    }
}

impl From<Algorithm> for KeySpec {
    fn from(algorithm: Algorithm) -> Self {
        Self::Family(algorithm.family())
    }
}

impl FromStr for KeySpec {
    type Err = UnknownAlgorithm;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let lower = word.to_ascii_lowercase();
        let unknown = match lower.parse::<Algorithm>() {
            Ok(algorithm) => return Ok(algorithm.into()),
            Err(unknown) => unknown,
        };
        if let Some(curve) = IDENTIFIERS
            .curve
            .iter()
            .find(|curve| curve.names.contains(&lower))
        {
            return Ok(Self::Curve(curve));
        }
        let sized = KINDS.iter().find_map(|(kind, make)| {
            let digits = lower.strip_prefix(kind)?.trim_start_matches(['-', ' ']);
            let bits = digits.parse().ok().filter(|bits| *bits > 0)?;
            Some(make(bits))
        });
        sized.ok_or(unknown)
    }
}

impl fmt::Display for KeySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(algorithm) = self.algorithm() {
            return f.pad(algorithm.name());
        }
        let name = match self {
            Self::Curve(curve) => curve.names[0].clone(),
            Self::Dh(bits) => format!("dh{bits}"),
            Self::Family(family) => {
                // Every family but those of primes has only the sizes that keymark measures.
                let (kind, _) = family.length();
                format!("{kind}{}", self.modulus_bits().unwrap_or_default())
            }
        };
        f.pad(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(word: &str) -> KeySpec {
        word.parse().unwrap()
    }

    #[test]
    fn names_survive_being_read() {
        for word in [
            "rsa3072",
            "rsa2047",
            "dsa1536",
            "elg2047",
            "dh2048",
            "nistp224",
            "sect571k1",
            "ed25519",
            "mldsa65",
        ] {
            assert_eq!(spec(word).to_string(), word);
        }
        assert_eq!(spec("RSA-2049"), KeySpec::rsa(2049));
        assert_eq!(spec("prime192v1").to_string(), "nistp192");
        assert_eq!(spec("ffdhe3072"), KeySpec::Dh(3072));
        for wrong in ["rsa", "rsa0", "rsa2048x", "curve9"] {
            let read = wrong.parse::<KeySpec>();
            assert!(wrong == "rsa" || read.is_err(), "{wrong}: {read:?}");
        }
    }

    #[test]
    fn a_bit_less_is_a_row_less() {
        let nist = |word: &str| spec(word).strength(Table::nist()).map(|bits| bits.0);
        for (word, bits) in [
            ("rsa1023", None),
            ("rsa1024", Some(80)),
            ("rsa2047", Some(80)),
            ("rsa2048", Some(112)),
            ("rsa2049", Some(112)),
            ("rsa3071", Some(112)),
            ("dh3072", Some(128)),
            ("nistp224", Some(112)),
            ("sect233k1", Some(112)),
            ("sect283k1", Some(128)),
            ("secp160r1", Some(80)),
            ("nistp384", Some(192)),
            ("ed25519", Some(128)),
            ("ed448", Some(224)),
            ("mldsa44", Some(128)),
            ("mldsa65", Some(192)),
            ("mlkem1024", Some(256)),
        ] {
            assert_eq!(nist(word), bits, "{word}");
        }
    }
}
