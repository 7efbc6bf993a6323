//! Public halves of a token's keys: from the key itself, the public key or the certificate next to it.

use cryptoki::context::Pkcs11;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use cryptoki::slot::Slot;
use der::asn1::{AnyRef, BitStringRef, OctetStringRef};
use der::{Decode as _, Encode as _, Tag};
use keymark_bench::{Algorithm, Error, Family};
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use openssl::bn::BigNum;
use openssl::rsa::Rsa;
use openssl::x509::X509;

use super::keys::{Attributes, KeyInfo, describe, parameter_set};
use crate::device::{PublicDer, PublicPart};
use crate::pkcs11::module::codes::failed;
use crate::public_key::{PublicKey, der_signature};

/// The public keys and certificates that show without a PIN. A key that keymark does not understand has no octets.
pub(crate) fn public_parts(module: &Pkcs11, slot: Slot) -> Result<Vec<PublicPart>, Error> {
    let _under_way = UnderWay::begin(Call::C_FindObjects);
    let session = module.open_ro_session(slot).map_err(failed)?;
    let objects = |class| session.find_objects(&[Attribute::Class(class)]);
    let mut parts = Vec::new();
    for key in objects(ObjectClass::PUBLIC_KEY).map_err(failed)? {
        let says = describe(&session, key)?;
        let of_numbers = |algorithm| public_numbers(&session, key, algorithm).ok().flatten();
        let der = rsa_der(&session, key)
            .or_else(|| of_numbers(says.algorithm?)?.spki_der().ok())
            .or_else(|| curve_der(&session, key));
        parts.push(PublicPart {
            // The audit has the names of more algorithms.
            name: says
                .algorithm
                .map_or_else(|| says.label.clone(), |_| says.name()),
            der: match (der, says.algorithm) {
                (None, None) => dsa(&session, key).unwrap_or(PublicDer::Key(Vec::new())),
                // Octets that are no key are named as not read.
                (der, _) => PublicDer::Key(der.unwrap_or_default()),
            },
        });
    }
    for certificate in objects(ObjectClass::CERTIFICATE).map_err(failed)? {
        let wanted = [AttributeType::Label, AttributeType::Value];
        let Attributes { info, value, .. } = Attributes::read(&session, certificate, &wanted)?;
        parts.extend(value.map(|der| PublicPart {
            name: info.label,
            der: PublicDer::Certificate(der),
        }));
    }
    Ok(parts)
}

/// A public key of RSA, of whatever length, as SubjectPublicKeyInfo.
fn rsa_der(session: &Session, key: ObjectHandle) -> Option<Vec<u8>> {
    let wanted = [AttributeType::Modulus, AttributeType::PublicExponent];
    let found = Attributes::read(session, key, &wanted).ok()?;
    let number = |octets: Option<Vec<u8>>| BigNum::from_slice(&octets?).ok();
    let (n, e) = (number(found.modulus)?, number(found.exponent)?);
    Rsa::from_public_components(n, e)
        .ok()?
        .public_key_to_der()
        .ok()
}

/// The numbers of a DSA key that can be asked for.
fn dsa(session: &Session, key: ObjectHandle) -> Option<PublicDer> {
    let wanted = [
        AttributeType::KeyType,
        AttributeType::Prime,
        AttributeType::Value,
    ];
    let found = Attributes::read(session, key, &wanted).ok()?;
    let (p, y) = (found.prime?, found.value?);
    (found.kind == Some(KeyType::DSA)).then_some(PublicDer::Dsa { p, y })
}

/// A public key on any curve, as SubjectPublicKeyInfo (RFC 5480 §2).
fn curve_der(session: &Session, key: ObjectHandle) -> Option<Vec<u8>> {
    let wanted = [
        AttributeType::KeyType,
        AttributeType::EcParams,
        AttributeType::EcPoint,
    ];
    let found = Attributes::read(session, key, &wanted).ok()?;
    let (curve, point) = (found.curve?, found.point?);
    if found.kind != Some(KeyType::EC) {
        return None;
    }
    let point = OctetStringRef::from_der(&point).map_or(&*point, |string| string.as_bytes());
    let parameters = AnyRef::from_der(&curve).ok()?;
    let kind = AnyRef::new(Tag::ObjectIdentifier, &EC_PUBLIC_KEY).ok()?;
    let algorithm = OnCurve { kind, parameters };
    let point = BitStringRef::from_bytes(point).ok()?;
    CurveKey { algorithm, point }.to_der().ok()
}

/// `id-ecPublicKey` without tag and length.
const EC_PUBLIC_KEY: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

#[derive(der::Sequence)]
struct OnCurve<'a> {
    kind: AnyRef<'a>,
    parameters: AnyRef<'a>,
}

#[derive(der::Sequence)]
struct CurveKey<'a> {
    algorithm: OnCurve<'a>,
    point: BitStringRef<'a>,
}

/// The public half of a private key: from its own attributes, the public key or the certificate next to it.
pub(crate) fn public_half(
    session: &Session,
    key: ObjectHandle,
    info: &KeyInfo,
) -> Result<PublicKey, Error> {
    let missing = |reason: &str| {
        Error::call(
            format!("reading the public half of {}", info.name()),
            reason,
            "the token must also have its public key or certificate, with the same CKA_ID",
        )
    };
    let _under_way = UnderWay::begin(Call::C_GetAttributeValue);
    let algorithm = info
        .algorithm
        .ok_or_else(|| missing("its algorithm is not known"))?;
    let beside = |class| beside(session, class, info);
    if let Some(public) = public_numbers(session, key, algorithm)? {
        return Ok(public);
    }
    let numbers = |object: &ObjectHandle| public_numbers(session, *object, algorithm).ok()?;
    let mut publics: Vec<PublicKey> = beside(ObjectClass::PUBLIC_KEY)?
        .iter()
        .filter_map(numbers)
        .collect();
    if publics.len() > 1 {
        publics.retain(|public| has_signed(session, key, public));
        if publics.is_empty() {
            return Err(missing(
                "several public keys have its CKA_ID, and none verifies its signature",
            ));
        }
    }
    if let Some(public) = publics.into_iter().next() {
        return Ok(public);
    }
    if let Some(certificate) = beside(ObjectClass::CERTIFICATE)?.first().copied() {
        let found = Attributes::read(session, certificate, &[AttributeType::Value])?;
        if let Some(der) = found.value {
            let key = X509::from_der(&der).and_then(|certificate| certificate.public_key());
            return key
                .map(|key| PublicKey::of_public(algorithm, key))
                .map_err(|error| missing(&error.to_string()));
        }
    }
    Err(missing(
        "the key does not contain it, and there is no public key next to it",
    ))
}

/// Objects of that class with a key's `CKA_ID`, or, without one, with its label. Of several those with its label also.
fn beside(
    session: &Session,
    class: ObjectClass,
    info: &KeyInfo,
) -> Result<Vec<ObjectHandle>, Error> {
    let label = Attribute::Label(info.label.as_bytes().to_vec());
    let id = (!info.id.is_empty()).then(|| Attribute::Id(info.id.clone()));
    let find = |names: Vec<Attribute>| {
        let template: Vec<_> = [Attribute::Class(class)].into_iter().chain(names).collect();
        session.find_objects(&template).map_err(failed)
    };
    let Some(id) = id else {
        return find(vec![label]);
    };
    let found = find(vec![id.clone()])?;
    if found.len() < 2 {
        return Ok(found);
    }
    let named = find(vec![id, label])?;
    Ok(if named.is_empty() { found } else { named })
}

/// Returns whether a private key on a short-Weierstrass curve signs what the public key verifies.
fn has_signed(session: &Session, key: ObjectHandle, public: &PublicKey) -> bool {
    const DIGEST: [u8; 32] = [0x4b; 32];
    let signature = session.sign(&Mechanism::Ecdsa, key, &DIGEST);
    let verified = signature.ok().and_then(|signature| {
        let (r, s) = signature.split_at(signature.len() / 2);
        let signature = der_signature(r, s).ok()?;
        public.verify(None, &DIGEST, &signature).ok()
    });
    verified == Some(true)
}

fn public_numbers(
    session: &Session,
    object: ObjectHandle,
    algorithm: Algorithm,
) -> Result<Option<PublicKey>, Error> {
    let wanted = [
        AttributeType::Modulus,
        AttributeType::PublicExponent,
        AttributeType::EcPoint,
        // Of a private key that is no public number.
        AttributeType::Class,
    ];
    let found = Attributes::read(session, object, &wanted)?;
    let has_set = parameter_set(algorithm.family()).is_some();
    let value = if has_set && found.class == Some(ObjectClass::PUBLIC_KEY) {
        // Of ML-DSA and ML-KEM (3.2 §6.67.2).
        Attributes::read(session, object, &[AttributeType::Value])?.value
    } else {
        None
    };
    let empty = |octets: &Vec<u8>| !octets.is_empty();
    let (exponent, point) = (found.exponent.filter(empty), found.point.filter(empty));
    let key = match (value, found.modulus, exponent, point) {
        (Some(octets), ..) => PublicKey::string(algorithm, &octets),
        (_, Some(n), Some(e), _) => PublicKey::rsa(algorithm, &n, &e),
        (.., Some(point)) => PublicKey::point(algorithm, unwrapped(algorithm.family(), &point)),
        _ => return Ok(None),
    };
    key.map(Some).map_err(|error| {
        let reason = format!("no key of {algorithm}: {error}");
        Error::call("reading a public key", reason, "")
    })
}

/// A point out of its OCTET STRING (3.1 §6.3.3), which some modules leave out.
fn unwrapped(family: Family, octets: &[u8]) -> &[u8] {
    let plain = point_length(family);
    if plain == Some(octets.len()) {
        return octets;
    }
    OctetStringRef::from_der(octets).map_or(octets, |string| string.as_bytes())
}

/// Length of a point on the curve as it is sent.
#[allow(clippy::wildcard_enum_match_arm, reason = "others have no points")]
const fn point_length(family: Family) -> Option<usize> {
    match family {
        Family::Weierstrass(curve) => Some(1 + 2 * (curve.bits() as usize).div_ceil(8)),
        Family::Cv25519 | Family::Ed25519 => Some(32),
        Family::Cv448 => Some(56),
        Family::Ed448 => Some(57),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_out_of_their_octet_string_and_plain_ones_stay() {
        let family = "nistp256".parse::<Algorithm>().unwrap().family();
        let mut plain = vec![4, 63];
        plain.resize(65, 7);
        assert_eq!(unwrapped(family, &plain), plain);
        let wrapped = [&[4, 65][..], &plain].concat();
        assert_eq!(unwrapped(family, &wrapped), plain);
        let family = "nistp521".parse::<Algorithm>().unwrap().family();
        let plain = vec![4; 133];
        let wrapped = [&[4, 0x81, 133][..], &plain].concat();
        assert_eq!(unwrapped(family, &wrapped), plain);
    }
}
