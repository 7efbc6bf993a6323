//! Families of algorithms, their curves and parameter sets, and the identifiers of curves.

use serde::Deserialize;

use super::{Algorithm, AlgorithmRow, TABLE};

/// Short-Weierstrass curves: one key pair serves ECDSA and ECDH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
    /// Bits of the field.
    pub const fn bits(self) -> u32 {
        match self {
            Self::NistP256 | Self::BrainpoolP256r1 | Self::Secp256k1 => 256,
            Self::NistP384 | Self::BrainpoolP384r1 => 384,
            Self::NistP521 => 521,
            Self::BrainpoolP512r1 => 512,
        }
    }
}

/// A digest of SHA-2 (FIPS 180-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Digest {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// Mathematical family of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
    /// A lattice combined with a curve, for OpenPGP.
    Composite(Composite),
}

impl Family {
    /// Bits of what cannot be factored, or of the prime modulo which there are logarithms.
    pub const fn modulus(self) -> Option<u32> {
        if let Self::Rsa(bits) | Self::Dsa(bits) | Self::Elgamal(bits) = self {
            return Some(bits);
        }
        None
    }

    /// Returns true if its keys are on a prime curve of NIST's (FIPS 186-5).
    pub const fn is_of_nist(self) -> bool {
        use Curve::{NistP256, NistP384, NistP521};
        matches!(self, Self::Weierstrass(NistP256 | NistP384 | NistP521))
    }

    /// The curve, if its order is all that has to be known of it: Curve25519 and Curve448 are named.
    pub const fn curve(self) -> Option<Curve> {
        if let Self::Weierstrass(curve) = self {
            return Some(curve);
        }
        None
    }

    /// Kind and length, for "the longest key of each kind": a larger number is a longer key.
    pub fn length(self) -> (&'static str, u32) {
        let row = self.row();
        (&row.kind, self.modulus().unwrap_or(row.length))
    }

    /// The row of the table, or of another length.
    pub(super) fn row(self) -> &'static AlgorithmRow {
        let alike = |known: &&AlgorithmRow| {
            std::mem::discriminant(&known.family) == std::mem::discriminant(&self)
        };
        let exact = TABLE.iter().find(|known| known.family == self);
        exact
            .or_else(|| TABLE.iter().find(alike))
            .unwrap_or(&TABLE[0])
    }

    /// Returns the two families of a composite, which has to be broken in both.
    pub fn parts(self) -> Option<[Self; 2]> {
        let [lattice, curve] = self.row().parts.as_ref()?;
        let part = |name: &str| name.parse().ok().map(Algorithm::family);
        Some([part(lattice)?, part(curve)?])
    }

    /// Object identifiers of the family's curve, DER-encoded without tag and length: the one that GnuPG writes comes first.
    pub fn oids(self) -> &'static [Vec<u8>] {
        &self.row().oids
    }

    /// The family whose curve has that object identifier.
    pub fn of_oid(oid: &[u8]) -> Option<Self> {
        let has_it = |row: &&AlgorithmRow| row.oids.iter().any(|known| known == oid);
        TABLE.iter().find(has_it).map(|row| row.family)
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlhVariant {
    /// Relatively small signatures, slow signing.
    Small,
    /// Relatively fast signing, larger signatures.
    Fast,
}

/// Composites of OpenPGP: GnuPG's with ML-KEM (LibrePGP), and those of RFC 9980.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Composite {
    /// ML-KEM-768 with X25519.
    Ky768Cv25519,
    /// ML-KEM-1024 with X448.
    Ky1024Cv448,
    /// ML-KEM-768 with brainpoolP256r1.
    Ky768Bp256,
    /// ML-KEM-1024 with brainpoolP384r1.
    Ky1024Bp384,
    /// ML-KEM-768 with X25519 by RFC 9980.
    MlKem768X25519,
    /// ML-DSA-65 with Ed25519 by RFC 9980.
    MlDsa65Ed25519,
}

impl Composite {
    /// Returns the algorithm's number in the packets of OpenPGP (RFC 9980 §2; GnuPG's Kyber: LibrePGP).
    pub const fn openpgp_number(self) -> u8 {
        match self {
            Self::Ky768Cv25519 | Self::Ky1024Cv448 | Self::Ky768Bp256 | Self::Ky1024Bp384 => 8,
            Self::MlDsa65Ed25519 => 30,
            Self::MlKem768X25519 => 35,
        }
    }
}
