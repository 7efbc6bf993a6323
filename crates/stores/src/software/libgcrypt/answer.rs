//! Answers of libgcrypt in OpenSSL's forms.

use keymark_bench::{Algorithm, Family};
use keymark_native::gcrypt::sexp::Sexp;

use crate::public_key::der_signature;

/// The signature in `(sig-val …)` as OpenSSL takes it. libgcrypt drops leading zeros.
pub fn signature(algorithm: Algorithm, answer: &[u8]) -> Option<Vec<u8>> {
    let answer = Sexp::parse(answer).ok()?;
    let sig_val = Sexp::List(answer.find("sig-val")?.to_vec());
    let number = |name: &str| sig_val.value(name);
    let padded = |octets: &[u8], length: usize| -> Option<Vec<u8>> {
        let octets = octets.get(octets.len().saturating_sub(length)..)?;
        Some([vec![0; length - octets.len()], octets.to_vec()].concat())
    };
    match (algorithm.family(), number("s")?) {
        (Family::Rsa(bits), s) => padded(s, bits as usize / 8),
        (Family::Ed25519, s) => Some([padded(number("r")?, 32)?, padded(s, 32)?].concat()),
        (Family::Ed448, s) => Some([padded(number("r")?, 57)?, padded(s, 57)?].concat()),
        (_, s) => der_signature(number("r")?, s).ok(),
    }
}

/// The secret in `(value …)` as OpenSSL has it: a message without leading zeros, the x coordinate of a
/// point, the string of RFC 7748.
#[allow(clippy::wildcard_enum_match_arm, reason = "others are alike in this")]
pub(super) fn secret(algorithm: Algorithm, answer: &[u8]) -> Option<Vec<u8>> {
    let answer = Sexp::parse(answer).ok()?;
    let value = answer.value("value")?;
    let secret = match algorithm.family() {
        Family::Weierstrass(_) => match value {
            [4, point @ ..] if point.len().is_multiple_of(2) => &point[..point.len() / 2],
            _ => return None,
        },
        Family::Cv25519 => value.strip_prefix(&[0x40]).unwrap_or(value),
        Family::Elgamal(_) => {
            let zeros = value.iter().take_while(|octet| **octet == 0).count();
            &value[zeros..]
        }
        _ => value,
    };
    Some(secret.to_vec())
}

#[cfg(test)]
mod tests {
    use keymark_native::gcrypt::sexp::list;

    use super::*;

    #[test]
    fn short_numbers_are_filled() {
        let answer = list(
            "sig-val",
            [list(
                "eddsa",
                [
                    list("r", [Sexp::Atom(vec![1; 31])]),
                    list("s", [Sexp::Atom(vec![2; 32])]),
                ],
            )],
        );
        let signature = signature("ed25519".parse().unwrap(), &answer.canonical()).unwrap();
        assert_eq!((signature.len(), signature[0], signature[1]), (64, 0, 1));
    }

    #[test]
    fn secrets_are_taken_out_of_points() {
        let read = |name: &str, value: &[u8]| {
            let answer = list("value", [Sexp::Atom(value.to_vec())]).canonical();
            secret(name.parse().unwrap(), &answer)
        };
        assert_eq!(read("nistp256", &[4, 1, 2, 3, 4]), Some(vec![1, 2]));
        assert_eq!(read("nistp256", &[2, 1, 2]), None);
        assert_eq!(read("cv25519", &[0x40, 1, 2]), Some(vec![1, 2]));
        assert_eq!(read("elg2048", &[0, 9, 1]), Some(vec![9, 1]));
        assert_eq!(read("rsa2048", &[0, 9, 1]), Some(vec![0, 9, 1]));
    }
}
