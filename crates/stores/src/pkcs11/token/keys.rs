//! Keys as objects of a token: what is there.

use cryptoki::context::Pkcs11;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{
    Attribute, AttributeType, KeyType, MlDsaParameterSetType, MlKemParameterSetType, ObjectClass,
    ObjectHandle, ParameterSetType,
};
use cryptoki::session::Session;
use cryptoki::slot::Slot;
use der::asn1::{AnyRef, BitStringRef, OctetStringRef};
use der::{Decode as _, Encode as _, Tag};
use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Error, Family, Operation};
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use openssl::bn::BigNum;
use openssl::rsa::Rsa;
use openssl::x509::X509;
use serde::{Deserialize, Serialize};

use super::codes::failed;
use super::uri::{ObjectKind, ObjectPart};
use crate::device::{PublicDer, PublicPart};
use crate::public_key::{PublicKey, der_signature};
use crate::store::once_each;

/// What is said of a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyInfo {
    pub label: String,
    pub id: Vec<u8>,
    /// None: keymark does not know the algorithm, or the length.
    pub algorithm: Option<Algorithm>,
    /// What its attributes let it do.
    pub operations: Vec<Operation>,
    pub pin: KeyPin,
}

/// Whether the PIN of the token is enough for a key (`CKA_ALWAYS_AUTHENTICATE`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyPin {
    #[default]
    Once,
    EachUse,
}

impl KeyInfo {
    /// `'web' rsa2048`, with the identifier where there is no label.
    pub fn name(&self) -> String {
        let algorithm = self
            .algorithm
            .map_or("of another algorithm", Algorithm::name);
        if self.label.is_empty() {
            let id: String = self
                .id
                .iter()
                .map(|octet| format!("%{octet:02x}"))
                .collect();
            return format!("id={id} {algorithm}");
        }
        format!("'{}' {algorithm}", self.label)
    }

    /// Whether a URI means it.
    pub(super) fn is_called(&self, wanted: &ObjectPart) -> bool {
        let label = wanted.label.as_ref();
        label.is_none_or(|label| *label == self.label)
            && wanted.id.as_ref().is_none_or(|id| *id == self.id)
    }

    /// What can be asked of it.
    pub fn capabilities(&self) -> impl Iterator<Item = Capability> {
        let operations = self.operations.iter();
        operations.filter_map(|operation| {
            let algorithm = self.algorithm?;
            // A PIN for each use goes between a C_…Init and what follows: C_DeriveKey has none (3.1 §4.9).
            let derives =
                *operation == Operation::Decrypt && !matches!(algorithm.family(), Family::Rsa(_));
            let possible = match self.pin {
                KeyPin::Once => true,
                KeyPin::EachUse => !derives,
            };
            (possible && algorithm.has(*operation))
                .then_some(Capability::new(algorithm, *operation))
        })
    }
}

/// What can be asked of the keys, once each.
pub(super) fn capabilities(keys: &[KeyInfo]) -> Vec<Capability> {
    once_each(keys.iter().flat_map(KeyInfo::capabilities))
}

/// The private keys that show without a PIN; or else the public keys, which have the same names.
pub(super) fn visible(module: &Pkcs11, slot: Slot) -> Vec<KeyInfo> {
    let Ok(session) = module.open_ro_session(slot) else {
        return Vec::new();
    };
    let keys = |class| {
        let found = session.find_objects(&[Attribute::Class(class)]);
        let found = found.unwrap_or_default().into_iter();
        let keys = found.filter_map(|key| describe(&session, key).ok());
        keys.collect::<Vec<_>>()
    };
    let private = keys(ObjectClass::PRIVATE_KEY);
    if private.is_empty() {
        keys(ObjectClass::PUBLIC_KEY)
    } else {
        private
    }
}

/// The public keys and certificates that show without a PIN. A key that keymark does not understand has no octets.
pub(super) fn public_parts(module: &Pkcs11, slot: Slot) -> Result<Vec<PublicPart>, Error> {
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
            // Octets that are no key are named as not read.
            der: PublicDer::Key(der.unwrap_or_default()),
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

/// The private keys that a URI means.
pub(super) fn meant(
    session: &Session,
    wanted: &ObjectPart,
) -> Result<Vec<(ObjectHandle, KeyInfo)>, Error> {
    if let Some(kind) = wanted.kind.filter(|kind| *kind != ObjectKind::Private) {
        return Err(Error::call(
            "looking for a key",
            format!("'type={kind}' is not a private key"),
            "leave it out, or write type=private",
        ));
    }
    let _under_way = UnderWay::begin(Call::C_FindObjects);
    let mut template = vec![Attribute::Class(ObjectClass::PRIVATE_KEY)];
    let label = wanted.label.as_ref();
    template.extend(label.map(|label| Attribute::Label(label.as_bytes().to_vec())));
    template.extend(wanted.id.clone().map(Attribute::Id));
    let found = session.find_objects(&template).map_err(failed)?;
    found
        .into_iter()
        .map(|key| Ok((key, describe(session, key)?)))
        .collect()
}

/// What an object says of itself, as far as it was asked.
#[derive(Default)]
struct Attributes {
    info: KeyInfo,
    class: Option<ObjectClass>,
    kind: Option<KeyType>,
    curve: Option<Vec<u8>>,
    set: Option<ParameterSetType>,
    modulus: Option<Vec<u8>>,
    exponent: Option<Vec<u8>>,
    point: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
}

impl Attributes {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "of the other attributes nothing is asked"
    )]
    fn read(
        session: &Session,
        object: ObjectHandle,
        wanted: &[AttributeType],
    ) -> Result<Self, Error> {
        let mut found = Self::default();
        let info = &mut found.info;
        for attribute in session.get_attributes(object, wanted).map_err(failed)? {
            match attribute {
                Attribute::Label(label) => {
                    info.label = String::from_utf8_lossy(&label).into_owned();
                }
                Attribute::Id(id) => info.id = id,
                Attribute::Sign(true) => info.operations.push(Operation::Sign),
                Attribute::Decrypt(true) | Attribute::Derive(true) => {
                    info.operations.push(Operation::Decrypt);
                }
                Attribute::Decapsulate(true) => info.operations.push(Operation::Decapsulate),
                Attribute::AlwaysAuthenticate(true) => info.pin = KeyPin::EachUse,
                Attribute::Class(class) => found.class = Some(class),
                Attribute::KeyType(kind) => found.kind = Some(kind),
                Attribute::EcParams(parameters) => found.curve = Some(parameters),
                Attribute::ParameterSet(set) => found.set = Some(set),
                Attribute::Modulus(number) => found.modulus = Some(number),
                Attribute::PublicExponent(number) => found.exponent = Some(number),
                Attribute::EcPoint(octets) => found.point = Some(octets),
                Attribute::Value(octets) => found.value = Some(octets),
                _ => {}
            }
        }
        info.operations.sort_unstable();
        info.operations.dedup();
        Ok(found)
    }

    fn algorithm(&self) -> Option<Algorithm> {
        match self.kind? {
            KeyType::RSA => {
                let bits = BigNum::from_slice(self.modulus.as_ref()?).ok()?.num_bits();
                Algorithm::of(Family::Rsa(bits.try_into().ok()?))
            }
            KeyType::EC | KeyType::EC_EDWARDS | KeyType::EC_MONTGOMERY => {
                Algorithm::of(Family::of_ec_parameters(self.curve.as_ref()?)?)
            }
            kind @ (KeyType::ML_DSA | KeyType::ML_KEM) => {
                let own = (kind, self.set?);
                Algorithm::all().find(|known| parameter_set(known.family()) == Some(own))
            }
            _ => None,
        }
    }
}

fn describe(session: &Session, key: ObjectHandle) -> Result<KeyInfo, Error> {
    let wanted = [
        AttributeType::KeyType,
        AttributeType::Label,
        AttributeType::Id,
        AttributeType::Modulus,
        AttributeType::EcParams,
        AttributeType::Sign,
        AttributeType::Decrypt,
        AttributeType::Derive,
        AttributeType::AlwaysAuthenticate,
        AttributeType::Decapsulate,
        AttributeType::ParameterSet,
    ];
    let found = Attributes::read(session, key, &wanted)?;
    Ok(KeyInfo {
        algorithm: found.algorithm(),
        ..found.info
    })
}

/// `CKA_EC_PARAMS` of a curve: for those of RFC 8410 its identifier, which is the last that is known.
pub(super) fn parameters_of(family: Family) -> Option<Vec<u8>> {
    let oid = family.oids().last()?;
    Some([&[0x06, oid.len() as u8], *oid].concat())
}

/// Type and parameter set of a key that has one (3.2 §6.67.2, §6.68.2).
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other families have no parameter sets"
)]
pub(super) fn parameter_set(family: Family) -> Option<(KeyType, ParameterSetType)> {
    let dsa = |set: MlDsaParameterSetType| Some((KeyType::ML_DSA, set.into()));
    let kem = |set: MlKemParameterSetType| Some((KeyType::ML_KEM, set.into()));
    match family {
        Family::MlDsa(44) => dsa(MlDsaParameterSetType::ML_DSA_44),
        Family::MlDsa(65) => dsa(MlDsaParameterSetType::ML_DSA_65),
        Family::MlDsa(_) => dsa(MlDsaParameterSetType::ML_DSA_87),
        Family::MlKem(512) => kem(MlKemParameterSetType::ML_KEM_512),
        Family::MlKem(768) => kem(MlKemParameterSetType::ML_KEM_768),
        Family::MlKem(_) => kem(MlKemParameterSetType::ML_KEM_1024),
        _ => None,
    }
}

/// The public half of a private key: from its own attributes, the public key or the certificate beside it.
pub(super) fn public_half(
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
        "the key does not contain it, and there is no public key beside it",
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

/// Whether a private key on a short-Weierstrass curve signs what the public key verifies.
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
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other families have no points"
)]
const fn point_length(family: Family) -> Option<usize> {
    match family {
        Family::Weierstrass(curve) => Some(1 + 2 * (curve.bits() as usize).div_ceil(8)),
        Family::Cv25519 | Family::Ed25519 => Some(32),
        Family::Cv448 => Some(56),
        Family::Ed448 => Some(57),
        _ => None,
    }
}

/// Length of a shared secret.
pub(super) fn secret_length(family: Family) -> usize {
    match (family.curve(), family) {
        (Some(curve), _) => (curve.bits() as usize).div_ceil(8),
        (None, Family::Cv448) => 56,
        (None, _) => 32,
    }
}

/// The key that is meant, which is one.
pub(super) fn one(session: &Session, wanted: &ObjectPart) -> Result<(ObjectHandle, KeyPin), Error> {
    let meant = meant(session, wanted)?;
    let one = meant.first().map(|(key, info)| (*key, info.pin));
    one.ok_or_else(|| {
        let advice = "was it deleted by another program, or the token removed?";
        Error::call("C_FindObjects", "the key no longer exists", advice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_known_by_identifier_and_by_name() {
        for algorithm in Algorithm::all() {
            if let Some(parameters) = parameters_of(algorithm.family()) {
                assert_eq!(
                    Family::of_ec_parameters(&parameters),
                    Some(algorithm.family()),
                    "{algorithm}"
                );
            }
        }
        assert_eq!(
            Family::of_ec_parameters(b"\x13\x0cedwards25519"),
            Some(Family::Ed25519)
        );
        assert_eq!(
            Family::of_ec_parameters(b"\x13\x0acurve25519"),
            Some(Family::Cv25519)
        );
        for none in [&b""[..], b"\x06", b"\x06\x05ab", b"\x30\x00"] {
            assert_eq!(Family::of_ec_parameters(none), None, "{none:?}");
        }
    }

    #[test]
    fn parameter_sets_tell_keys_apart() {
        let sets: Vec<_> = Algorithm::all()
            .filter_map(|algorithm| parameter_set(algorithm.family()))
            .collect();
        assert_eq!(sets.len(), 6);
        for (number, set) in sets.iter().enumerate() {
            assert!(!sets[..number].contains(set), "{set:?}");
        }
    }

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
