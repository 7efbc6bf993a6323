//! Algorithms, in GnuPG's spelling (lower case), and which operations each one has.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// Short-Weierstrass curves: one key pair serves ECDSA and ECDH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Curve {
    /// P-256 (FIPS 186-4 D.1.2.3).
    NistP256,
    /// P-384 (FIPS 186-4 D.1.2.4).
    NistP384,
    /// P-521 (FIPS 186-4 D.1.2.5).
    NistP521,
    /// brainpoolP256r1 (RFC 5639 §3.4).
    BrainpoolP256r1,
    /// brainpoolP384r1 (RFC 5639 §3.6).
    BrainpoolP384r1,
    /// brainpoolP512r1 (RFC 5639 §3.7).
    BrainpoolP512r1,
    /// secp256k1 (SEC 2 §2.4.1).
    Secp256k1,
}

impl Curve {
    /// Every curve, in table order.
    pub const ALL: [Self; 7] = [
        Self::NistP256,
        Self::NistP384,
        Self::NistP521,
        Self::BrainpoolP256r1,
        Self::BrainpoolP384r1,
        Self::BrainpoolP512r1,
        Self::Secp256k1,
    ];

    /// Bits of the field.
    pub const fn bits(self) -> u32 {
        match self {
            Self::NistP256 | Self::BrainpoolP256r1 | Self::Secp256k1 => 256,
            Self::NistP384 | Self::BrainpoolP384r1 => 384,
            Self::NistP521 => 521,
            Self::BrainpoolP512r1 => 512,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::NistP256 => "nistp256",
            Self::NistP384 => "nistp384",
            Self::NistP521 => "nistp521",
            Self::BrainpoolP256r1 => "brainpoolp256r1",
            Self::BrainpoolP384r1 => "brainpoolp384r1",
            Self::BrainpoolP512r1 => "brainpoolp512r1",
            Self::Secp256k1 => "secp256k1",
        }
    }
}

/// A digest of SHA-2 (FIPS 180-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Digest {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// What a key is for, mathematically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// RSA; modulus length in bits.
    Rsa(u32),
    /// DSA; length of p in bits.
    Dsa(u32),
    /// Elgamal encryption; length of p in bits.
    Elgamal(u32),
    /// ECDSA and ECDH on a Weierstrass curve.
    Weierstrass(Curve),
    /// X25519, called cv25519 by GnuPG.
    Cv25519,
    /// Ed25519.
    Ed25519,
    /// X448, called cv448 by GnuPG.
    Cv448,
    /// Ed448.
    Ed448,
    /// ML-KEM (FIPS 203); parameter set 512, 768 or 1024.
    MlKem(u32),
    /// ML-DSA (FIPS 204); parameter set 44, 65 or 87.
    MlDsa(u32),
    /// SLH-DSA with SHA-2 (FIPS 205); bits of security, and the small or the fast variant.
    SlhDsa(u32, SlhVariant),
    /// ML-KEM combined with ECDH, as GnuPG 2.5 does for OpenPGP.
    KyberComposite(Composite),
}

impl Family {
    /// Object identifiers of the family's curve, DER-encoded without tag and length: the one that
    /// GnuPG writes comes first (OpenPGP card 3.4.1 §4.4.3.10, RFC 9580 §9.2, RFC 8410).
    pub const fn oids(self) -> &'static [&'static [u8]] {
        match self {
            Self::Weierstrass(Curve::NistP256) => &[&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]],
            Self::Weierstrass(Curve::NistP384) => &[&[0x2B, 0x81, 4, 0, 0x22]],
            Self::Weierstrass(Curve::NistP521) => &[&[0x2B, 0x81, 4, 0, 0x23]],
            Self::Weierstrass(Curve::Secp256k1) => &[&[0x2B, 0x81, 4, 0, 0x0A]],
            Self::Weierstrass(Curve::BrainpoolP256r1) => &[&[0x2B, 0x24, 3, 3, 2, 8, 1, 1, 7]],
            Self::Weierstrass(Curve::BrainpoolP384r1) => &[&[0x2B, 0x24, 3, 3, 2, 8, 1, 1, 0x0B]],
            Self::Weierstrass(Curve::BrainpoolP512r1) => &[&[0x2B, 0x24, 3, 3, 2, 8, 1, 1, 0x0D]],
            Self::Cv25519 => &[
                &[0x2B, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1],
                &[0x2B, 0x65, 0x6E],
            ],
            Self::Ed25519 => &[
                &[0x2B, 6, 1, 4, 1, 0xDA, 0x47, 0x0F, 1],
                &[0x2B, 0x65, 0x70],
            ],
            Self::Cv448 => &[&[0x2B, 0x65, 0x6F]],
            Self::Ed448 => &[&[0x2B, 0x65, 0x71]],
            Self::Rsa(_)
            | Self::Dsa(_)
            | Self::Elgamal(_)
            | Self::MlKem(_)
            | Self::MlDsa(_)
            | Self::SlhDsa(..)
            | Self::KyberComposite(_) => &[],
        }
    }

    /// The family whose curve has that object identifier.
    pub fn of_oid(oid: &[u8]) -> Option<Self> {
        let curves = Curve::ALL.map(Self::Weierstrass).into_iter();
        curves
            .chain([Self::Cv25519, Self::Ed25519, Self::Cv448, Self::Ed448])
            .find(|family| family.oids().contains(&oid))
    }

    /// The family whose curve has those parameters in DER: an object identifier, or for the curves of
    /// Edwards and Montgomery a name (PKCS#11 3.1 §6.3.3).
    pub fn of_ec_parameters(parameters: &[u8]) -> Option<Self> {
        match parameters {
            [0x06, length, oid @ ..] if oid.len() == usize::from(*length) => Self::of_oid(oid),
            [0x13, length, name @ ..] if name.len() == usize::from(*length) => match name {
                b"edwards25519" => Some(Self::Ed25519),
                b"edwards448" => Some(Self::Ed448),
                b"curve25519" => Some(Self::Cv25519),
                b"curve448" => Some(Self::Cv448),
                _ => None,
            },
            _ => None,
        }
    }
}

/// SLH-DSA's two trade-offs (FIPS 205 §11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SlhVariant {
    /// Relatively small signatures, slow signing.
    Small,
    /// Relatively fast signing, larger signatures.
    Fast,
}

/// The ML-KEM composites of GnuPG 2.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Composite {
    /// ML-KEM-768 with X25519.
    Ky768Cv25519,
    /// ML-KEM-1024 with X448.
    Ky1024Cv448,
    /// ML-KEM-768 with brainpoolP256r1.
    Ky768Bp256,
    /// ML-KEM-1024 with brainpoolP384r1.
    Ky1024Bp384,
}

/// An algorithm with its length or curve: what a key is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
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
const TABLE: [(Family, &[&str]); 37] = [
    (Family::Rsa(1024), &["rsa1024"]),
    (Family::Rsa(2048), &["rsa2048", "rsa"]),
    (Family::Rsa(3072), &["rsa3072"]),
    (Family::Rsa(4096), &["rsa4096"]),
    (Family::Dsa(1024), &["dsa1024"]),
    (Family::Dsa(2048), &["dsa2048"]),
    (Family::Dsa(3072), &["dsa3072", "dsa"]),
    (Family::Elgamal(2048), &["elg2048", "elgamal2048"]),
    (
        Family::Elgamal(3072),
        &["elg3072", "elgamal3072", "elgamal"],
    ),
    (Family::Elgamal(4096), &["elg4096", "elgamal4096"]),
    (Family::Cv25519, &["cv25519", "x25519", "curve25519"]),
    (Family::Ed25519, &["ed25519"]),
    (Family::Cv448, &["cv448", "x448"]),
    (Family::Ed448, &["ed448"]),
    (
        Family::Weierstrass(Curve::NistP256),
        &["nistp256", "p256", "prime256v1", "secp256r1"],
    ),
    (
        Family::Weierstrass(Curve::NistP384),
        &["nistp384", "p384", "secp384r1"],
    ),
    (
        Family::Weierstrass(Curve::NistP521),
        &["nistp521", "p521", "secp521r1"],
    ),
    (
        Family::Weierstrass(Curve::BrainpoolP256r1),
        &["brainpoolp256r1"],
    ),
    (
        Family::Weierstrass(Curve::BrainpoolP384r1),
        &["brainpoolp384r1"],
    ),
    (
        Family::Weierstrass(Curve::BrainpoolP512r1),
        &["brainpoolp512r1"],
    ),
    (Family::Weierstrass(Curve::Secp256k1), &["secp256k1"]),
    (Family::MlKem(512), &["mlkem512", "ml-kem-512"]),
    (Family::MlKem(768), &["mlkem768", "ml-kem-768"]),
    (Family::MlKem(1024), &["mlkem1024", "ml-kem-1024"]),
    (
        Family::KyberComposite(Composite::Ky768Cv25519),
        &["ky768_cv25519"],
    ),
    (
        Family::KyberComposite(Composite::Ky1024Cv448),
        &["ky1024_cv448"],
    ),
    (
        Family::KyberComposite(Composite::Ky768Bp256),
        &["ky768_bp256"],
    ),
    (
        Family::KyberComposite(Composite::Ky1024Bp384),
        &["ky1024_bp384"],
    ),
    (Family::MlDsa(44), &["mldsa44", "ml-dsa-44"]),
    (Family::MlDsa(65), &["mldsa65", "ml-dsa-65"]),
    (Family::MlDsa(87), &["mldsa87", "ml-dsa-87"]),
    (
        Family::SlhDsa(128, SlhVariant::Small),
        &["slhdsa128s", "slh-dsa-sha2-128s"],
    ),
    (
        Family::SlhDsa(128, SlhVariant::Fast),
        &["slhdsa128f", "slh-dsa-sha2-128f"],
    ),
    (
        Family::SlhDsa(192, SlhVariant::Small),
        &["slhdsa192s", "slh-dsa-sha2-192s"],
    ),
    (
        Family::SlhDsa(192, SlhVariant::Fast),
        &["slhdsa192f", "slh-dsa-sha2-192f"],
    ),
    (
        Family::SlhDsa(256, SlhVariant::Small),
        &["slhdsa256s", "slh-dsa-sha2-256s"],
    ),
    (
        Family::SlhDsa(256, SlhVariant::Fast),
        &["slhdsa256f", "slh-dsa-sha2-256f"],
    ),
];

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
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the other families are alike in this"
    )]
    pub fn name(self) -> &'static str {
        match self.0 {
            // The two thirds of the table that are curves read better from their own names.
            Family::Weierstrass(curve) => curve.name(),
            family => TABLE
                .iter()
                .find(|(known, _)| *known == family)
                .map_or("unknown", |(_, names)| names[0]),
        }
    }

    /// The private-key operations this algorithm has.
    pub const fn operations(self) -> &'static [Operation] {
        match self.0 {
            Family::Rsa(_) | Family::Weierstrass(_) => &[Operation::Decrypt, Operation::Sign],
            Family::Elgamal(_) | Family::Cv25519 | Family::Cv448 | Family::KyberComposite(_) => {
                &[Operation::Decrypt]
            }
            Family::Dsa(_)
            | Family::Ed25519
            | Family::Ed448
            | Family::MlDsa(_)
            | Family::SlhDsa(..) => &[Operation::Sign],
            Family::MlKem(_) => &[Operation::Decapsulate],
        }
    }

    /// Whether a key of the algorithm can do the operation: one that signs can authenticate as well.
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
            | Family::KyberComposite(_) => Some(Digest::Sha256),
        }
    }

    /// Kind and length, for "the longest key of each kind": a larger number is a longer key.
    pub const fn length(self) -> (&'static str, u32) {
        match self.0 {
            Family::Rsa(bits) => ("rsa", bits),
            Family::Dsa(bits) => ("dsa", bits),
            Family::Elgamal(bits) => ("elg", bits),
            Family::Weierstrass(curve) => match curve {
                Curve::NistP256 | Curve::NistP384 | Curve::NistP521 => ("nist", curve.bits()),
                Curve::Secp256k1 => ("secp256k1", 256),
                Curve::BrainpoolP256r1 | Curve::BrainpoolP384r1 | Curve::BrainpoolP512r1 => {
                    ("brainpool", curve.bits())
                }
            },
            Family::Cv25519 => ("cv25519", 255),
            Family::Ed25519 => ("ed25519", 255),
            Family::Cv448 => ("cv448", 448),
            Family::Ed448 => ("ed448", 448),
            Family::MlKem(set) => ("mlkem", set),
            Family::MlDsa(set) => ("mldsa", set),
            Family::SlhDsa(bits, SlhVariant::Small) => ("slhdsa-s", bits),
            Family::SlhDsa(bits, SlhVariant::Fast) => ("slhdsa-f", bits),
            Family::KyberComposite(composite) => match composite {
                Composite::Ky768Cv25519 | Composite::Ky768Bp256 => ("kyber", 768),
                Composite::Ky1024Cv448 | Composite::Ky1024Bp384 => ("kyber", 1024),
            },
        }
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
        let lower = word.to_ascii_lowercase();
        if let Some((family, _)) = TABLE
            .iter()
            .find(|(_, names)| names.contains(&lower.as_str()))
        {
            return Ok(Self(*family));
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

impl TryFrom<String> for Algorithm {
    type Error = UnknownAlgorithm;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        word.parse()
    }
}

impl From<Algorithm> for String {
    fn from(algorithm: Algorithm) -> Self {
        algorithm.name().to_owned()
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
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
    fn a_mistyped_name_gets_the_nearest() {
        let error = "rsa2049".parse::<Algorithm>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown algorithm 'rsa2049'; did you mean 'rsa2048'?"
        );
        let error = "curve25518".parse::<Algorithm>().unwrap_err();
        assert!(error.to_string().contains("'curve25519'"), "{error}");
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

    #[test]
    fn names_survive_serialisation() {
        for algorithm in Algorithm::all() {
            let json = serde_json::to_string(&algorithm).unwrap();
            assert_eq!(json, format!("\"{algorithm}\""));
            assert_eq!(serde_json::from_str::<Algorithm>(&json).unwrap(), algorithm);
        }
    }
}
