//! Public keys in DER: SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), PKCS#1 (RFC 8017, appendix A.1), and the public parts
//! of PKCS#8 (RFC 5958), PKCS#1 and SEC 1 (RFC 5915).

use keymark_bench::{Algorithm, Family};
use x509_cert::der::asn1::{
    AnyRef, BitStringRef, ContextSpecific, ObjectIdentifier, OctetStringRef, UintRef,
};
use x509_cert::der::{Decode as _, Reader, Result, TagNumber};
use x509_cert::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use crate::audit::key::PublicKey;
use crate::key_spec::{IDENTIFIERS, KeySpec};

/// The key of a PEM block with that label.
pub(super) fn of_der(label: &str, bytes: &[u8]) -> std::result::Result<PublicKey, String> {
    let key = match label {
        "RSA PUBLIC KEY" => rsa_public(bytes),
        "RSA PRIVATE KEY" => rsa_private(bytes),
        "EC PRIVATE KEY" => sec1(bytes, None),
        "DSA PRIVATE KEY" => dsa_private(bytes),
        "PRIVATE KEY" => pkcs8(bytes),
        _ => SubjectPublicKeyInfoRef::from_der(bytes).and_then(|info| {
            let key = info.subject_public_key.raw_bytes();
            public(info.algorithm, key)
        }),
    };
    key.map_err(|error| format!("not a key as its standard has it: {error}"))
}

fn public(algorithm: AlgorithmIdentifierRef<'_>, key: &[u8]) -> Result<PublicKey> {
    let oid = algorithm.oid.to_string();
    Ok(match &*oid {
        // RSA, and RSA for PSS alone.
        "1.2.840.113549.1.1.1" | "1.2.840.113549.1.1.10" => rsa_public(key)?,
        "1.2.840.10040.4.1" => {
            let [p, q, g] = numbers(algorithm.parameters)?;
            PublicKey::dsa([p, q, g, UintRef::from_der(key)?.as_bytes()])
        }
        // PKCS#3 and X9.42.
        "1.2.840.113549.1.3.1" | "1.2.840.10046.2.1" => {
            let [p, _] = numbers(algorithm.parameters)?;
            PublicKey::discrete(KeySpec::Dh, p, UintRef::from_der(key)?.as_bytes())
        }
        "1.2.840.10045.2.1" => match algorithm.parameters.map(ObjectIdentifier::try_from) {
            Some(Ok(curve)) => PublicKey::on_curve(&curve_name(curve), key),
            // RFC 5480 §2.1.1 forbids them: CVE-2020-0601.
            _ => PublicKey::on_curve("a curve by its parameters", key),
        },
        other => match (quantum(other), Family::of_oid(algorithm.oid.as_bytes())) {
            (Some(name), _) => PublicKey::named(name, key),
            (None, Some(family)) => {
                let known = Algorithm::of(family).map(Algorithm::name);
                PublicKey::on_curve(known.unwrap_or(&oid), key)
            }
            (None, None) => PublicKey::named(other, key),
        },
    })
}

/// The first of the numbers in a sequence.
fn numbers<'a, const N: usize>(sequence: Option<AnyRef<'a>>) -> Result<[&'a [u8]; N]> {
    let mut found = [&[][..]; N];
    // DSA's parameters may be those of the issuer (RFC 3279 §2.3.2), which are not here.
    let Some(sequence) = sequence else {
        return Ok(found);
    };
    sequence.sequence(|reader| {
        for number in &mut found {
            *number = UintRef::decode(reader)?.as_bytes();
        }
        skip(reader)
    })?;
    Ok(found)
}

/// What follows in a sequence is not looked at.
fn skip<'a>(reader: &mut impl Reader<'a>) -> Result<()> {
    reader.read_slice(reader.remaining_len()).map(drop)
}

fn rsa_public(bytes: &[u8]) -> Result<PublicKey> {
    numbers(Some(AnyRef::from_der(bytes)?)).map(|[n, e]| PublicKey::rsa(n, e))
}

/// Version, modulus, exponent; what follows is private.
fn rsa_private(bytes: &[u8]) -> Result<PublicKey> {
    numbers(Some(AnyRef::from_der(bytes)?)).map(|[_, n, e]| PublicKey::rsa(n, e))
}

/// As OpenSSL has it: version, p, q, g, y, and what is private.
fn dsa_private(bytes: &[u8]) -> Result<PublicKey> {
    numbers(Some(AnyRef::from_der(bytes)?)).map(|[_, p, q, g, y]| PublicKey::dsa([p, q, g, y]))
}

/// An elliptic key: its public part is an option.
fn sec1(bytes: &[u8], curve: Option<ObjectIdentifier>) -> Result<PublicKey> {
    AnyRef::from_der(bytes)?.sequence(|reader| {
        u8::decode(reader)?;
        AnyRef::decode(reader)?;
        let own = ContextSpecific::<ObjectIdentifier>::decode_explicit(reader, TagNumber::N0)?;
        let point = ContextSpecific::<BitStringRef<'_>>::decode_explicit(reader, TagNumber::N1)?;
        skip(reader)?;
        let curve = own.map(|own| own.value).or(curve);
        let name = curve.map_or_else(|| "an unknown curve".to_owned(), curve_name);
        let point = point.map_or(&[][..], |point| point.value.raw_bytes());
        Ok(PublicKey::on_curve(&name, point))
    })
}

fn pkcs8(bytes: &[u8]) -> Result<PublicKey> {
    AnyRef::from_der(bytes)?.sequence(|reader| {
        u8::decode(reader)?;
        let algorithm = AlgorithmIdentifierRef::decode(reader)?;
        let inner = OctetStringRef::decode(reader)?.as_bytes();
        skip(reader)?;
        match algorithm.oid.to_string().as_str() {
            "1.2.840.113549.1.1.1" | "1.2.840.113549.1.1.10" => rsa_private(inner),
            "1.2.840.10045.2.1" => {
                let curve = algorithm.parameters.map(ObjectIdentifier::try_from);
                sec1(inner, curve.transpose()?)
            }
            // The others have no public part that is always there; their algorithm is judged.
            oid => {
                let family = Family::of_oid(algorithm.oid.as_bytes()).and_then(Algorithm::of);
                let name = quantum(oid).or(family.map(Algorithm::name));
                Ok(PublicKey::named(name.unwrap_or(oid), &[]))
            }
        }
    })
}

/// What a curve is called: by keymark, or by its number.
pub(super) fn curve_name(oid: ObjectIdentifier) -> String {
    match Family::of_oid(oid.as_bytes()).and_then(Algorithm::of) {
        Some(algorithm) => algorithm.name().to_owned(),
        None => {
            let oid = oid.to_string();
            let known = IDENTIFIERS.curve.iter().find(|curve| curve.oid == oid);
            known.map_or(oid, |curve| curve.names[0].clone())
        }
    }
}

/// keymark's name of an algorithm after elliptic curves.
fn quantum(oid: &str) -> Option<&'static str> {
    IDENTIFIERS.post_quantum.get(oid).map(String::as_str)
}

/// The identifier of a curve that stands in OpenPGP without its tag and length (RFC 9580 §9.2).
pub(super) fn curve_of_octets(octets: &[u8]) -> String {
    let oid = ObjectIdentifier::from_bytes(octets);
    oid.map_or_else(|_| "an unknown curve".to_owned(), curve_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_known_by_its_number_and_its_names() {
        for curve in &IDENTIFIERS.curve {
            let oid = ObjectIdentifier::new(&curve.oid).unwrap();
            assert_eq!(curve_name(oid), curve.names[0]);
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

    #[test]
    fn what_is_no_key_is_an_error() {
        for label in [
            "PUBLIC KEY",
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "EC PRIVATE KEY",
            "DSA PRIVATE KEY",
        ] {
            assert!(of_der(label, &[]).is_err(), "{label}");
            assert!(
                of_der(label, &[0x30, 0x03, 0x02, 0x01, 0x00]).is_err(),
                "{label}"
            );
        }
    }
}
