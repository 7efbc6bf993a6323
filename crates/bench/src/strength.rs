//! How strong keys are, in bits of security against attackers without a quantum computer.
//!
//! RSA, DSA and Elgamal by the length of the modulus: NIST SP 800-57 part 1 rev. 5, table 2, and for 4096 bits NIST SP 800-56B
//! rev. 2, table 4. Curves: half the bits of the group's order (the same table; RFC 7748 §7 puts X25519 at 128 and X448
//! at 224). ML-KEM, ML-DSA and SLH-DSA: the AES key that is as hard to find as their category says (FIPS 203 §8, FIPS 204
//! §4, FIPS 205 §11); ML-DSA-44 is of category 2, which is a collision of SHA-256: 128 bits.

use crate::algorithm::{Algorithm, Composite, Curve, Family};

impl Algorithm {
    /// Bits of security against attackers without a quantum computer.
    #[must_use]
    pub const fn security_bits(self) -> u32 {
        match self.family() {
            Family::Rsa(bits) | Family::Dsa(bits) | Family::Elgamal(bits) => match bits {
                0..=2047 => 80,
                2048..=3071 => 112,
                3072..=4095 => 128,
                4096.. => 152,
            },
            Family::Weierstrass(curve) => match curve {
                Curve::NistP256 | Curve::BrainpoolP256r1 | Curve::Secp256k1 => 128,
                Curve::NistP384 | Curve::BrainpoolP384r1 => 192,
                Curve::NistP521 | Curve::BrainpoolP512r1 => 256,
            },
            Family::Cv25519 | Family::Ed25519 => 128,
            Family::Cv448 | Family::Ed448 => 224,
            Family::MlKem(512) | Family::MlDsa(44) => 128,
            Family::MlKem(768) | Family::MlDsa(65) => 192,
            Family::MlKem(_) | Family::MlDsa(_) => 256,
            Family::SlhDsa(bits, _) => bits,
            Family::KyberComposite(composite) => match composite {
                Composite::Ky768Cv25519 | Composite::Ky768Bp256 => 192,
                Composite::Ky1024Cv448 | Composite::Ky1024Bp384 => 256,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_are_those_of_the_standards() {
        let bits = |name: &str| name.parse::<Algorithm>().unwrap().security_bits();
        for (name, expected) in [
            ("rsa1024", 80),
            ("rsa2048", 112),
            ("rsa3072", 128),
            ("rsa4096", 152),
            ("dsa3072", 128),
            ("nistp384", 192),
            ("brainpoolp512r1", 256),
            ("cv25519", 128),
            ("ed448", 224),
            ("mldsa44", 128),
            ("mlkem768", 192),
            ("slhdsa256f", 256),
        ] {
            assert_eq!(bits(name), expected, "{name}");
        }
        assert!(Algorithm::all().all(|algorithm| (80..=256).contains(&algorithm.security_bits())));
    }
}
