//! Strength of keys and key exchanges in bits: NIST SP 800-57 part 1 revision 5, table 2 (its rows 80, 112, 128, 192 and
//! 256); of Curve25519 and Curve448 SP 800-186, table 1; of post-quantum algorithms the strength of the AES or SHA-2 that
//! their category stands for (FIPS 203 to 205). Tables made after CNSA put P-384 beside RSA-3072, at 128 bits.

use std::fmt;

use crate::algorithm::{Algorithm, Family};
use crate::case::Case;
use crate::operation::Operation;

/// So many bits of security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Strength(pub u32);

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit", self.0)
    }
}

impl Strength {
    /// Whether it is less than the 112 bits below which nothing is protected any more (SP 800-57 part 1, table 4).
    pub const fn is_weak(self) -> bool {
        self.0 < 112
    }
}

/// The strengths that the table has.
const ROWS: [u32; 5] = [80, 112, 128, 192, 256];

/// The row of a modulus or prime with so many bits: columns FFC and IFC.
const fn of_modulus(bits: u32) -> Option<Strength> {
    Some(Strength(match bits {
        ..1024 => return None,
        1024..2048 => ROWS[0],
        2048..3072 => ROWS[1],
        3072..7680 => ROWS[2],
        7680..15360 => ROWS[3],
        15360.. => ROWS[4],
    }))
}

/// The row of a curve whose order has so many bits: column ECC.
const fn of_curve(bits: u32) -> Option<Strength> {
    Some(Strength(match bits {
        ..160 => return None,
        160..224 => ROWS[0],
        224..256 => ROWS[1],
        256..384 => ROWS[2],
        384..512 => ROWS[3],
        512.. => ROWS[4],
    }))
}

/// Of a parameter set of ML-KEM, ML-DSA.
const fn of_lattice(set: u32) -> Option<Strength> {
    Some(Strength(match set {
        512 | 44 => ROWS[2],
        768 | 65 => ROWS[3],
        1024 | 87 => ROWS[4],
        _ => return None,
    }))
}

/// Of a key; none where no table has it.
pub const fn of_key(algorithm: Algorithm) -> Option<Strength> {
    match algorithm.family() {
        Family::Rsa(bits) | Family::Dsa(bits) | Family::Elgamal(bits) => of_modulus(bits),
        Family::Weierstrass(curve) => of_curve(curve.bits()),
        Family::Cv25519 | Family::Ed25519 => Some(Strength(128)),
        Family::Cv448 | Family::Ed448 => Some(Strength(224)),
        Family::MlKem(set) | Family::MlDsa(set) => of_lattice(set),
        Family::SlhDsa(bits, _) => Some(Strength(bits)),
        Family::KyberComposite(_) => None,
    }
}

/// Of what a case does besides using its key, by a word of its parameters: a key exchange. None where it is the
/// certificate's. Of two that are combined the stronger one has to be broken.
fn of_word(word: &str) -> Option<Strength> {
    match word {
        "dhe-1024" => of_modulus(1024),
        "dhe-2048" => of_modulus(2048),
        "dhe-3072" => of_modulus(3072),
        "dhe-4096" => of_modulus(4096),
        "ecdhe-p256" => of_curve(256),
        "ecdhe-p384" => of_curve(384),
        "ecdhe-p521" => of_curve(521),
        "x25519" => Some(Strength(128)),
        "x448" => Some(Strength(224)),
        "x25519mlkem768" | "secp256r1mlkem768" => of_lattice(768),
        "secp384r1mlkem1024" => of_lattice(1024),
        _ => None,
    }
}

/// Of a handshake: of certificate and key exchange the weaker one; none of what is no handshake.
pub fn of_handshake(case: &Case) -> Option<Strength> {
    let own = match case.operation {
        Operation::Handshake => of_key(case.algorithm)?,
        Operation::Decrypt | Operation::Sign | Operation::Authenticate | Operation::Decapsulate => {
            return None;
        }
    };
    if case.parameters.is_empty() {
        return None;
    }
    let words = case
        .parameters
        .pairs()
        .filter_map(|(_, word)| of_word(word));
    Some(words.fold(own, Strength::min))
}

/// Of what a case asks: of a handshake as a whole where its key exchange is known, else of the key.
pub fn of_case(case: &Case) -> Option<Strength> {
    of_handshake(case).or_else(|| of_key(case.algorithm))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(word: &str) -> Option<u32> {
        let algorithm: Algorithm = word.parse().unwrap();
        of_key(algorithm).map(|strength| strength.0)
    }

    #[test]
    fn keys_stand_in_the_row_of_the_table() {
        for (word, expected) in [
            ("rsa1024", 80),
            ("rsa2048", 112),
            ("rsa3072", 128),
            ("rsa4096", 128),
            ("nistp256", 128),
            ("nistp384", 192),
            ("nistp521", 256),
            ("ed25519", 128),
            ("ed448", 224),
            ("mldsa44", 128),
            ("mldsa65", 192),
            ("mlkem1024", 256),
        ] {
            assert_eq!(bits(word), Some(expected), "{word}");
        }
    }

    #[test]
    fn bounds_are_those_of_the_table() {
        let modulus = [
            (1023, None),
            (2047, Some(80)),
            (3071, Some(112)),
            (7680, Some(192)),
            (15_360, Some(256)),
        ];
        for (length, expected) in modulus {
            assert_eq!(of_modulus(length).map(|strength| strength.0), expected);
        }
        let curves = [
            (159, None),
            (223, Some(80)),
            (224, Some(112)),
            (255, Some(112)),
            (383, Some(128)),
            (511, Some(192)),
        ];
        for (length, expected) in curves {
            assert_eq!(of_curve(length).map(|strength| strength.0), expected);
        }
    }

    #[test]
    fn a_handshake_is_as_strong_as_its_weaker_half() {
        let text = r#"{"device":"software","store":"software","provenance":"measured","algorithm":"nistp384",
            "operation":"handshake","stack":"nginx","load":{"concurrency":1,"pacing":"closed"},
            "input_bytes":4096,"replica":0}"#;
        let mut case: Case = serde_json::from_str(text).unwrap();
        assert_eq!(of_handshake(&case), None);
        for (algorithm, exchange, expected) in [
            ("rsa3072", "rsa", 128),
            ("rsa3072", "dhe-1024", 80),
            ("rsa2048", "x25519", 112),
            ("nistp384", "x25519", 128),
            ("nistp384", "ecdhe-p384", 192),
            ("nistp256", "x25519mlkem768", 128),
            ("mldsa65", "x25519mlkem768", 192),
        ] {
            case.algorithm = algorithm.parse().unwrap();
            case.parameters = crate::case::Parameters::from([("kex", exchange)]);
            assert_eq!(
                of_handshake(&case),
                Some(Strength(expected)),
                "{algorithm} {exchange}"
            );
        }
    }
}
