//! Test keys as objects of a session or of its token: written from outside, or made by the token.
//!
//! Sessions are read-only, so that nothing can outlive them and no journal is needed.

use std::ffi::c_ulong;

use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, KeyType, ObjectClass};
use cryptoki::session::Session;
use cryptoki::types::Ulong;
use keymark_bench::store::Capability;
use keymark_bench::{During as _, Error, Family, Operation};
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use openssl::bn::BigNumRef;
use openssl::error::ErrorStack;
use openssl::pkey::Private;
use openssl::rsa::RsaRef;

use crate::pkcs11::module::codes::failed;
use crate::pkcs11::token::keys::{parameter_set, parameters_of};
use crate::store::unsupported;
use crate::test_key::{Numbers, Secret, TestKey};

/// Label of test keys.
pub(crate) const LABEL: &str = "keymark test key";

/// A test key as an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestObject<'i> {
    pub(crate) id: &'i [u8],
    /// True if only the user sees it who has logged in, as far as anybody does.
    pub(crate) is_private: bool,
    /// True if it is there until it is removed from the token (`persistent_keys.rs`), or the token is gone; else as
    /// long as its session, and nothing is written.
    pub(crate) on_token: bool,
}

impl TestObject<'_> {
    fn named(&self) -> Vec<Attribute> {
        vec![
            Attribute::Token(self.on_token),
            Attribute::Label(LABEL.into()),
            Attribute::Id(self.id.to_vec()),
        ]
    }

    fn private(&self) -> Vec<Attribute> {
        let mut template = self.named();
        template.push(Attribute::Private(self.is_private));
        template
    }
}

fn may(capability: Capability) -> Result<Attribute, Error> {
    match (capability.algorithm.family(), capability.operation) {
        (Family::Rsa(_), Operation::Decrypt) => Ok(Attribute::Decrypt(true)),
        (_, Operation::Decrypt) => Ok(Attribute::Derive(true)),
        (_, Operation::Sign) => Ok(Attribute::Sign(true)),
        (_, Operation::Decapsulate) => Ok(Attribute::Decapsulate(true)),
        (_, Operation::Authenticate | Operation::Handshake) => {
            Err(unsupported("PKCS#11", capability))
        }
    }
}

/// Maker of a test key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    /// The run has made it, as other devices have it.
    Keymark,
    /// The token, which takes none from outside.
    Token,
}

/// Gives the session or its token a test key, or has the token make one: many take no private key from outside, and make
/// one that never leaves. Where it does neither, the error says why it took none.
pub(crate) fn provide(
    session: &Session,
    key: &TestKey,
    capability: Capability,
    object: TestObject<'_>,
) -> Result<Maker, Error> {
    let Err(refused) = create(session, key, capability.operation, object) else {
        return Ok(Maker::Keymark);
    };
    let made = generate(session, capability, object);
    made.map(|()| Maker::Token).map_err(|_| refused)
}

fn create(
    session: &Session,
    key: &TestKey,
    operation: Operation,
    object: TestObject<'_>,
) -> Result<(), Error> {
    let capability = Capability::new(key.algorithm, operation);
    let mut template = object.private();
    template.push(Attribute::Class(ObjectClass::PRIVATE_KEY));
    template.push(may(capability)?);
    let value = value_of(key).during("EVP_PKEY_todata")?;
    template.extend(value.ok_or_else(|| unsupported("PKCS#11", capability))?);
    let _under_way = UnderWay::begin(Call::C_CreateObject);
    let created = session.create_object(&template);
    created.map(drop).map_err(failed)
}

/// Has the token make a test key of its own.
pub(crate) fn generate(
    session: &Session,
    capability: Capability,
    object: TestObject<'_>,
) -> Result<(), Error> {
    let _under_way = UnderWay::begin(Call::C_GenerateKeyPair);
    let (mut private, mut public) = (object.private(), object.named());
    private.push(may(capability)?);
    let family = capability.algorithm.family();
    let (_, mechanism) = form(family).ok_or_else(|| unsupported("PKCS#11", capability))?;
    if let Family::Rsa(bits) = family {
        public.push(Attribute::ModulusBits(Ulong::from(c_ulong::from(bits))));
        public.push(Attribute::PublicExponent(vec![1, 0, 1]));
    }
    if let Family::MlKem(_) = family {
        public.push(Attribute::Encapsulate(true));
    }
    public.extend(domain(family));
    let made = session.generate_key_pair(&mechanism, &public, &private);
    made.map(drop).map_err(failed)
}

/// The type of the family's keys, and the mechanism that makes them.
fn form(family: Family) -> Option<(KeyType, Mechanism<'static>)> {
    match family {
        Family::Rsa(_) => Some((KeyType::RSA, Mechanism::RsaPkcsKeyPairGen)),
        Family::Weierstrass(_) => Some((KeyType::EC, Mechanism::EccKeyPairGen)),
        Family::Ed25519 | Family::Ed448 => {
            Some((KeyType::EC_EDWARDS, Mechanism::EccEdwardsKeyPairGen))
        }
        Family::Cv25519 | Family::Cv448 => {
            Some((KeyType::EC_MONTGOMERY, Mechanism::EccMontgomeryKeyPairGen))
        }
        Family::MlDsa(_) => Some((KeyType::ML_DSA, Mechanism::MlDsaKeyPairGen)),
        Family::MlKem(_) => Some((KeyType::ML_KEM, Mechanism::MlKemKeyPairGen)),
        Family::Dsa(_) | Family::Elgamal(_) | Family::SlhDsa(..) | Family::Composite(_) => None,
    }
}

/// The curve or the parameter set of keys that have one.
fn domain(family: Family) -> Option<Attribute> {
    let curve = parameters_of(family).map(Attribute::EcParams);
    curve.or_else(|| parameter_set(family).map(|(_, set)| Attribute::ParameterSet(set)))
}

/// The numbers of a key as attributes (3.1 §6.1.3, §6.3.4); of ML-DSA (FIPS 204 §7.2) and ML-KEM (FIPS 203 §7.1) its
/// octets.
pub(crate) fn value_of(key: &TestKey) -> Result<Option<Vec<Attribute>>, ErrorStack> {
    let family = key.algorithm.family();
    let (Some((kind, _)), Secret::Evp(pkey)) = (form(family), &key.secret) else {
        return Ok(None);
    };
    let mut attributes = vec![Attribute::KeyType(kind)];
    attributes.extend(domain(family));
    match key.numbers() {
        Ok(Numbers::Rsa(_)) => attributes.extend(rsa_value(&*pkey.rsa()?)?),
        Ok(Numbers::Weierstrass { d, .. }) => attributes.push(Attribute::Value(d)),
        _ => attributes.push(Attribute::Value(key.raw_private()?.to_vec())),
    }
    Ok(Some(attributes))
}

fn rsa_value(rsa: &RsaRef<Private>) -> Result<[Attribute; 8], ErrorStack> {
    let octets =
        |number: Option<&BigNumRef>| number.map(BigNumRef::to_vec).ok_or_else(ErrorStack::get);
    Ok([
        Attribute::Modulus(rsa.n().to_vec()),
        Attribute::PublicExponent(rsa.e().to_vec()),
        Attribute::PrivateExponent(rsa.d().to_vec()),
        Attribute::Prime1(octets(rsa.p())?),
        Attribute::Prime2(octets(rsa.q())?),
        Attribute::Exponent1(octets(rsa.dmp1())?),
        Attribute::Exponent2(octets(rsa.dmq1())?),
        Attribute::Coefficient(octets(rsa.iqmp())?),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::public_key::PublicKey;

    #[test]
    #[allow(clippy::wildcard_enum_match_arm, reason = "no others are asked for")]
    fn keys_of_lattices_are_as_long_as_their_standards_say() {
        // FIPS 204 table 2, FIPS 203 table 3.
        for (name, private, public) in [
            ("mldsa44", 2560, 1312),
            ("mldsa65", 4032, 1952),
            ("mldsa87", 4896, 2592),
            ("mlkem512", 1632, 800),
            ("mlkem768", 2400, 1184),
            ("mlkem1024", 3168, 1568),
        ] {
            let key = TestKey::generate(name.parse().unwrap()).unwrap();
            let attributes = value_of(&key).unwrap().unwrap();
            let value = attributes.iter().find_map(|attribute| match attribute {
                Attribute::Value(octets) => Some(octets.len()),
                _ => None,
            });
            assert_eq!(value, Some(private), "{name}");
            // What a token says of the public half is the key again.
            let spki = PublicKey::of(&key).unwrap().spki_der().unwrap();
            let octets = &spki[spki.len() - public..];
            let again = PublicKey::string(key.algorithm, octets).unwrap();
            assert_eq!(again.spki_der().unwrap(), spki, "{name}");
            assert!(PublicKey::string(key.algorithm, &octets[1..]).is_err());
        }
    }
}
