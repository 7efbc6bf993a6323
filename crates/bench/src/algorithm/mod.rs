//! Algorithms, in GnuPG's spelling (lower case), and which operations each one has.

mod family;

use std::borrow::Cow;
use std::str::FromStr;

use derive_more::Display;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::Operation;
use crate::words::as_text;

pub use family::{Composite, Curve, Digest, Family, SlhVariant};

/// An algorithm with its length or curve: what a key is made for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Display,
)]
#[serde(into = "String", try_from = "String")]
#[display("{}", self.name())]
pub struct Algorithm(Family);

impl JsonSchema for Algorithm {
    fn schema_name() -> Cow<'static, str> {
        "Algorithm".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::all().map(|algorithm| algorithm.name()).collect();
        json_schema!({ "enum": names })
    }
}

/// Every algorithm with its name, in table order; the first name is the canonical one.
const TABLE: [(Family, &[&str]); 39] = {
    use self::Composite::*;
    use Curve::*;
    use Family::*;
    use SlhVariant::*;
    [
        (Rsa(1024), &["rsa1024"]),
        (Rsa(2048), &["rsa2048", "rsa"]),
        (Rsa(3072), &["rsa3072"]),
        (Rsa(4096), &["rsa4096"]),
        (Dsa(1024), &["dsa1024"]),
        (Dsa(2048), &["dsa2048"]),
        (Dsa(3072), &["dsa3072", "dsa"]),
        (Elgamal(2048), &["elg2048", "elgamal2048"]),
        (Elgamal(3072), &["elg3072", "elgamal3072", "elgamal"]),
        (Elgamal(4096), &["elg4096", "elgamal4096"]),
        (Cv25519, &["cv25519", "x25519", "curve25519"]),
        (Ed25519, &["ed25519"]),
        (Cv448, &["cv448", "x448"]),
        (Ed448, &["ed448"]),
        (
            Weierstrass(NistP256),
            &["nistp256", "p256", "prime256v1", "secp256r1"],
        ),
        (Weierstrass(NistP384), &["nistp384", "p384", "secp384r1"]),
        (Weierstrass(NistP521), &["nistp521", "p521", "secp521r1"]),
        (Weierstrass(BrainpoolP256r1), &["brainpoolp256r1"]),
        (Weierstrass(BrainpoolP384r1), &["brainpoolp384r1"]),
        (Weierstrass(BrainpoolP512r1), &["brainpoolp512r1"]),
        (Weierstrass(Secp256k1), &["secp256k1"]),
        (MlKem(512), &["mlkem512"]),
        (MlKem(768), &["mlkem768"]),
        (MlKem(1024), &["mlkem1024"]),
        (Composite(Ky768Cv25519), &["ky768_cv25519"]),
        (Composite(Ky1024Cv448), &["ky1024_cv448"]),
        (Composite(Ky768Bp256), &["ky768_bp256"]),
        (Composite(Ky1024Bp384), &["ky1024_bp384"]),
        (Composite(MlKem768X25519), &["mlkem768+x25519"]),
        (MlDsa(44), &["mldsa44"]),
        (MlDsa(65), &["mldsa65"]),
        (MlDsa(87), &["mldsa87"]),
        (Composite(MlDsa65Ed25519), &["mldsa65+ed25519"]),
        (SlhDsa(128, Small), &["slhdsa128s", "slh-dsa-sha2-128s"]),
        (SlhDsa(128, Fast), &["slhdsa128f", "slh-dsa-sha2-128f"]),
        (SlhDsa(192, Small), &["slhdsa192s", "slh-dsa-sha2-192s"]),
        (SlhDsa(192, Fast), &["slhdsa192f", "slh-dsa-sha2-192f"]),
        (SlhDsa(256, Small), &["slhdsa256s", "slh-dsa-sha2-256s"]),
        (SlhDsa(256, Fast), &["slhdsa256f", "slh-dsa-sha2-256f"]),
    ]
};

impl Algorithm {
    /// Every algorithm keymark knows, in table order.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(family, _)| Self(*family))
    }

    /// The algorithm of a family and length, if keymark knows that combination.
    pub fn of(family: Family) -> Option<Self> {
        TABLE
            .iter()
            .any(|(known, _)| *known == family)
            .then_some(Self(family))
    }

    /// Family with its length, curve or parameter set.
    pub const fn family(self) -> Family {
        self.0
    }

    /// Canonical name.
    pub fn name(self) -> &'static str {
        TABLE
            .iter()
            .find(|(known, _)| *known == self.0)
            .map_or("unknown", |(_, names)| names[0])
    }

    /// The private-key operations this algorithm has.
    pub const fn operations(self) -> &'static [Operation] {
        match self.0 {
            Family::Rsa(_) | Family::Weierstrass(_) => &[Operation::Decrypt, Operation::Sign],
            Family::Composite(Composite::MlDsa65Ed25519)
            | Family::Dsa(_)
            | Family::Ed25519
            | Family::Ed448
            | Family::MlDsa(_)
            | Family::SlhDsa(..) => &[Operation::Sign],
            Family::Elgamal(_) | Family::Cv25519 | Family::Cv448 | Family::Composite(_) => {
                &[Operation::Decrypt]
            }
            Family::MlKem(_) => &[Operation::Decapsulate],
        }
    }

    /// Returns true if a key of the algorithm can do the operation: one that signs can also authenticate.
    pub fn has(self, operation: Operation) -> bool {
        let signs = operation == Operation::Authenticate;
        let same = if signs { Operation::Sign } else { operation };
        self.operations().contains(&same)
    }

    /// The digest that is signed in place of the message: as long as the key's strength asks for
    /// (FIPS 186-5 §6.1.1 for ECDSA). None: the algorithm takes the message itself.
    ///
    /// EdDSA in OpenPGP signs the digest as its message (RFC 9580 §5.2.3.3).
    pub const fn digest(self) -> Option<Digest> {
        match self.0 {
            Family::MlDsa(_) | Family::SlhDsa(..) | Family::MlKem(_) => None,
            Family::Weierstrass(Curve::NistP384 | Curve::BrainpoolP384r1) => Some(Digest::Sha384),
            Family::Weierstrass(Curve::NistP521 | Curve::BrainpoolP512r1) | Family::Ed448 => {
                Some(Digest::Sha512)
            }
            Family::Weierstrass(Curve::NistP256 | Curve::BrainpoolP256r1 | Curve::Secp256k1)
            | Family::Rsa(_)
            | Family::Dsa(_)
            | Family::Elgamal(_)
            | Family::Cv25519
            | Family::Cv448
            | Family::Ed25519
            | Family::Composite(_) => Some(Digest::Sha256),
        }
    }

    /// Kind and length, for "the longest key of each kind": a larger number is a longer key.
    pub const fn length(self) -> (&'static str, u32) {
        self.0.length()
    }
}

/// A word that is no algorithm, with the nearest one that is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm '{word}'; did you mean '{nearest}'?")]
pub struct UnknownAlgorithm {
    word: String,
    nearest: &'static str,
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let named = |is: &dyn Fn(&str) -> bool| {
            let row = TABLE
                .iter()
                .find(|(_, names)| names.iter().any(|name| is(name)));
            row.map(|(family, _)| Self(*family))
        };
        // People write P-256, rsa:4096 and ML-DSA-65; records have keymark's own names, and many of them.
        let plain = |name: &str| name.to_ascii_lowercase().replace(['-', ':', '_'], "");
        let lower = plain(word);
        let found = named(&|name| name == word).or_else(|| named(&|name| plain(name) == lower));
        if let Some(algorithm) = found {
            return Ok(algorithm);
        }
        let distance = |name: &str| strsim::damerau_levenshtein(&lower, name);
        let nearest = TABLE
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .min_by_key(|name| distance(name))
            .unwrap_or("rsa2048");
        Err(UnknownAlgorithm {
            word: word.to_owned(),
            nearest,
        })
    }
}

as_text!(Algorithm);

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn every_name_of_the_table_parses_to_its_row() {
        for (family, names) in TABLE {
            for name in names {
                assert_eq!(name.parse(), Ok(Algorithm(family)), "{name}");
                assert_eq!(name.to_uppercase().parse(), Ok(Algorithm(family)), "{name}");
            }
            assert_eq!(Algorithm(family).name(), names[0]);
            assert!(!Algorithm(family).operations().is_empty());
        }
    }

    #[test]
    fn names_that_people_type_are_understood() {
        for (typed, name) in [
            ("P-256", "nistp256"),
            ("rsa:4096", "rsa4096"),
            ("RSA-4096", "rsa4096"),
            ("ML-KEM-768", "mlkem768"),
            ("curve25519", "cv25519"),
            ("ML-DSA-65+Ed25519", "mldsa65+ed25519"),
        ] {
            assert_eq!(typed.parse::<Algorithm>().unwrap().name(), name);
        }
    }

    #[test]
    fn a_mistyped_name_gets_the_nearest() {
        let error = "rsa2049".parse::<Algorithm>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown algorithm 'rsa2049'; did you mean 'rsa2048'?"
        );
        let error = "curve25518".parse::<Algorithm>().unwrap_err();
        assert_says(&error, ["'curve25519'"]);
    }

    #[test]
    fn every_identifier_leads_back_to_its_curve() {
        for algorithm in Algorithm::all() {
            for oid in algorithm.family().oids() {
                assert_eq!(Family::of_oid(oid), Some(algorithm.family()), "{algorithm}");
            }
        }
        assert_eq!(Family::of_oid(&[]), None);
    }

    #[test]
    fn what_signs_can_authenticate() {
        for algorithm in Algorithm::all() {
            assert_eq!(
                algorithm.has(Operation::Authenticate),
                algorithm.has(Operation::Sign),
                "{algorithm}"
            );
        }
    }
}
