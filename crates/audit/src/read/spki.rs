//! Public keys in DER: SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), PKCS#1 (RFC 8017, appendix A.1), and the public parts
//! of PKCS#8 (RFC 5958), PKCS#1 and SEC 1 (RFC 5915).

use keymark_bench::{Algorithm, Family};
use rug::integer::IsPrime;

use super::der::{self, BITS, Element, INTEGER, OID, SEQUENCE, TAG_0, TAG_1};
use crate::key::{Numbers, PublicKey};
use crate::weakness::{bits, number};
use keymark_advice::key_spec::{IDENTIFIERS, KeySpec};

/// Rounds of Miller and Rabin's test.
const ROUNDS: u32 = 25;
/// Exponents are so much shorter than their modulus, but the numbers of a signature are of one length.
const LEAST_GAP: u32 = 64;

/// Returns whether that is a SubjectPublicKeyInfo.
pub(super) fn is_info(element: &Element<'_>) -> bool {
    let parts = element.parts();
    element.tag == SEQUENCE
        && matches!(parts[..], [algorithm, key]
            if algorithm.tag == SEQUENCE && key.tag == BITS && algorithm.content.first() == Some(&OID))
}

/// The key of a SubjectPublicKeyInfo.
pub(super) fn of_info(element: &Element<'_>) -> Result<PublicKey, String> {
    match element.parts()[..] {
        [algorithm, key] if is_info(element) => of_algorithm(algorithm, key.bits_or_content()),
        _ => Err("not a SubjectPublicKeyInfo".to_owned()),
    }
}

fn of_algorithm(algorithm: Element<'_>, key: &[u8]) -> Result<PublicKey, String> {
    let parts = algorithm.parts();
    let (oid, identifier) = identifier(&parts)?;
    let parameters = parts.get(1).copied();
    let inner = || Element::first(key).map(|(element, _)| element);
    let public = || inner().and_then(|element| positive(&element));
    Ok(match oid.as_str() {
        // RSA, RSA for PSS or for OAEP alone, and X.509's own RSA.
        "1.2.840.113549.1.1.1" | "1.2.840.113549.1.1.10" | "1.2.840.113549.1.1.7" | "2.5.8.1.1" => {
            let [n, e] = numbers(inner())?;
            if bits(n) == 0 {
                return Err("the modulus is 0".to_owned());
            }
            PublicKey::rsa(n, e)
        }
        "1.2.840.10040.4.1" | "1.3.14.3.2.12" => {
            // DSA's parameters may be those of the issuer (RFC 3279 §2.3.2), which are not here.
            let own = parameters.filter(|own| own.tag == SEQUENCE);
            let [p, q, g] = own.map_or(Ok([&[][..]; 3]), |own| numbers(Some(own)))?;
            PublicKey::dsa([p, q, g, public().ok_or("the DSA key is no number")?])
        }
        // PKCS#3 and X9.42.
        "1.2.840.113549.1.3.1" | "1.2.840.10046.2.1" => {
            let [p, _] = numbers(parameters)?;
            let y = public().ok_or("the Diffie-Hellman key is no number")?;
            PublicKey::discrete(KeySpec::Dh, p, y)
        }
        // For any use, for ECDH, for ECMQV.
        "1.2.840.10045.2.1" | "1.3.132.1.12" | "1.3.132.1.13" => {
            PublicKey::on_curve(&curve_of(parameters), key)
        }
        other => named(other, identifier, key),
    })
}

/// The identifier of an algorithm, in numbers and points, and as it is.
fn identifier<'a>(parts: &[Element<'a>]) -> Result<(String, &'a [u8]), String> {
    let first = parts.first().filter(|first| first.tag == OID);
    let named = first.and_then(|first| Some((first.oid()?, first.content)));
    named.ok_or_else(|| "the key has no algorithm".to_owned())
}

/// A key that is a string; empty if only the algorithm can be seen.
fn named(oid: &str, identifier: &[u8], key: &[u8]) -> PublicKey {
    if let Some(name) = IDENTIFIERS.post_quantum.get(oid) {
        return PublicKey::named(name, key);
    }
    match Family::of_oid(identifier) {
        Some(family) => {
            let known = Algorithm::of(family).map(Algorithm::name);
            PublicKey::on_curve(known.unwrap_or(oid), key)
        }
        None => PublicKey::named(oid, key),
    }
}

/// A number without its sign, which some programs forget: OpenSSL also takes such numbers for positive.
fn positive<'a>(element: &Element<'a>) -> Option<&'a [u8]> {
    (element.tag == INTEGER && !element.content.is_empty()).then_some(element.content)
}

/// The first N numbers of a sequence.
fn numbers<const N: usize>(sequence: Option<Element<'_>>) -> Result<[&[u8]; N], String> {
    let parts = sequence.filter(|sequence| sequence.tag == SEQUENCE);
    let parts = parts.map(Element::parts).unwrap_or_default();
    let numbers: Option<Vec<&[u8]>> = parts.iter().take(N).map(positive).collect();
    let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
    numbers.ok_or_else(|| format!("the key does not have {N} numbers"))
}

/// Returns whether the modulus of an RSA key in a SubjectPublicKeyInfo is a negative number.
pub(super) fn is_negative(element: &Element<'_>) -> bool {
    let key = element.parts().get(1).copied().and_then(Element::inner);
    let modulus = key
        .filter(|key| key.tag == SEQUENCE)
        .and_then(Element::inner);
    modulus.is_some_and(|n| n.tag == INTEGER && n.content.first() >= Some(&0x80))
}

/// The public part of PKCS#8, given its parts: version, algorithm, private key, attributes, public key.
pub(super) fn of_pkcs8(parts: &[Element<'_>]) -> Result<PublicKey, String> {
    let [_, algorithm, private, others @ ..] = parts else {
        return Err("the private key is cut off".to_owned());
    };
    // `[1] IMPLICIT BIT STRING`.
    if let Some(public) = others.iter().find(|part| part.tag == TAG_1 & !0x20) {
        return of_algorithm(*algorithm, public.content.get(1..).unwrap_or_default());
    }
    let parts = algorithm.parts();
    let (oid, identifier) = identifier(&parts)?;
    let inner = private.inner();
    let hidden = |spec: fn(u32) -> KeySpec| {
        numbers(parts.get(1).copied()).map(|[p]| PublicKey {
            spec: Ok(spec(bits(p))),
            numbers: Numbers::Opaque(Vec::new()),
        })
    };
    match oid.as_str() {
        "1.2.840.113549.1.1.1" | "1.2.840.113549.1.1.10" => {
            numbers(inner).map(|[_, n, e]| PublicKey::rsa(n, e))
        }
        "1.2.840.10045.2.1" => {
            let inner = inner.ok_or("the private key is cut off")?;
            Ok(of_sec1(&inner.parts(), parts.get(1).copied()))
        }
        "1.2.840.10040.4.1" => hidden(|bits| KeySpec::Family(Family::Dsa(bits))),
        "1.2.840.113549.1.3.1" | "1.2.840.10046.2.1" => hidden(KeySpec::Dh),
        // The others have no public part that is always there; their algorithm is judged.
        oid => Ok(named(oid, identifier, &[])),
    }
}

/// An elliptic key, given its parts: version, private key, curve, public key. Of these the last is an option, and the
/// curve may be outside.
pub(super) fn of_sec1(parts: &[Element<'_>], outside: Option<Element<'_>>) -> PublicKey {
    let tagged = |tag| parts.iter().find(|part| part.tag == tag);
    let inner = |tag| tagged(tag).copied().and_then(Element::inner);
    let point = inner(TAG_1).map_or(&[][..], Element::bits_or_content);
    PublicKey::on_curve(&curve_of(inner(TAG_0).or(outside)), point)
}

/// Reads a sequence of nothing but numbers: a key, or the name of something without one.
pub(super) enum NumbersOnly {
    Key(PublicKey),
    Named(&'static str),
    Unknown,
}

/// PKCS#1, DSA's keys as OpenSSL has them, parameters and signatures differ by how many numbers they have.
/// No modulus is a prime.
pub(super) fn of_numbers(parts: &[Element<'_>], label: &str) -> NumbersOnly {
    let all: Option<Vec<&[u8]>> = parts.iter().map(positive).collect();
    match all.unwrap_or_default()[..] {
        [n, e] if label == "RSA PUBLIC KEY" => NumbersOnly::Key(PublicKey::rsa(n, e)),
        [p, g] if bits(p) > bits(g) + LEAST_GAP && !is_prime(p) => {
            NumbersOnly::Key(PublicKey::rsa(p, g))
        }
        [p, _] if is_prime(p) => NumbersOnly::Named("Diffie-Hellman parameters"),
        [_, _] => NumbersOnly::Named("signature of DSA or ECDSA"),
        [_, _, _] => NumbersOnly::Named("Diffie-Hellman or DSA parameters"),
        [_, p, q, g, y, _] => NumbersOnly::Key(PublicKey::dsa([p, q, g, y])),
        [_, n, e, _, _, _, _, _, _] => NumbersOnly::Key(PublicKey::rsa(n, e)),
        _ => NumbersOnly::Unknown,
    }
}

fn is_prime(octets: &[u8]) -> bool {
    number(octets).is_probably_prime(ROUNDS) != IsPrime::No
}

/// The name of a curve in the parameters of an algorithm.
fn curve_of(parameters: Option<Element<'_>>) -> String {
    match parameters {
        Some(curve) if curve.tag == OID => curve_of_octets(curve.content),
        // RFC 5480 §2.1.1 forbids explicit parameters: CVE-2020-0601. The fifth is the order of the base point.
        Some(curve) if curve.tag == SEQUENCE => {
            let order = curve.parts().get(4).and_then(positive).map(bits);
            let order = order.map_or_else(String::new, |bits| format!(" of {bits} bits"));
            format!("a curve{order} by its parameters")
        }
        _ => "an unknown curve".to_owned(),
    }
}

/// The name of a curve whose identifier is without tag and length, as OpenPGP has it (RFC 9580 §9.2).
pub(super) fn curve_of_octets(octets: &[u8]) -> String {
    if let Some(algorithm) = Family::of_oid(octets).and_then(Algorithm::of) {
        return algorithm.name().to_owned();
    }
    let Some(oid) = der::dotted(octets) else {
        return "an unknown curve".to_owned();
    };
    let known = IDENTIFIERS.curve.iter().find(|curve| curve.oid == oid);
    known.map_or(oid, |curve| curve.names[0].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The content of an identifier whose first two parts are below 128.
    fn encoded(oid: &str) -> Vec<u8> {
        let arcs: Vec<u32> = oid.split('.').map(|arc| arc.parse().unwrap()).collect();
        let mut octets = vec![(40 * arcs[0] + arcs[1]) as u8];
        for arc in &arcs[2..] {
            let groups = (32 - arc.leading_zeros()).div_ceil(7).max(1);
            octets.extend(
                (0..groups).rev().map(|group| {
                    (arc >> (7 * group) & 0x7f) as u8 | if group > 0 { 0x80 } else { 0 }
                }),
            );
        }
        octets
    }

    #[test]
    fn every_curve_is_known_by_its_number_and_its_names() {
        for curve in &IDENTIFIERS.curve {
            assert_eq!(curve_of_octets(&encoded(&curve.oid)), curve.names[0]);
            for name in &curve.names {
                assert_eq!(name.parse(), Ok(KeySpec::Curve(curve)), "{name}");
            }
        }
        assert_eq!(curve_of_octets(&[0x2b, 0x81, 4, 0, 0x22]), "nistp384");
        assert_eq!(curve_of_octets(&[]), "an unknown curve");
        for name in IDENTIFIERS.post_quantum.values() {
            assert!(name.parse::<Algorithm>().is_ok(), "{name}");
        }
    }
}
