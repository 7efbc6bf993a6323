//! Algorithm attributes of a key slot (OpenPGP card 3.4.1 §4.4.3.9).

use keymark_bench::{Algorithm, Family};

const RSA: u8 = 0x01;

/// The algorithm of a DO C1, C2 or C3; `None` for what keymark does not know.
pub fn algorithm(attributes: &[u8]) -> Option<Algorithm> {
    let family = match attributes {
        [RSA, high, low, ..] => Family::Rsa(u32::from(u16::from_be_bytes([*high, *low]))),
        [_, oid @ ..] => {
            // A last octet FF says that imports come with the public key.
            let bare = oid.strip_suffix(&[0xFF]);
            Family::of_oid(oid).or_else(|| Family::of_oid(bare?))?
        }
        [] => return None,
    };
    Algorithm::of(family)
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
