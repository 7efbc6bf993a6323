//! Keys as objects of a token: what is there.

use cryptoki::context::Pkcs11;
use cryptoki::object::{
    Attribute, AttributeType, KeyType, MlDsaParameterSetType, MlKemParameterSetType, ObjectClass,
    ObjectHandle, ParameterSetType,
};
use cryptoki::session::Session;
use cryptoki::slot::Slot;
use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Error, Family, Operation};
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use openssl::bn::BigNum;
use serde::{Deserialize, Serialize};

use crate::pkcs11::module::codes::failed;
use crate::pkcs11_uri::{ObjectKind, ObjectPart};
use crate::store::once_each;

/// Description of a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyInfo {
    pub label: String,
    pub id: Vec<u8>,
    /// Algorithm; none if keymark does not know it, or the length.
    pub algorithm: Option<Algorithm>,
    /// Operations that its attributes allow.
    pub operations: Vec<Operation>,
    /// True if the token wants its PIN at each use (`CKA_ALWAYS_AUTHENTICATE`).
    pub pin_each_use: bool,
}

impl KeyInfo {
    /// `'web' rsa2048`, with the identifier where there is no label.
    pub fn name(&self) -> String {
        let algorithm = self.algorithm;
        let algorithm = algorithm.map_or("of another algorithm", Algorithm::name);
        if self.label.is_empty() {
            let octets = self.id.iter().map(|octet| format!("%{octet:02x}"));
            return format!("id={} {algorithm}", octets.collect::<String>());
        }
        format!("'{}' {algorithm}", self.label)
    }

    /// Returns whether a URI means it.
    pub(crate) fn is_called(&self, wanted: &ObjectPart) -> bool {
        let label = wanted.label.as_ref();
        label.is_none_or(|label| *label == self.label)
            && wanted.id.as_ref().is_none_or(|id| *id == self.id)
    }

    /// Returns its capabilities.
    pub fn capabilities(&self) -> impl Iterator<Item = Capability> {
        self.operations.iter().filter_map(|operation| {
            let algorithm = self.algorithm?;
            // A PIN for each use goes between a C_…Init and what follows: C_DeriveKey has none (3.1 §4.9).
            let derives =
                *operation == Operation::Decrypt && !matches!(algorithm.family(), Family::Rsa(_));
            let possible = !(derives && self.pin_each_use) && algorithm.has(*operation);
            possible.then_some(Capability::new(algorithm, *operation))
        })
    }
}

pub(crate) fn capabilities(keys: &[KeyInfo]) -> Vec<Capability> {
    once_each(keys.iter().flat_map(KeyInfo::capabilities))
}

/// The private keys that show without a PIN; or else the public keys, which have the same names.
pub(crate) fn visible(module: &Pkcs11, slot: Slot) -> Vec<KeyInfo> {
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

/// The private keys that a URI means.
pub(crate) fn meant(
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

#[derive(Default)]
pub(super) struct Attributes {
    pub(super) info: KeyInfo,
    pub(super) class: Option<ObjectClass>,
    pub(super) kind: Option<KeyType>,
    pub(super) curve: Option<Vec<u8>>,
    set: Option<ParameterSetType>,
    pub(super) modulus: Option<Vec<u8>>,
    pub(super) exponent: Option<Vec<u8>>,
    pub(super) point: Option<Vec<u8>>,
    pub(super) value: Option<Vec<u8>>,
    pub(super) prime: Option<Vec<u8>>,
}

impl Attributes {
    #[allow(clippy::wildcard_enum_match_arm, reason = "no others are asked for")]
    pub(super) fn read(
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
                Attribute::AlwaysAuthenticate(true) => info.pin_each_use = true,
                Attribute::Class(class) => found.class = Some(class),
                Attribute::KeyType(kind) => found.kind = Some(kind),
                Attribute::EcParams(parameters) => found.curve = Some(parameters),
                Attribute::ParameterSet(set) => found.set = Some(set),
                Attribute::Modulus(number) => found.modulus = Some(number),
                Attribute::PublicExponent(number) => found.exponent = Some(number),
                Attribute::EcPoint(octets) => found.point = Some(octets),
                Attribute::Value(octets) => found.value = Some(octets),
                Attribute::Prime(number) => found.prime = Some(number),
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

pub(super) fn describe(session: &Session, key: ObjectHandle) -> Result<KeyInfo, Error> {
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
pub(crate) fn parameters_of(family: Family) -> Option<Vec<u8>> {
    let oid = family.oids().last()?;
    Some([&[0x06, oid.len() as u8], oid.as_slice()].concat())
}

/// Type and parameter set of a key that has one (3.2 §6.67.2, §6.68.2).
#[allow(clippy::wildcard_enum_match_arm, reason = "others have no sets")]
pub(crate) fn parameter_set(family: Family) -> Option<(KeyType, ParameterSetType)> {
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

/// Length of a shared secret.
pub(crate) fn secret_length(family: Family) -> usize {
    match (family.curve(), family) {
        (Some(curve), _) => (curve.bits() as usize).div_ceil(8),
        (None, Family::Cv448) => 56,
        (None, _) => 32,
    }
}

/// The key that is meant, which is one.
pub(crate) fn one(
    session: &Session,
    wanted: &ObjectPart,
) -> Result<(ObjectHandle, KeyInfo), Error> {
    let one = meant(session, wanted)?.into_iter().next();
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
}
