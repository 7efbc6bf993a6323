//! What is asked of a key, made with its public half, and the check of the answers.

use std::sync::Arc;

use keymark_bench::algorithm::{Algorithm, Curve, Family};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Input, Verifiable, Verifier, verify_each};
use openssl::bn::{BigNum, BigNumContext};
use openssl::derive::Deriver;
use openssl::ec::{EcGroup, EcKey, EcPoint};
use openssl::error::ErrorStack;
use openssl::hash::{MessageDigest, hash};
use openssl::md_ctx::MdCtx;
use openssl::pkey::{Id, PKey, Private, Public};
use openssl::pkey_ctx::PkeyCtx;
use openssl::rsa::{Padding, Rsa};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::test_key::{Secret, TestKey, nid};

/// Different inputs, so that neither branch predictor nor cache learns one by heart.
pub const INPUTS: usize = 8;

/// Inputs and the check of what comes out.
#[derive(Clone)]
pub struct Challenge {
    /// Used in turn.
    pub inputs: Arc<[Input]>,
    /// The check.
    pub verifier: Arc<dyn Verifier>,
}

impl std::fmt::Debug for Challenge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Challenge")
            .field("inputs", &self.inputs.len())
            .finish_non_exhaustive()
    }
}

impl Challenge {
    /// Makes inputs for an operation with the key.
    ///
    /// # Errors
    /// When OpenSSL fails, or the algorithm lacks the operation.
    pub fn new(
        key: &TestKey,
        operation: Operation,
        input_bytes: u32,
        seed: u64,
    ) -> Result<Self, Error> {
        check(key.algorithm, operation)?;
        let made = match operation {
            Operation::Sign | Operation::Authenticate => {
                PublicKey::of(key).and_then(|public| Self::signing(public, input_bytes, seed))
            }
            _ => Self::secrets(|| secret(key)),
        };
        made.map_err(unmade)
    }

    /// Makes inputs for an operation with a key whose private half is elsewhere.
    ///
    /// # Errors
    /// When OpenSSL fails, or the algorithm lacks the operation.
    pub fn of_public(
        key: &PublicKey,
        operation: Operation,
        input_bytes: u32,
        seed: u64,
    ) -> Result<Self, Error> {
        check(key.algorithm, operation)?;
        let made = match operation {
            Operation::Sign | Operation::Authenticate => {
                Self::signing(key.clone(), input_bytes, seed)
            }
            _ => Self::secrets(|| encrypted(&key.key, key.algorithm.family(), &message()?)),
        };
        made.map_err(unmade)
    }

    fn secrets(
        make: impl Fn() -> Result<(Vec<u8>, Vec<u8>), ErrorStack>,
    ) -> Result<Self, ErrorStack> {
        let pairs = (0..INPUTS).map(|_| make());
        pairs.collect::<Result<Vec<_>, _>>().map(Self::known)
    }

    /// Inputs whose right outputs are known: (input, output) pairs.
    #[must_use]
    pub fn known(pairs: Vec<(Vec<u8>, Vec<u8>)>) -> Self {
        let (inputs, expected): (Vec<_>, Vec<_>) = pairs
            .into_iter()
            .map(|(bytes, expected)| (Input { bytes }, expected))
            .unzip();
        Self {
            inputs: inputs.into(),
            verifier: Arc::new(Expected(expected)),
        }
    }

    fn signing(public: PublicKey, input_bytes: u32, seed: u64) -> Result<Self, ErrorStack> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let messages = (0..INPUTS).map(|_| {
            let mut message = vec![0; input_bytes as usize];
            rng.fill_bytes(&mut message);
            message
        });
        let signed: Vec<Vec<u8>> = match digest(public.algorithm) {
            Some(digest) => messages
                .map(|message| Ok(hash(digest, &message)?.to_vec()))
                .collect::<Result<_, ErrorStack>>()?,
            None => messages.collect(),
        };
        let inputs: Arc<[Input]> = signed.into_iter().map(|bytes| Input { bytes }).collect();
        let verifier = Signatures {
            public,
            inputs: Arc::clone(&inputs),
        };
        Ok(Self {
            inputs,
            verifier: Arc::new(verifier),
        })
    }
}

/// The digest that is signed in place of the message: as long as the key's strength asks for
/// (FIPS 186-5 §6.1.1 for ECDSA). None: the algorithm takes the message itself.
///
/// EdDSA in OpenPGP signs the digest as its message (RFC 9580 §5.2.3.3).
#[must_use]
pub fn digest(algorithm: Algorithm) -> Option<MessageDigest> {
    match algorithm.family() {
        Family::MlDsa(_) | Family::SlhDsa(..) | Family::MlKem(_) => None,
        Family::Weierstrass(Curve::NistP384 | Curve::BrainpoolP384r1) => {
            Some(MessageDigest::sha384())
        }
        Family::Weierstrass(Curve::NistP521 | Curve::BrainpoolP512r1) | Family::Ed448 => {
            Some(MessageDigest::sha512())
        }
        _ => Some(MessageDigest::sha256()),
    }
}

/// A key that signs can authenticate.
fn check(algorithm: Algorithm, operation: Operation) -> Result<(), Error> {
    let signs = operation == Operation::Authenticate && algorithm.has(Operation::Sign);
    if signs || algorithm.has(operation) {
        return Ok(());
    }
    Err(Error::Unsupported {
        by: "the OpenSSL library".to_owned(),
        operation,
        algorithm,
    })
}

fn unmade(error: ErrorStack) -> Error {
    Error::call("making inputs with the public key", error, "")
}

/// As long as an AES-256 session key with its frame (RFC 4880 §5.1).
fn message() -> Result<Vec<u8>, ErrorStack> {
    // A first byte that is not zero: Elgamal yields a number, which has no leading zeros.
    let mut message = vec![9; 35];
    openssl::rand::rand_bytes(&mut message[1..])?;
    Ok(message)
}

/// An input made with the public key, and the secret that has to come out.
fn secret(key: &TestKey) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
    match (&key.secret, key.algorithm.family()) {
        (Secret::Elgamal(elgamal), _) => {
            let message = message()?;
            Ok((elgamal.encrypt(&message)?, message))
        }
        (Secret::Evp(pkey), Family::MlKem(_)) => keymark_evp::encapsulate(pkey),
        (Secret::Evp(_), family) => encrypted(&PublicKey::of(key)?.key, family, &message()?),
    }
}

/// The message encrypted with RSA, or an ephemeral key and the secret shared with it.
fn encrypted(
    public: &PKey<Public>,
    family: Family,
    message: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
    if let Family::Rsa(_) = family {
        let mut ctx = PkeyCtx::new(public)?;
        ctx.encrypt_init()?;
        ctx.set_rsa_padding(Padding::PKCS1)?;
        let mut ciphertext = Vec::new();
        ctx.encrypt_to_vec(message, &mut ciphertext)?;
        return Ok((ciphertext, message.to_vec()));
    }
    let ephemeral = ephemeral(public, family)?;
    let mut deriver = Deriver::new(&ephemeral)?;
    deriver.set_peer(public)?;
    Ok((public_bytes(&ephemeral)?, deriver.derive_to_vec()?))
}

fn ephemeral(pkey: &PKey<Public>, family: Family) -> Result<PKey<Private>, ErrorStack> {
    match family {
        Family::Cv25519 => PKey::generate_x25519(),
        Family::Cv448 => PKey::generate_x448(),
        _ => PKey::from_ec_key(openssl::ec::EcKey::generate(pkey.ec_key()?.group())?),
    }
}

/// A public key as the peer sends it: a point (SEC 1, uncompressed) or the string of RFC 7748.
pub(crate) fn public_bytes(key: &PKey<Private>) -> Result<Vec<u8>, ErrorStack> {
    if let Ok(ec) = key.ec_key() {
        let mut ctx = openssl::bn::BigNumContext::new()?;
        let form = openssl::ec::PointConversionForm::UNCOMPRESSED;
        return ec.public_key().to_bytes(ec.group(), form, &mut ctx);
    }
    key.raw_public_key()
}

/// Outputs are compared with what is known.
struct Expected(Vec<Vec<u8>>);

impl Verifier for Expected {
    fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        let check = |result: &Verifiable<'_>| {
            if self
                .0
                .get(result.input)
                .is_some_and(|expected| expected == result.output)
            {
                Ok(())
            } else {
                Err("the secret that came out is not the one that went in".to_owned())
            }
        };
        results.iter().map(check).collect()
    }
}

struct Signatures {
    public: PublicKey,
    inputs: Arc<[Input]>,
}

impl Verifier for Signatures {
    fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        let check = |result: &Verifiable<'_>| match self
            .public
            .verify(&self.inputs[result.input].bytes, result.output)
        {
            Ok(true) => Ok(()),
            Ok(false) => Err("the signature does not verify".to_owned()),
            Err(error) => Err(format!("the signature cannot be verified: {error}")),
        };
        verify_each(results, check)
    }
}

/// The public half of a key, for making inputs and checking signatures.
#[derive(Clone)]
pub struct PublicKey {
    algorithm: Algorithm,
    key: PKey<Public>,
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublicKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

impl PublicKey {
    /// The public half of a key that signs.
    ///
    /// # Errors
    /// When OpenSSL cannot extract it.
    pub fn of(key: &TestKey) -> Result<Self, ErrorStack> {
        match &key.secret {
            Secret::Evp(pkey) => {
                let public = PKey::public_key_from_der(&pkey.public_key_to_der()?)?;
                Ok(Self {
                    algorithm: key.algorithm,
                    key: public,
                })
            }
            Secret::Elgamal(_) => Err(ErrorStack::get()),
        }
    }

    /// Something encrypted to the key, or an ephemeral key, and the secret that has to come out.
    ///
    /// # Errors
    /// When OpenSSL fails.
    pub fn encrypt(&self) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let made =
            message().and_then(|message| encrypted(&self.key, self.algorithm.family(), &message));
        made.map_err(unmade)
    }

    /// An RSA key from its modulus and exponent.
    ///
    /// # Errors
    /// When they are none.
    pub fn rsa(algorithm: Algorithm, n: &[u8], e: &[u8]) -> Result<Self, ErrorStack> {
        let (n, e) = (BigNum::from_slice(n)?, BigNum::from_slice(e)?);
        let key = PKey::from_rsa(Rsa::from_public_components(n, e)?)?;
        Ok(Self { algorithm, key })
    }

    /// A key from its point (SEC 1, uncompressed) or its string of RFC 7748 or 8032, which may
    /// stand behind OpenPGP's 0x40.
    ///
    /// # Errors
    /// When it is not on the algorithm's curve.
    pub fn point(algorithm: Algorithm, point: &[u8]) -> Result<Self, ErrorStack> {
        let string = match point {
            [0x40, string @ ..] if string.len() == 32 => string,
            string => string,
        };
        let key = match algorithm.family() {
            Family::Weierstrass(curve) => {
                let group = EcGroup::from_curve_name(nid(curve))?;
                let point = EcPoint::from_bytes(&group, point, &mut *BigNumContext::new()?)?;
                PKey::from_ec_key(EcKey::from_public_key(&group, &point)?)?
            }
            Family::Cv25519 => PKey::public_key_from_raw_bytes(string, Id::X25519)?,
            Family::Cv448 => PKey::public_key_from_raw_bytes(string, Id::X448)?,
            Family::Ed448 => PKey::public_key_from_raw_bytes(string, Id::ED448)?,
            _ => PKey::public_key_from_raw_bytes(string, Id::ED25519)?,
        };
        Ok(Self { algorithm, key })
    }

    /// Whether `signature` (DER for DSA and ECDSA) is one of the digest or message.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn verify(&self, signed: &[u8], signature: &[u8]) -> Result<bool, ErrorStack> {
        match self.algorithm.family() {
            Family::Rsa(_) | Family::Dsa(_) | Family::Weierstrass(_) => {
                let mut ctx = PkeyCtx::new(&self.key)?;
                ctx.verify_init()?;
                if matches!(self.algorithm.family(), Family::Rsa(_)) {
                    ctx.set_rsa_padding(Padding::PKCS1)?;
                    ctx.set_signature_md(openssl::md::Md::sha256())?;
                }
                ctx.verify(signed, signature)
            }
            _ => {
                let mut ctx = MdCtx::new()?;
                ctx.digest_verify_init(None, &self.key)?;
                ctx.digest_verify(signed, signature)
            }
        }
    }
}
