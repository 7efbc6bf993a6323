//! A key as policies speak of it: any length of modulus, and curves that keymark does not measure.

use std::fmt;
use std::str::FromStr;

use keymark_bench::algorithm::{Algorithm, Family, UnknownAlgorithm};
use keymark_bench::strength::{Strength, Table};

/// Algorithm and size of a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeySpec {
    /// Of a family that keymark knows; a modulus may have any length.
    Family(Family),
    /// On a curve that keymark does not measure.
    Curve(&'static OtherCurve),
    /// Diffie-Hellman modulo a prime with so many bits.
    Dh(u32),
}

/// A curve of ECDSA or ECDH that is met in keys, and that keymark does not measure.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtherCurve {
    /// The first of which is keymark's.
    pub names: &'static [&'static str],
    /// Of the order of the base point.
    order_bits: u32,
    /// Its identifier.
    pub oid: &'static str,
}

impl OtherCurve {
    const fn new(names: &'static [&'static str], order_bits: u32, oid: &'static str) -> Self {
        Self {
            names,
            order_bits,
            oid,
        }
    }

    /// The one with that identifier.
    pub fn of_oid(oid: &str) -> Option<&'static Self> {
        OTHER_CURVES.iter().find(|curve| curve.oid == oid)
    }
}

/// Curves of SEC 2, RFC 5639, ANSI X9.62, FIPS 186-4 appendix D, GB/T 32918.5, and JORF 2011-10-16 for FRP256v1.
pub static OTHER_CURVES: [OtherCurve; 23] = [
    OtherCurve::new(
        &["nistp192", "p192", "secp192r1", "prime192v1"],
        192,
        "1.2.840.10045.3.1.1",
    ),
    OtherCurve::new(&["nistp224", "p224", "secp224r1"], 224, "1.3.132.0.33"),
    OtherCurve::new(&["secp160k1"], 161, "1.3.132.0.9"),
    OtherCurve::new(&["secp160r1"], 161, "1.3.132.0.8"),
    OtherCurve::new(&["secp160r2"], 161, "1.3.132.0.30"),
    OtherCurve::new(&["secp192k1"], 192, "1.3.132.0.31"),
    OtherCurve::new(&["secp224k1"], 225, "1.3.132.0.32"),
    OtherCurve::new(&["brainpoolp160r1"], 160, "1.3.36.3.3.2.8.1.1.1"),
    OtherCurve::new(&["brainpoolp192r1"], 192, "1.3.36.3.3.2.8.1.1.3"),
    OtherCurve::new(&["brainpoolp224r1"], 224, "1.3.36.3.3.2.8.1.1.5"),
    OtherCurve::new(&["brainpoolp320r1"], 320, "1.3.36.3.3.2.8.1.1.9"),
    OtherCurve::new(&["sect163k1"], 163, "1.3.132.0.1"),
    OtherCurve::new(&["sect163r2"], 163, "1.3.132.0.15"),
    OtherCurve::new(&["sect233k1"], 232, "1.3.132.0.26"),
    OtherCurve::new(&["sect233r1"], 233, "1.3.132.0.27"),
    OtherCurve::new(&["sect283k1"], 281, "1.3.132.0.16"),
    OtherCurve::new(&["sect283r1"], 282, "1.3.132.0.17"),
    OtherCurve::new(&["sect409k1"], 407, "1.3.132.0.36"),
    OtherCurve::new(&["sect409r1"], 409, "1.3.132.0.37"),
    OtherCurve::new(&["sect571k1"], 570, "1.3.132.0.38"),
    OtherCurve::new(&["sect571r1"], 570, "1.3.132.0.39"),
    OtherCurve::new(&["sm2"], 256, "1.2.156.10197.1.301"),
    OtherCurve::new(&["frp256v1"], 256, "1.2.250.1.223.101.256.1"),
];

/// What makes a key of so many bits.
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
    /// RSA with a modulus of so many bits.
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
        let curve = OTHER_CURVES
            .iter()
            .find(|curve| curve.names.contains(&lower.as_str()));
        if let Some(curve) = curve {
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
            Self::Curve(curve) => curve.names[0].to_owned(),
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
            ("rsa2047", Some(80)),
            ("rsa2048", Some(112)),
            ("rsa2049", Some(112)),
            ("rsa3071", Some(112)),
            ("dh3072", Some(128)),
            ("nistp224", Some(112)),
            ("sect233k1", Some(112)),
            ("sect283k1", Some(128)),
            ("secp160r1", Some(80)),
            ("ed25519", Some(128)),
        ] {
            assert_eq!(nist(word), bits, "{word}");
        }
    }
}
