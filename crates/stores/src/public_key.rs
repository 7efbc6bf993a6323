//! The public half of a key: what inputs are made with and signatures are checked with.

use std::sync::Arc;

use keymark_bench::{Algorithm, During as _, Error, Family};
use openssl::bn::{BigNum, BigNumContext};
use openssl::derive::Deriver;
use openssl::dsa::Dsa;
use openssl::ec::{EcGroup, EcKey, EcPoint, PointConversionForm};
use openssl::ecdsa::EcdsaSig;
use openssl::error::ErrorStack;
use openssl::hash::hash;
use openssl::md::{Md, MdRef};
use openssl::md_ctx::MdCtx;
use openssl::pkey::{Id, KeyType, PKey, PKeyRef, Private, Public};
use openssl::pkey_ctx::PkeyCtx;
use openssl::rsa::Rsa;

use crate::scheme::{Scheme, padded};
use crate::software::elgamal::ElgamalPublic;
use crate::test_key::{Secret, TestKey, nid};

/// An ECDSA or DSA signature of these two numbers in DER, as OpenSSL has it (RFC 3279 §2.2).
pub fn der_signature(r: &[u8], s: &[u8]) -> Result<Vec<u8>, ErrorStack> {
    let (r, s) = (BigNum::from_slice(r)?, BigNum::from_slice(s)?);
    EcdsaSig::from_private_components(r, s)?.to_der()
}

/// Returns the meaning of a signature's check for the operation that made it.
///
/// # Errors
/// When the signature is not right, or nobody can tell.
pub fn verdict(verified: Result<bool, ErrorStack>) -> Result<(), String> {
    match verified {
        Ok(true) => Ok(()),
        Ok(false) => Err("the signature does not verify".to_owned()),
        Err(error) => Err(format!("cannot verify the signature: {error}")),
    }
}

/// The public half of a key.
#[derive(Clone, derive_more::Debug)]
#[debug("PublicKey({algorithm})")]
pub struct PublicKey {
    algorithm: Algorithm,
    numbers: PublicNumbers,
}

#[derive(Clone)]
enum PublicNumbers {
    Evp(PKey<Public>),
    Elgamal(Arc<ElgamalPublic>),
}

impl PublicKey {
    /// The public half of a test key.
    pub fn of(key: &TestKey) -> Result<Self, Error> {
        let numbers = match &key.secret {
            Secret::Evp(pkey) => pkey
                .public_key_to_der()
                .and_then(|der| PKey::public_key_from_der(&der))
                .map(PublicNumbers::Evp),
            Secret::Elgamal(key) => Ok(PublicNumbers::Elgamal(key.public())),
        };
        Ok(Self {
            algorithm: key.algorithm,
            numbers: numbers.during("i2d_PUBKEY")?,
        })
    }

    /// An RSA key from its modulus and exponent.
    pub fn rsa(algorithm: Algorithm, n: &[u8], e: &[u8]) -> Result<Self, ErrorStack> {
        let (n, e) = (BigNum::from_slice(n)?, BigNum::from_slice(e)?);
        let key = PKey::from_rsa(Rsa::from_public_components(n, e)?)?;
        Ok(Self::of_public(algorithm, key))
    }

    /// A DSA key from its parameters and its number.
    pub fn dsa(algorithm: Algorithm, [p, q, g, y]: [&[u8]; 4]) -> Result<Self, ErrorStack> {
        let number = BigNum::from_slice;
        let key = Dsa::from_public_components(number(p)?, number(q)?, number(g)?, number(y)?)?;
        Ok(Self::of_public(algorithm, PKey::from_dsa(key)?))
    }

    /// A key from its point (SEC 1, uncompressed) or its string of RFC 7748 or 8032, which may
    /// follow OpenPGP's 0x40.
    pub fn point(algorithm: Algorithm, point: &[u8]) -> Result<Self, ErrorStack> {
        let Family::Weierstrass(curve) = algorithm.family() else {
            let behind = point.strip_prefix(&[0x40]);
            let string = behind.filter(|string| string.len() == 32);
            return Self::string(algorithm, string.unwrap_or(point));
        };
        let group = EcGroup::from_curve_name(nid(curve))?;
        let point = EcPoint::from_bytes(&group, point, &mut *BigNumContext::new()?)?;
        let key = PKey::from_ec_key(EcKey::from_public_key(&group, &point)?)?;
        Ok(Self::of_public(algorithm, key))
    }

    /// A key from its octets, of the families that have no other form: RFC 7748 and 8032, ML-DSA (FIPS 204 §7.2) and
    /// ML-KEM (FIPS 203 §7.1).
    #[allow(clippy::wildcard_enum_match_arm, reason = "others are no octets")]
    pub fn string(algorithm: Algorithm, octets: &[u8]) -> Result<Self, ErrorStack> {
        let kind = match algorithm.family() {
            Family::Cv25519 => KeyType::X25519,
            Family::Ed25519 => KeyType::ED25519,
            Family::Cv448 => KeyType::X448,
            Family::Ed448 => KeyType::ED448,
            Family::MlDsa(44) => KeyType::ML_DSA_44,
            Family::MlDsa(65) => KeyType::ML_DSA_65,
            Family::MlDsa(_) => KeyType::ML_DSA_87,
            Family::MlKem(512) => KeyType::ML_KEM_512,
            Family::MlKem(768) => KeyType::ML_KEM_768,
            Family::MlKem(_) => KeyType::ML_KEM_1024,
            _ => return Err(ErrorStack::get()),
        };
        let key = PKey::public_key_from_raw_bytes_ex(None, kind, None, octets)?;
        Ok(Self::of_public(algorithm, key))
    }

    pub(crate) const fn of_public(algorithm: Algorithm, key: PKey<Public>) -> Self {
        let numbers = PublicNumbers::Evp(key);
        Self { algorithm, numbers }
    }

    /// Its algorithm.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) in DER, of all but Elgamal.
    pub fn spki_der(&self) -> Result<Vec<u8>, ErrorStack> {
        match &self.numbers {
            PublicNumbers::Evp(key) => key.public_key_to_der(),
            PublicNumbers::Elgamal(_) => Err(ErrorStack::get()),
        }
    }

    /// Something encrypted to the key, by another scheme of RSA or as usual, or an ephemeral key, and the secret that
    /// has to come out.
    pub fn encrypt(&self, scheme: Option<Scheme>) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let made = match (&self.numbers, self.algorithm.family()) {
            (PublicNumbers::Elgamal(key), _) => {
                message().and_then(|message| Ok((key.encrypt(&message)?, message)))
            }
            (PublicNumbers::Evp(key), Family::MlKem(_)) => keymark_native::evp::encapsulate(key),
            (PublicNumbers::Evp(key), Family::Rsa(_)) => encrypted(key, scheme),
            (PublicNumbers::Evp(key), _) => agreed(key),
        };
        made.during("making inputs with the public key")
    }

    /// Returns whether `signature` (DER for DSA and ECDSA), by a scheme or as usual, is one of the message, or of the
    /// digest that the algorithm's challenges have.
    pub fn verify(
        &self,
        scheme: Option<Scheme>,
        signed: &[u8],
        signature: &[u8],
    ) -> Result<bool, ErrorStack> {
        let hashed = match scheme.filter(|scheme| scheme.hashes()) {
            None => None,
            Some(_) => crate::challenge::digest(self.algorithm)
                .map(|digest| hash(digest, signed))
                .transpose()?,
        };
        let signed = hashed.as_deref().unwrap_or(signed);
        self.verify_padded(scheme, Md::sha256(), signed, signature)
    }

    /// Verifies a digest made with `md`, which RSA signs along with it.
    pub fn verify_digest(
        &self,
        md: &MdRef,
        signed: &[u8],
        signature: &[u8],
    ) -> Result<bool, ErrorStack> {
        self.verify_padded(None, md, signed, signature)
    }

    fn verify_padded(
        &self,
        scheme: Option<Scheme>,
        md: &MdRef,
        signed: &[u8],
        signature: &[u8],
    ) -> Result<bool, ErrorStack> {
        let PublicNumbers::Evp(key) = &self.numbers else {
            return Err(ErrorStack::get());
        };
        if ![Id::RSA, Id::DSA, Id::EC].contains(&key.id()) {
            let mut ctx = MdCtx::new()?;
            ctx.digest_verify_init(None, key)?;
            return ctx.digest_verify(signed, signature);
        }
        let mut ctx = PkeyCtx::new(key)?;
        ctx.verify_init()?;
        if key.id() == Id::RSA {
            padded(&mut ctx, scheme)?;
            ctx.set_signature_md(md)?;
        }
        ctx.verify(signed, signature)
    }
}

fn message() -> Result<Vec<u8>, ErrorStack> {
    // A first byte that is not zero: Elgamal yields a number, which has no leading zeros.
    let mut message = vec![9; 35];
    openssl::rand::rand_bytes(&mut message[1..])?;
    Ok(message)
}

/// A message encrypted with RSA.
fn encrypted(
    public: &PKeyRef<Public>,
    scheme: Option<Scheme>,
) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
    let message = message()?;
    let mut ctx = PkeyCtx::new(public)?;
    ctx.encrypt_init()?;
    padded(&mut ctx, scheme)?;
    let mut ciphertext = Vec::new();
    ctx.encrypt_to_vec(&message, &mut ciphertext)?;
    Ok((ciphertext, message))
}

/// An ephemeral key, and the secret shared with it.
fn agreed(public: &PKeyRef<Public>) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
    let ephemeral = match public.id() {
        Id::X25519 => PKey::generate_x25519(),
        Id::X448 => PKey::generate_x448(),
        _ => PKey::from_ec_key(EcKey::generate(public.ec_key()?.group())?),
    }?;
    let mut deriver = Deriver::new(&ephemeral)?;
    deriver.set_peer(public)?;
    Ok((public_bytes(&ephemeral)?, deriver.derive_to_vec()?))
}

/// A public key as the peer sends it: a point (SEC 1, uncompressed) or the string of RFC 7748.
pub(crate) fn public_bytes(key: &PKeyRef<Private>) -> Result<Vec<u8>, ErrorStack> {
    if let Ok(ec) = key.ec_key() {
        let form = PointConversionForm::UNCOMPRESSED;
        let mut ctx = BigNumContext::new()?;
        return ec.public_key().to_bytes(ec.group(), form, &mut ctx);
    }
    key.raw_public_key()
}
