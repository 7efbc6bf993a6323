//! Means by which programs that are not keymark reach a token's key: the module, the key's URI, the PIN that the
//! token has accepted, and the environment that the module wants.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cryptoki::object::{Attribute, CertificateType, KeyType, ObjectClass};
use der::Encode as _;
use der::asn1::OctetStringRef;
use keymark_bench::store::Capability;
use keymark_bench::{During as _, Error, Family};
use openssl::ec::{EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::PKey;

use super::capabilities::asked_for;
use super::keys::parameters_of;
use super::{OpenToken, Owner};
use crate::access::Certificate;
use crate::access::ProgramKey;
use crate::certificate::{begun, name};
use crate::pkcs11::module::codes::failed;
use crate::pkcs11::session::session_keys::{LABEL, value_of};
use crate::pkcs11::session::{KeyOrigin, Placed, TokenKeys, fresh_id};
use crate::pkcs11_uri::{Described, ObjectPart, Pkcs11Uri};
use crate::public_key::PublicKey;
use crate::test_key::{Numbers, TestKey};
use crate::user::TokenId;

impl TokenKeys {
    pub(crate) fn program_key(
        &self,
        capability: Capability,
        certificate: Certificate,
    ) -> Result<ProgramKey, Error> {
        let (token, Placed { origin, public, .. }) = (&self.token, self.key(capability)?);
        let object = match origin {
            KeyOrigin::Found(object) => object,
            KeyOrigin::Written(_) => token.put(&self.test_keys.made_for(asked_for(capability))?)?,
            KeyOrigin::Generated(_) => return Err(unseen(&token.id)),
        };
        let info = token.info()?;
        let token_says = [
            (Described::Token, info.label),
            (Described::Serial, info.serial),
        ];
        let told = ProgramKey {
            module: token.file.path.clone(),
            uri: Box::new(Pkcs11Uri {
                described: token_says
                    .into_iter()
                    .filter(|(_, text)| !text.is_empty())
                    .collect(),
                object: object.private(),
                ..Pkcs11Uri::default()
            }),
            pin: token.accepted_pin()?,
            environment: token.file.environment_without(&token.user.pins),
            own_place: token.own_place(),
        };
        if let (Certificate::Wanted, Some(id)) = (certificate, &told.uri.object.id) {
            token.certify(&public, id)?;
        }
        Ok(told)
    }
}

/// Why another program reaches no test key of the token, and what to do.
pub fn unseen(token: &TokenId) -> Error {
    let serial = token.serial();
    Error::call(
        format!("reaching a test key on token {serial}"),
        "test keys are in keymark's own session, which no other program can see",
        format!("--write-to {serial} writes them to the token; or {NAME_A_KEY}"),
    )
}

pub(crate) const NAME_A_KEY: &str =
    "name a key that is on it: --device 'pkcs11:token=LABEL;object=KEY'";

impl OpenToken {
    fn own_place(&self) -> Option<PathBuf> {
        if self.owner == Owner::User {
            return None;
        }
        let file = &self.file;
        let named = file.environment.values().map(Path::new);
        let named = named.filter(|path| path.is_absolute()).find_map(|path| {
            if path.is_dir() {
                Some(path)
            } else {
                path.parent()
            }
        });
        let place = named.or_else(|| file.path.parent());
        place.map(Path::to_owned)
    }

    /// Writes the test key onto the token, unless it is there already, and says what finds it.
    fn put(&self, key: &Arc<TestKey>) -> Result<ObjectPart, Error> {
        if self.owner == Owner::User {
            return Err(unseen(&self.id));
        }
        let mut written = self.written.lock();
        if let Some((_, object)) = written.iter().find(|(known, _)| Arc::ptr_eq(known, key)) {
            return Ok(object.clone());
        }
        let id = fresh_id()?;
        let pair = pair(key, &id)?;
        self.with_writer(|session| {
            for template in &pair {
                let created = session.create_object(template);
                created.map_err(failed)?;
            }
            Ok(())
        })?;
        let object = ObjectPart::with_id(id);
        written.push((Arc::clone(key), object.clone()));
        Ok(object)
    }

    /// Puts a certificate next to the key of that `CKA_ID`, if it is keymark's and has none.
    fn certify(&self, public: &PublicKey, id: &[u8]) -> Result<(), Error> {
        let label = match self.owner {
            Owner::Keymark | Owner::Generator => public.algorithm().name(),
            // What removes the key also removes it: it is called the same.
            Owner::User if self.has_written(id) => LABEL,
            Owner::User => return Ok(()),
        };
        let mut certified = self.certified.lock();
        if certified.iter().any(|known| known == id) {
            return Ok(());
        }
        let template = certificate(public, id, label)?;
        self.with_writer(|session| {
            let created = session.create_object(&template);
            created.map(drop).map_err(failed)
        })?;
        certified.push(id.to_vec());
        Ok(())
    }
}

/// Both halves, for all that the key can do. libp11 0.4.12 finds no key on a token that has one of an Edwards curve, so
/// that none is ever written.
fn pair(key: &TestKey, id: &[u8]) -> Result<[Vec<Attribute>; 2], Error> {
    let value = value_of(key).map_err(|error| refused(error.to_string()))?;
    let mut private = vec![
        Attribute::Class(ObjectClass::PRIVATE_KEY),
        Attribute::Token(true),
        Attribute::Private(true),
        Attribute::Label(key.algorithm.name().into()),
        Attribute::Id(id.to_vec()),
        Attribute::Sign(true),
        // As in an HSM.
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
    ];
    private.extend(value.unwrap_or_default());
    let rsa = matches!(key.algorithm.family(), Family::Rsa(_));
    private.push(if rsa {
        Attribute::Decrypt(true)
    } else {
        Attribute::Derive(true)
    });
    Ok([private, public_half(key, id, key.algorithm.name())?])
}

/// The half that ssh and OpenSSL's engine read, as an object of the token.
pub(crate) fn public_half(key: &TestKey, id: &[u8], label: &str) -> Result<Vec<Attribute>, Error> {
    let mut public = vec![
        Attribute::Class(ObjectClass::PUBLIC_KEY),
        Attribute::Token(true),
        Attribute::Private(false),
        Attribute::Label(label.into()),
        Attribute::Id(id.to_vec()),
        Attribute::Verify(true),
    ];
    match key.numbers()? {
        Numbers::Rsa([n, e, ..]) => public.extend([
            Attribute::KeyType(KeyType::RSA),
            Attribute::Encrypt(true),
            Attribute::Modulus(n),
            Attribute::PublicExponent(e),
        ]),
        Numbers::Weierstrass { point, .. } => {
            public.push(Attribute::KeyType(KeyType::EC));
            public.extend(parameters_of(key.algorithm.family()).map(Attribute::EcParams));
            let point = OctetStringRef::new(&point).and_then(|point| point.to_der());
            public.push(Attribute::EcPoint(
                point.map_err(|error| refused(error.to_string()))?,
            ));
        }
        Numbers::Dsa(_) | Numbers::Elgamal(_) | Numbers::Raw { .. } => {
            return Err(refused(format!("it cannot use keys of {}", key.algorithm)));
        }
    }
    Ok(public)
}

fn refused(error: String) -> Error {
    Error::call("writing a test key for other programs", error, "")
}

/// A certificate of the key (3.1 §4.6.3), which nobody trusts: what programs want of it is the public key.
fn certificate(public: &PublicKey, id: &[u8], label: &str) -> Result<Vec<Attribute>, Error> {
    let issued = || -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
        let issuer = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
        let issuer = PKey::from_ec_key(EcKey::generate(&issuer)?)?;
        let name = name(LABEL)?;
        let key = PKey::public_key_from_der(&public.spki_der()?)?;
        let mut certificate = begun(&name, &key)?;
        certificate.set_issuer_name(&name)?;
        certificate.sign(&issuer, MessageDigest::sha256())?;
        Ok((name.to_der()?, certificate.build().to_der()?))
    };
    let (subject, value) = issued().during("X509_sign")?;
    Ok(vec![
        Attribute::Class(ObjectClass::CERTIFICATE),
        Attribute::CertificateType(CertificateType::X_509),
        Attribute::Token(true),
        Attribute::Private(false),
        Attribute::Label(label.into()),
        Attribute::Id(id.to_vec()),
        Attribute::Subject(subject),
        Attribute::Value(value),
    ])
}

/// Returns whether ssh and OpenSSL have a way to keys of the family on a token: RSA, and the curves that both know.
pub const fn is_known_to_programs(family: Family) -> bool {
    matches!(family, Family::Rsa(_)) || family.is_of_nist()
}
