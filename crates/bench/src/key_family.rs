//! Kinds of algorithms, as people choose among them.

use crate::words::words;
use crate::{Algorithm, Family};

words! {
    /// Problem on which an algorithm's security rests.
    pub enum KeyFamily("family of algorithms") {
        /// Factoring.
        Rsa = "rsa",
        /// Discrete logarithms modulo a prime: DSA, Elgamal.
        FiniteField = "dsa-elgamal",
        /// Discrete logarithms on a curve.
        EllipticCurve = "elliptic-curves",
        /// Lattices and hashes, combined with a curve or alone.
        PostQuantum = "post-quantum",
    }
}

impl KeyFamily {
    /// Returns the family of an algorithm.
    pub const fn of(algorithm: Algorithm) -> Self {
        match algorithm.family() {
            Family::Rsa(_) => Self::Rsa,
            Family::Dsa(_) | Family::Elgamal(_) => Self::FiniteField,
            Family::Weierstrass(_)
            | Family::Cv25519
            | Family::Ed25519
            | Family::Cv448
            | Family::Ed448 => Self::EllipticCurve,
            Family::MlKem(_) | Family::MlDsa(_) | Family::SlhDsa(..) | Family::Composite(_) => {
                Self::PostQuantum
            }
        }
    }

    /// Returns the name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rsa => "RSA",
            Self::FiniteField => "DSA and Elgamal",
            Self::EllipticCurve => "elliptic curves",
            Self::PostQuantum => "post-quantum",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_are_in_the_family_that_people_look_for_them_in() {
        for (algorithm, expected) in [
            ("rsa4096", "RSA"),
            ("elg3072", "DSA and Elgamal"),
            ("cv25519", "elliptic curves"),
            ("brainpoolp256r1", "elliptic curves"),
            ("mlkem768", "post-quantum"),
            ("slhdsa128s", "post-quantum"),
            ("ky768_cv25519", "post-quantum"),
        ] {
            let algorithm: Algorithm = algorithm.parse().unwrap();
            assert_eq!(KeyFamily::of(algorithm).name(), expected, "{algorithm}");
        }
    }
}
