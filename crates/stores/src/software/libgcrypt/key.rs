//! Private keys as libgcrypt's S-expressions, and gpg-agent's (agent/keyformat.txt of GnuPG).

use keymark_bench::{Curve, Error, Family};
use keymark_native::gcrypt::sexp::{Sexp, list};
use zeroize::Zeroizing;

use crate::test_key::{Numbers, TestKey};

/// A test key, unprotected, in canonical form.
#[allow(clippy::wildcard_enum_match_arm, reason = "others are alike in this")]
pub fn encode(key: &TestKey) -> Result<Zeroizing<Vec<u8>>, Error> {
    let family = key.algorithm.family();
    let inner = match key.numbers()? {
        Numbers::Rsa(numbers) => list("rsa", named(["n", "e", "d", "p", "q", "u"], numbers)),
        Numbers::Dsa(numbers) => list("dsa", named(["p", "q", "g", "y", "x"], numbers)),
        Numbers::Elgamal(numbers) => list("elg", named(["p", "g", "y", "x"], numbers)),
        Numbers::Weierstrass { point, d } => {
            let (q, d) = (number("q", point), number("d", d));
            list("ecc", named_curve(family).into_iter().chain([q, d]))
        }
        Numbers::Raw { public, secret } => {
            let (q, d) = match family {
                // OpenPGP's mark of a point in its curve's own form (RFC 9580 §11.2.2).
                Family::Ed25519 => ([vec![0x40], public].concat(), secret),
                Family::Cv25519 => ([vec![0x40], public].concat(), scalar(secret)),
                _ => (public, secret),
            };
            let (q, d) = (octets("q", q), octets("d", d));
            list("ecc", named_curve(family).into_iter().chain([q, d]))
        }
    };
    Ok(Zeroizing::new(list("private-key", [inner]).canonical()))
}

/// libgcrypt's numbers are signed: one with its highest bit set has a zero before it.
fn number(name: &str, mut value: Vec<u8>) -> Sexp {
    if value.first().is_some_and(|octet| octet & 0x80 != 0) {
        value.insert(0, 0);
    }
    octets(name, value)
}

fn named<const N: usize>(names: [&str; N], numbers: [Vec<u8>; N]) -> impl Iterator<Item = Sexp> {
    let numbers = names.into_iter().zip(numbers);
    numbers.map(|(name, value)| number(name, value))
}

fn octets(name: &str, value: Vec<u8>) -> Sexp {
    list(name, [Sexp::Atom(value)])
}

/// An MPI, big-endian, where RFC 7748 has 32 octets little-endian; decoded as §5 has it, since libgcrypt
/// takes it as it is.
fn scalar(mut secret: Vec<u8>) -> Vec<u8> {
    if let [first, .., last] = secret.as_mut_slice() {
        *first &= 0xF8;
        *last = *last & 0x7F | 0x40;
    }
    secret.reverse();
    secret
}

/// The curve by libgcrypt's name, with the flags with which gpg computes keygrips.
fn named_curve(family: Family) -> Vec<Sexp> {
    let Some((name, flag)) = curve(family) else {
        return Vec::new();
    };
    let text = |text: &str| Sexp::Atom(text.as_bytes().to_vec());
    let flags = flag.map(|flag| list("flags", [text(flag)]));
    let named = [list("curve", [text(name)])].into_iter();
    named.chain(flags).collect()
}

/// libgcrypt's name of a family's curve, and the flag of its keys.
pub(super) const fn curve(family: Family) -> Option<(&'static str, Option<&'static str>)> {
    Some(match family {
        Family::Weierstrass(Curve::NistP256) => ("NIST P-256", None),
        Family::Weierstrass(Curve::NistP384) => ("NIST P-384", None),
        Family::Weierstrass(Curve::NistP521) => ("NIST P-521", None),
        Family::Weierstrass(Curve::BrainpoolP256r1) => ("brainpoolP256r1", None),
        Family::Weierstrass(Curve::BrainpoolP384r1) => ("brainpoolP384r1", None),
        Family::Weierstrass(Curve::BrainpoolP512r1) => ("brainpoolP512r1", None),
        Family::Weierstrass(Curve::Secp256k1) => ("secp256k1", None),
        // GnuPG's own files of Ed448 keys lack the flag, but gpg computes the keygrip with it
        // (`keygrip_from_pk` of its g10/keyid.c): without, the two differ if the point begins with 02, 03
        // or 40.
        Family::Ed25519 => ("Ed25519", Some("eddsa")),
        Family::Ed448 => ("Ed448", Some("eddsa")),
        Family::Cv25519 => ("Curve25519", Some("djb-tweak")),
        Family::Cv448 => ("X448", None),
        Family::Rsa(_)
        | Family::Dsa(_)
        | Family::Elgamal(_)
        | Family::MlKem(_)
        | Family::MlDsa(_)
        | Family::SlhDsa(..)
        | Family::Composite(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> Sexp {
        let key = TestKey::generate(name.parse().unwrap()).unwrap();
        Sexp::parse(&encode(&key).unwrap()).unwrap()
    }

    #[test]
    fn keys_are_written_as_gnupg_writes_its_own() {
        let ed25519 = read("ed25519");
        assert_eq!(ed25519.value("curve"), Some(b"Ed25519".as_slice()));
        assert_eq!(ed25519.value("flags"), Some(b"eddsa".as_slice()));
        let point = ed25519.value("q").unwrap();
        assert_eq!((point.len(), point[0]), (33, 0x40));
        let cv25519 = read("cv25519");
        let scalar = cv25519.value("d").unwrap();
        assert_eq!(scalar.len(), 32);
        assert_eq!(scalar[0] & 0xC0, 0x40, "big-endian and clamped");
        assert_eq!(scalar[31] & 7, 0);
        let rsa = read("rsa1024");
        let modulus = rsa.value("n").unwrap();
        assert_eq!((modulus.len(), modulus[0]), (129, 0), "numbers are signed");
        assert!(rsa.value("u").is_some());
        assert_eq!(read("nistp521").value("q").unwrap().len(), 133);
    }

    /// GnuPG's own files of Ed448 keys lack the flag, and one in 85 is then not found by gpg.
    #[test]
    fn the_curves_of_448_bits_have_the_flags_of_gpgs_keygrips() {
        let (ed448, cv448) = (read("ed448"), read("cv448"));
        assert_eq!(ed448.value("flags"), Some(b"eddsa".as_slice()));
        assert_eq!(ed448.value("q").unwrap().len(), 57);
        assert_eq!(cv448.value("flags"), None);
        assert_eq!(cv448.value("q").unwrap().len(), 56);
    }

    #[test]
    fn what_gnupg_has_no_keys_of_has_no_file() {
        let key = TestKey::generate("mlkem512".parse().unwrap()).unwrap();
        assert!(encode(&key).is_err());
    }
}
