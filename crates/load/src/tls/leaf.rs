//! The key of a certificate.

use keymark_bench::algorithm::{Algorithm, Family};
use openssl::pkey::PKeyRef;
use openssl::pkey::Public;
use openssl::x509::X509;

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// rsaEncryption (RFC 8017 §A.1).
const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1];
/// id-ecPublicKey (RFC 5480 §2.1.1).
const EC: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1];
/// id-ml-dsa-44, -65, -87 are this with 17, 18, 19 (RFC 9881 §2).
const SIGNATURES_OF_NIST: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3];

/// The algorithm of the key in a certificate (DER), if it is one of keymark's.
pub(super) fn algorithm(certificate: &[u8]) -> Option<Algorithm> {
    let key = X509::from_der(certificate).ok()?.public_key().ok()?;
    let family = family(&key, &key.public_key_to_der().ok()?)?;
    Algorithm::of(family)
}

/// By the AlgorithmIdentifier of a SubjectPublicKeyInfo (RFC 5280 §4.1).
fn family(key: &PKeyRef<Public>, info: &[u8]) -> Option<Family> {
    let (identifier, _) = element(element(info, SEQUENCE)?.0, SEQUENCE)?;
    let (oid, parameters) = element(identifier, OBJECT_IDENTIFIER)?;
    if oid == RSA {
        return Some(Family::Rsa(key.bits()));
    }
    if oid == EC {
        return Family::of_ec_parameters(parameters);
    }
    match oid.strip_prefix(SIGNATURES_OF_NIST) {
        Some([17]) => Some(Family::MlDsa(44)),
        Some([18]) => Some(Family::MlDsa(65)),
        Some([19]) => Some(Family::MlDsa(87)),
        Some(_) | None => Family::of_oid(oid),
    }
}

/// Content of the first element, which has that tag, and what follows it (X.690 §8.1).
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[first, length], rest) = der.split_first_chunk()?;
    if first != tag {
        return None;
    }
    if length < 0x80 {
        return rest.split_at_checked(usize::from(length));
    }
    let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7F))?;
    if digits.len() > 4 {
        return None;
    }
    let length = digits
        .iter()
        .fold(0, |sum, digit| sum << 8 | usize::from(*digit));
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_cut_as_their_lengths_say() {
        assert_eq!(element(&[6, 1, 9, 7], 6), Some((&[9][..], &[7][..])));
        assert_eq!(element(&[6, 0x81, 1, 9], 6), Some((&[9][..], &[][..])));
        assert_eq!(element(&[6, 2, 9], 6), None);
        assert_eq!(element(&[5, 0], 6), None);
        assert_eq!(element(&[6, 0x85, 0, 0, 0, 0, 0], 6), None);
        assert_eq!(algorithm(b"no certificate"), None);
    }
}
