//! Kinds of algorithms, as people choose among them.

use crate::Algorithm;
use crate::words::words;

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
    pub fn of(algorithm: Algorithm) -> Self {
        algorithm.group()
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
