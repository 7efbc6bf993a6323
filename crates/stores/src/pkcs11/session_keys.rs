//! Test keys as objects of a session or of its token: written from outside, or made by the token.
//!
//! Sessions are read-only, so that nothing can outlive them and no journal is needed.

use std::ffi::c_ulong;

use cryptoki::mechanism::vendor_defined::VendorDefinedMechanism;
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, KeyType, ObjectClass};
use cryptoki::session::Session;
use cryptoki::types::Ulong;
use keymark_bench::algorithm::Family;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::error::ErrorStack;
use serde::{Deserialize, Serialize};

use super::codes::failed;
use super::keys::{parameter_set, parameters_of};
use crate::store::unsupported;
use crate::test_key::{Numbers, TestKey};

/// What test keys are called.
pub(super) const LABEL: &str = "keymark test key";

/// Who may see an object of a session: the user who has logged in, or anybody, where nobody does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visible {
    ToUser,
    ToAll,
}

/// How long a test key is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Lifetime {
    /// As long as its session: nothing is written.
    Session,
    /// Until it is removed from the token (`persistent_keys.rs`), or the token is gone, which is keymark's own.
    Token,
}

/// A test key as an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestObject<'i> {
    pub(super) id: &'i [u8],
    pub(super) visible: Visible,
    pub(super) lifetime: Lifetime,
}

impl TestObject<'_> {
    /// What both halves have in common.
    fn named(&self) -> Vec<Attribute> {
        vec![
            Attribute::Token(self.lifetime == Lifetime::Token),
            Attribute::Label(LABEL.into()),
            Attribute::Id(self.id.to_vec()),
        ]
    }

    fn private(&self) -> Vec<Attribute> {
        let mut template = self.named();
        template.push(Attribute::Private(self.visible == Visible::ToUser));
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

/// Gives the session or its token a test key.
pub(super) fn create(
    session: &Session,
    key: &TestKey,
    operation: Operation,
    object: TestObject<'_>,
) -> Result<(), Error> {
    let capability = Capability::new(key.algorithm, operation);
    let mut template = object.private();
    template.push(Attribute::Class(ObjectClass::PRIVATE_KEY));
    template.push(may(capability)?);
    let value = value_of(key).map_err(|error| Error::call("EVP_PKEY_todata", error, ""))?;
    template.extend(value.ok_or_else(|| unsupported("PKCS#11", capability))?);
    let _under_way = UnderWay::begin(Call::C_CreateObject);
    let created = session.create_object(&template);
    created.map(drop).map_err(failed)
}

/// Has the token make a test key of its own.
pub(super) fn generate(
    session: &Session,
    capability: Capability,
    object: TestObject<'_>,
) -> Result<(), Error> {
    let _under_way = UnderWay::begin(Call::C_GenerateKeyPair);
    let (mut private, mut public) = (object.private(), object.named());
    private.push(may(capability)?);
    let family = capability.algorithm.family();
    let mechanism = match family {
        Family::Rsa(bits) => {
            public.push(Attribute::ModulusBits(Ulong::from(c_ulong::from(bits))));
            public.push(Attribute::PublicExponent(vec![1, 0, 1]));
            Mechanism::RsaPkcsKeyPairGen
        }
        Family::Weierstrass(_) => Mechanism::EccKeyPairGen,
        Family::Ed25519 | Family::Ed448 => Mechanism::EccEdwardsKeyPairGen,
        Family::Cv25519 | Family::Cv448 => Mechanism::EccMontgomeryKeyPairGen,
        Family::MlDsa(_) => by_number(MechanismType::ML_DSA_KEY_PAIR_GEN),
        Family::MlKem(_) => {
            public.push(Attribute::Encapsulate(true));
            by_number(MechanismType::ML_KEM_KEY_PAIR_GEN)
        }
        Family::Dsa(_) | Family::Elgamal(_) | Family::SlhDsa(..) | Family::KyberComposite(_) => {
            return Err(unsupported("PKCS#11", capability));
        }
    };
    public.extend(parameters_of(family).map(Attribute::EcParams));
    public.extend(parameter_set(family).map(|(_, set)| Attribute::ParameterSet(set)));
    let made = session.generate_key_pair(&mechanism, &public, &private);
    made.map(drop).map_err(failed)
}

/// A mechanism without a parameter, of those that the crate knows by their number only.
fn by_number<'m>(mechanism: MechanismType) -> Mechanism<'m> {
    Mechanism::VendorDefined(VendorDefinedMechanism::new::<()>(mechanism, None))
}

/// The numbers of a key as attributes (3.1 §6.1.3, §6.3.4).
pub(super) fn value_of(key: &TestKey) -> Result<Option<Vec<Attribute>>, ErrorStack> {
    let family = key.algorithm.family();
    let kind = match family {
        Family::Rsa(_) => KeyType::RSA,
        Family::Weierstrass(_) => KeyType::EC,
        Family::Ed25519 | Family::Ed448 => KeyType::EC_EDWARDS,
        Family::Cv25519 | Family::Cv448 => KeyType::EC_MONTGOMERY,
        Family::MlDsa(_) | Family::MlKem(_) => return quantum_value(key).map(Some),
        Family::Dsa(_) | Family::Elgamal(_) | Family::SlhDsa(..) | Family::KyberComposite(_) => {
            return Ok(None);
        }
    };
    let Ok(numbers) = key.numbers() else {
        return Err(ErrorStack::get());
    };
    let curve = || parameters_of(family).map(Attribute::EcParams);
    let mut attributes = vec![Attribute::KeyType(kind)];
    match numbers {
        Numbers::Rsa { n, e, d, p, q, u } => {
            let (prime_1, prime_2) = (BigNum::from_slice(&q)?, BigNum::from_slice(&p)?);
            let private = BigNum::from_slice(&d)?;
            attributes.extend([
                Attribute::Modulus(n),
                Attribute::PublicExponent(e),
                Attribute::PrivateExponent(d),
                Attribute::Prime1(q),
                Attribute::Prime2(p),
                Attribute::Exponent1(reduced(&private, &prime_1)?),
                Attribute::Exponent2(reduced(&private, &prime_2)?),
                // The inverse of the second prime, which is the smaller one here, modulo the first.
                Attribute::Coefficient(u),
            ]);
        }
        Numbers::Weierstrass { d, .. } => {
            attributes.extend(curve());
            attributes.push(Attribute::Value(d));
        }
        Numbers::Raw { secret, .. } => {
            attributes.extend(curve());
            attributes.push(Attribute::Value(secret));
        }
        Numbers::Dsa { .. } | Numbers::Elgamal { .. } => return Ok(None),
    }
    Ok(Some(attributes))
}

/// A private key of ML-DSA (FIPS 204 §7.2) or ML-KEM (FIPS 203 §7.1) as its octets, with its parameter set.
fn quantum_value(key: &TestKey) -> Result<Vec<Attribute>, ErrorStack> {
    let Some((kind, set)) = parameter_set(key.algorithm.family()) else {
        return Err(ErrorStack::get());
    };
    Ok(vec![
        Attribute::KeyType(kind),
        Attribute::ParameterSet(set),
        Attribute::Value(key.raw_private()?.to_vec()),
    ])
}

/// The private exponent modulo one less than a prime.
fn reduced(private: &BigNumRef, prime: &BigNumRef) -> Result<Vec<u8>, ErrorStack> {
    let (mut less, mut reduced) = (prime.to_owned()?, BigNum::new()?);
    less.sub_word(1)?;
    reduced.nnmod(private, &less, &mut *BigNumContext::new()?)?;
    Ok(reduced.to_vec())
}

#[cfg(test)]
mod tests {
    use cryptoki::object::AttributeType;

    use super::*;
    use crate::public_key::PublicKey;

    #[test]
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "of the other attributes nothing is asked"
    )]
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
            let again = PublicKey::quantum(key.algorithm, octets).unwrap();
            assert_eq!(again.spki_der().unwrap(), spki, "{name}");
            assert!(PublicKey::quantum(key.algorithm, &octets[1..]).is_err());
        }
    }

    #[test]
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "of the other attributes nothing is asked"
    )]
    fn the_numbers_of_an_rsa_key_fit_together() {
        let key = TestKey::generate("rsa1024".parse().unwrap()).unwrap();
        let attributes = value_of(&key).unwrap().unwrap();
        let number = |kind: AttributeType| {
            let numbers = attributes.iter().find_map(|attribute| match attribute {
                Attribute::Prime1(octets)
                | Attribute::Prime2(octets)
                | Attribute::Coefficient(octets)
                | Attribute::Modulus(octets)
                    if attribute.attribute_type() == kind =>
                {
                    Some(octets)
                }
                _ => None,
            });
            BigNum::from_slice(numbers.unwrap()).unwrap()
        };
        let (one, two) = (number(AttributeType::Prime1), number(AttributeType::Prime2));
        let mut context = BigNumContext::new().unwrap();
        let (mut product, mut inverse) = (BigNum::new().unwrap(), BigNum::new().unwrap());
        product.checked_mul(&one, &two, &mut context).unwrap();
        assert_eq!(product, number(AttributeType::Modulus));
        inverse.mod_inverse(&two, &one, &mut context).unwrap();
        assert_eq!(inverse, number(AttributeType::Coefficient));
    }
}
