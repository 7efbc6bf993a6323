//! Private keys made for measuring.

use keymark_bench::{Algorithm, Curve, During as _, Error, Family, SlhVariant};
use keymark_native::evp::generate;
use openssl::bn::BigNumRef;
use openssl::dsa::Dsa;
use openssl::ec::{EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::pkey::{PKey, PKeyRef, Private};
use openssl::rsa::{Rsa, RsaRef};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::public_key::public_bytes;
use crate::software::elgamal::Elgamal;

/// A private key. Not for keeping secrets with: it only ever measures.
#[derive(derive_more::Debug)]
#[debug("TestKey({algorithm})")]
pub struct TestKey {
    pub algorithm: Algorithm,
    pub(crate) secret: Secret,
}

pub(crate) enum Secret {
    Evp(PKey<Private>),
    Elgamal(Elgamal),
}

/// A test key on its way to another process of keymark: PrivateKeyInfo, or p, g, y and x of Elgamal.
#[derive(Clone, Serialize, Deserialize, derive_more::Debug)]
#[debug("SealedKey")]
pub struct SealedKey {
    algorithm: Algorithm,
    numbers: Vec<Zeroizing<Vec<u8>>>,
}

/// The numbers of a key, as big-endian bytes, for programs with a form of their own.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
pub enum Numbers {
    /// n, e, d, p, q and u: p is the smaller prime, and u its inverse modulo q (RFC 4880 §5.5.3).
    Rsa([Vec<u8>; 6]),
    /// p, q, g, y and x.
    Dsa([Vec<u8>; 5]),
    /// p, g, y and x.
    Elgamal([Vec<u8>; 4]),
    /// Uncompressed point (SEC 1 §2.3.3) and scalar.
    Weierstrass { point: Vec<u8>, d: Vec<u8> },
    /// The public and the private string of RFC 7748 or RFC 8032, in their byte order.
    Raw { public: Vec<u8>, secret: Vec<u8> },
}

impl TestKey {
    /// Generates a key.
    pub fn generate(algorithm: Algorithm) -> Result<Self, Error> {
        let family = algorithm.family();
        if let Family::Composite(_) = family {
            let (reason, advice) = (
                format!("OpenSSL has no {algorithm}"),
                "GnuPG 2.5 or rsop has it: use --stack gpg,sop",
            );
            return Err(Error::call("EVP_PKEY_keygen", reason, advice));
        }
        let secret = if let Family::Elgamal(bits) = family {
            Elgamal::generate(bits).map(Secret::Elgamal)
        } else {
            generate_evp(family).map(Secret::Evp)
        };
        let secret = secret.during("EVP_PKEY_keygen")?;
        Ok(Self { algorithm, secret })
    }

    /// Its numbers.
    pub fn numbers(&self) -> Result<Numbers, Error> {
        let numbers = match &self.secret {
            Secret::Elgamal(key) => Ok(Numbers::Elgamal(key.numbers())),
            Secret::Evp(pkey) => evp_numbers(pkey, self.algorithm.family()),
        };
        numbers.map_err(|error| {
            let reason = format!("no numbers of a key for {}: {error}", self.algorithm);
            Error::call("EVP_PKEY_todata", reason, "")
        })
    }

    /// Its octets, of algorithms whose private keys are a string of them.
    pub(crate) fn raw_private(&self) -> Result<Zeroizing<Vec<u8>>, ErrorStack> {
        match &self.secret {
            Secret::Evp(pkey) => pkey.raw_private_key().map(Zeroizing::new),
            Secret::Elgamal(_) => Err(ErrorStack::get()),
        }
    }

    /// PrivateKeyInfo (RFC 5958) in DER, of all but Elgamal.
    pub fn pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let der = match &self.secret {
            Secret::Evp(pkey) => pkey.private_key_to_pkcs8(),
            Secret::Elgamal(_) => Err(ErrorStack::get()),
        };
        der.map(Zeroizing::new).during("i2d_PKCS8_PRIV_KEY_INFO")
    }

    /// The key in a form that another process can take.
    pub fn sealed(&self) -> Result<SealedKey, Error> {
        let numbers = match &self.secret {
            Secret::Evp(_) => vec![self.pkcs8_der()?],
            Secret::Elgamal(key) => key.numbers().map(Zeroizing::new).into(),
        };
        Ok(SealedKey {
            algorithm: self.algorithm,
            numbers,
        })
    }

    /// The key that was sealed.
    pub fn unsealed(sealed: &SealedKey) -> Result<Self, Error> {
        let secret = match sealed.numbers.as_slice() {
            [der] => PKey::private_key_from_der(der).map(Secret::Evp),
            [p, g, y, x] => Elgamal::of_numbers([p, g, y, x]).map(Secret::Elgamal),
            _ => Err(ErrorStack::get()),
        };
        let secret = secret.during("d2i_AutoPrivateKey")?;
        Ok(Self {
            algorithm: sealed.algorithm,
            secret,
        })
    }

    /// Room that the longest result of an operation needs, in bytes.
    pub fn output_capacity(&self) -> usize {
        match &self.secret {
            Secret::Elgamal(key) => key.size(),
            // EVP_PKEY_size is a signature's or a shared secret's upper bound; a KEM's is its
            // ciphertext, longer than the secret.
            Secret::Evp(key) => key.size().max(64),
        }
    }
}

fn generate_evp(family: Family) -> Result<PKey<Private>, ErrorStack> {
    match family {
        Family::Rsa(bits) => PKey::from_rsa(Rsa::generate(bits)?).and_then(|key| native(&key)),
        Family::Dsa(bits) => PKey::from_dsa(Dsa::generate(bits)?).and_then(|key| native(&key)),
        Family::Weierstrass(curve) => {
            let key = EcKey::generate(&*EcGroup::from_curve_name(nid(curve))?)?;
            PKey::from_ec_key(key).and_then(|key| native(&key))
        }
        Family::Cv25519 => PKey::generate_x25519(),
        Family::Ed25519 => PKey::generate_ed25519(),
        Family::Cv448 => PKey::generate_x448(),
        Family::Ed448 => PKey::generate_ed448(),
        Family::MlKem(set) => generate(&format!("ML-KEM-{set}")),
        Family::MlDsa(set) => generate(&format!("ML-DSA-{set}")),
        Family::SlhDsa(bits, SlhVariant::Small) => generate(&format!("SLH-DSA-SHA2-{bits}s")),
        Family::SlhDsa(bits, SlhVariant::Fast) => generate(&format!("SLH-DSA-SHA2-{bits}f")),
        // Both have gone elsewhere in the callers; libcrypto's own refusal is the answer.
        Family::Elgamal(_) | Family::Composite(_) => generate("Elgamal"),
    }
}

fn evp_numbers(pkey: &PKeyRef<Private>, family: Family) -> Result<Numbers, ErrorStack> {
    match family {
        Family::Rsa(_) => rsa_numbers(&*pkey.rsa()?),
        Family::Dsa(_) => {
            let dsa = pkey.dsa()?;
            let numbers = [dsa.p(), dsa.q(), dsa.g(), dsa.pub_key(), dsa.priv_key()];
            Ok(Numbers::Dsa(numbers.map(BigNumRef::to_vec)))
        }
        Family::Weierstrass(_) => Ok(Numbers::Weierstrass {
            point: public_bytes(pkey)?,
            d: ec_scalar(pkey)?,
        }),
        Family::Cv25519 | Family::Ed25519 | Family::Cv448 | Family::Ed448 => Ok(Numbers::Raw {
            public: pkey.raw_public_key()?,
            secret: pkey.raw_private_key()?,
        }),
        Family::Elgamal(_)
        | Family::MlKem(_)
        | Family::MlDsa(_)
        | Family::SlhDsa(..)
        | Family::Composite(_) => Err(ErrorStack::get()),
    }
}

/// The private number of a key on a Weierstrass curve, as long as the curve's are.
fn ec_scalar(pkey: &PKeyRef<Private>) -> Result<Vec<u8>, ErrorStack> {
    let ec = pkey.ec_key()?;
    let bytes = i32::try_from(ec.group().degree().div_ceil(8)).unwrap_or(i32::MAX);
    ec.private_key().to_vec_padded(bytes)
}

fn rsa_numbers(rsa: &RsaRef<Private>) -> Result<Numbers, ErrorStack> {
    // PKCS #1's first prime, by which it has the inverse of the second, is the larger of OpenSSL's.
    let [p, q, u] = [rsa.q(), rsa.p(), rsa.iqmp()].map(|number| number.ok_or_else(ErrorStack::get));
    let numbers = [rsa.n(), rsa.e(), rsa.d(), p?, q?, u?];
    Ok(Numbers::Rsa(numbers.map(BigNumRef::to_vec)))
}

/// Keys built from legacy structures are exported to the provider at every first use of a context;
/// once through DER they are the provider's own, as a key loaded from a file is.
fn native(key: &openssl::pkey::PKeyRef<Private>) -> Result<PKey<Private>, ErrorStack> {
    PKey::private_key_from_der(&key.private_key_to_der()?)
}

/// OpenSSL's number for a curve.
pub(crate) const fn nid(curve: Curve) -> Nid {
    match curve {
        Curve::NistP256 => Nid::X9_62_PRIME256V1,
        Curve::NistP384 => Nid::SECP384R1,
        Curve::NistP521 => Nid::SECP521R1,
        Curve::BrainpoolP256r1 => Nid::BRAINPOOL_P256R1,
        Curve::BrainpoolP384r1 => Nid::BRAINPOOL_P384R1,
        Curve::BrainpoolP512r1 => Nid::BRAINPOOL_P512R1,
        Curve::Secp256k1 => Nid::SECP256K1,
    }
}
