//! Algorithm attributes of a key slot (OpenPGP card 3.4.1 §4.4.3.9).

use keymark_bench::algorithm::{Algorithm, Curve, Family};

const RSA: u8 = 0x01;

/// Object identifiers (§4.4.3.10; Curve25519's as GnuPG uses them, and those of RFC 8410).
const CURVES: [(&[u8], Family); 12] = [
    (
        &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7],
        Family::Weierstrass(Curve::NistP256),
    ),
    (
        &[0x2B, 0x81, 4, 0, 0x22],
        Family::Weierstrass(Curve::NistP384),
    ),
    (
        &[0x2B, 0x81, 4, 0, 0x23],
        Family::Weierstrass(Curve::NistP521),
    ),
    (
        &[0x2B, 0x81, 4, 0, 0x0A],
        Family::Weierstrass(Curve::Secp256k1),
    ),
    (
        &[0x2B, 0x24, 3, 3, 2, 8, 1, 1, 7],
        Family::Weierstrass(Curve::BrainpoolP256r1),
    ),
    (
        &[0x2B, 0x24, 3, 3, 2, 8, 1, 1, 0x0B],
        Family::Weierstrass(Curve::BrainpoolP384r1),
    ),
    (
        &[0x2B, 0x24, 3, 3, 2, 8, 1, 1, 0x0D],
        Family::Weierstrass(Curve::BrainpoolP512r1),
    ),
    (&[0x2B, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1], Family::Cv25519),
    (&[0x2B, 0x65, 0x6E], Family::Cv25519),
    (&[0x2B, 6, 1, 4, 1, 0xDA, 0x47, 0x0F, 1], Family::Ed25519),
    (&[0x2B, 0x65, 0x70], Family::Ed25519),
    (&[0x2B, 0x65, 0x71], Family::Ed448),
];

/// The algorithm of a DO C1, C2 or C3; `None` for what keymark does not know.
#[must_use]
pub fn algorithm(attributes: &[u8]) -> Option<Algorithm> {
    let family = match attributes {
        [RSA, high, low, ..] => Family::Rsa(u32::from(u16::from_be_bytes([*high, *low]))),
        [_, oid @ ..] => {
            // A last octet FF says that imports come with the public key.
            let known = |known: &&(&[u8], Family)| {
                oid == known.0 || oid.strip_suffix(&[0xFF]) == Some(known.0)
            };
            CURVES.iter().find(known)?.1
        }
        [] => return None,
    };
    Algorithm::of(family)
}

/// The object identifier of a curve, in GnuPG's choice where there are two.
#[must_use]
pub fn oid(family: Family) -> Option<&'static [u8]> {
    CURVES
        .iter()
        .find(|(_, known)| *known == family)
        .map(|(oid, _)| *oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_the_specification_are_read() {
        for (attributes, expected) in [
            (&[0x01, 0x08, 0x00, 0x00, 0x20, 0x00][..], Some("rsa2048")),
            (&[0x01, 0x10, 0x00, 0x00, 0x20, 0x03], Some("rsa4096")),
            (
                &[0x13, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7],
                Some("nistp256"),
            ),
            (
                &[0x12, 0x2B, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1, 0xFF],
                Some("cv25519"),
            ),
            (&[0x16, 0x2B, 0x65, 0x70], Some("ed25519")),
            (&[0x01, 0x02, 0x00], None),
            (&[0x12, 0x2B], None),
            (&[], None),
        ] {
            let read = algorithm(attributes).map(Algorithm::name);
            assert_eq!(read, expected, "{attributes:x?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..20)) {
            let _ = algorithm(&bytes);
        }
    }
}
