//! Private keys made for measuring: generated here, or taken out of a private GnuPG home.

use keymark_bench::algorithm::{Algorithm, Curve, Family, SlhVariant};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Input;
use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::dsa::Dsa;
use openssl::ec::{EcGroup, EcKey, EcPoint};
use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Private};
use openssl::rsa::{Rsa, RsaPrivateKeyBuilder};

use crate::elgamal::Elgamal;

/// A private key. Not for keeping secrets with: it only ever measures.
pub struct TestKey {
    /// Its algorithm.
    pub algorithm: Algorithm,
    pub(crate) secret: Secret,
}

pub(crate) enum Secret {
    Evp(PKey<Private>),
    Elgamal(Elgamal),
}

impl std::fmt::Debug for TestKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// The numbers of a key, as big-endian bytes.
#[allow(missing_docs, reason = "the letters are those of the specifications")]
pub enum Numbers<'a> {
    Rsa {
        n: &'a [u8],
        e: &'a [u8],
        d: &'a [u8],
        p: &'a [u8],
        q: &'a [u8],
    },
    Dsa {
        p: &'a [u8],
        q: &'a [u8],
        g: &'a [u8],
        y: &'a [u8],
        x: &'a [u8],
    },
    Elgamal {
        p: &'a [u8],
        g: &'a [u8],
        y: &'a [u8],
        x: &'a [u8],
    },
    /// Uncompressed point (SEC 1 §2.3.3) and scalar.
    Weierstrass { point: &'a [u8], d: &'a [u8] },
    /// The private string of RFC 7748 or RFC 8032, in their byte order.
    Raw { secret: &'a [u8] },
}

impl std::fmt::Debug for Numbers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Numbers")
    }
}

impl TestKey {
    /// Generates a key.
    ///
    /// # Errors
    /// When OpenSSL lacks the algorithm or fails.
    pub fn generate(algorithm: Algorithm) -> Result<Self, Error> {
        let secret = match algorithm.family() {
            Family::KyberComposite(_) => {
                return Err(Error::call(
                    "EVP_PKEY_keygen",
                    format!("OpenSSL has no {algorithm}"),
                    "GnuPG 2.5 has: use --stack agent,gnupg",
                ));
            }
            Family::Elgamal(bits) => Elgamal::generate(bits).map(Secret::Elgamal),
            family => generate_evp(family).map(Secret::Evp),
        };
        let secret = secret.map_err(|error| Error::call("EVP_PKEY_keygen", error, ""))?;
        Ok(Self { algorithm, secret })
    }

    /// Takes a key from its numbers.
    ///
    /// # Errors
    /// When they are not those of a key of this algorithm.
    pub fn from_numbers(algorithm: Algorithm, numbers: &Numbers<'_>) -> Result<Self, Error> {
        let secret = match numbers {
            Numbers::Elgamal { p, g, y, x } => {
                bignums([p, g, y, x]).map(|[p, g, y, x]| Secret::Elgamal(Elgamal::new(p, g, y, x)))
            }
            other => evp_from_numbers(algorithm.family(), other).map(Secret::Evp),
        };
        let secret = secret.map_err(|error| {
            Error::call(
                "EVP_PKEY_fromdata",
                format!("not the numbers of a key for {algorithm}: {error}"),
                "",
            )
        })?;
        Ok(Self { algorithm, secret })
    }

    /// Room that the longest result of an operation needs, in bytes.
    #[must_use]
    pub fn output_capacity(&self) -> usize {
        match &self.secret {
            Secret::Elgamal(key) => key.size(),
            // EVP_PKEY_size is a signature's or a shared secret's upper bound; a KEM's is its
            // ciphertext, longer than the secret.
            Secret::Evp(key) => key.size().max(64),
        }
    }

    /// A number filled up with zeros to the length of the modulus or prime.
    #[must_use]
    pub fn padded(&self, number: &[u8]) -> Vec<u8> {
        let length = match &self.secret {
            Secret::Elgamal(key) => key.size(),
            Secret::Evp(key) => key.size(),
        };
        let mut padded = vec![0; length.saturating_sub(number.len())];
        padded.extend(number);
        padded
    }

    /// The ECDH secret shared with a peer: x coordinate, or the string of RFC 7748.
    ///
    /// # Errors
    /// When the peer's public key is not one of this key's curve.
    pub fn shared_secret(&self, peer: &[u8]) -> Result<Vec<u8>, Error> {
        self.answer(Operation::Decrypt, peer)
    }

    /// What one operation yields, untimed.
    ///
    /// # Errors
    /// As the operation.
    pub fn answer(&self, operation: Operation, input: &[u8]) -> Result<Vec<u8>, Error> {
        let input = Input {
            bytes: input.to_vec(),
        };
        let mut output = vec![0; self.output_capacity()];
        let mut handle = crate::software::handle(self, operation)?;
        handle.arm(&input)?;
        let performed = handle.perform(&input, &mut output)?;
        output.truncate(performed.length);
        Ok(output)
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
        Family::MlKem(512) => keymark_evp::generate(c"ML-KEM-512"),
        Family::MlKem(768) => keymark_evp::generate(c"ML-KEM-768"),
        Family::MlKem(_) => keymark_evp::generate(c"ML-KEM-1024"),
        Family::MlDsa(44) => keymark_evp::generate(c"ML-DSA-44"),
        Family::MlDsa(65) => keymark_evp::generate(c"ML-DSA-65"),
        Family::MlDsa(_) => keymark_evp::generate(c"ML-DSA-87"),
        Family::SlhDsa(bits, variant) => keymark_evp::generate(match (bits, variant) {
            (128, SlhVariant::Small) => c"SLH-DSA-SHA2-128s",
            (128, SlhVariant::Fast) => c"SLH-DSA-SHA2-128f",
            (192, SlhVariant::Small) => c"SLH-DSA-SHA2-192s",
            (192, SlhVariant::Fast) => c"SLH-DSA-SHA2-192f",
            (_, SlhVariant::Small) => c"SLH-DSA-SHA2-256s",
            (_, SlhVariant::Fast) => c"SLH-DSA-SHA2-256f",
        }),
        // Both have gone elsewhere in the callers; libcrypto's own refusal is the answer.
        Family::Elgamal(_) | Family::KyberComposite(_) => keymark_evp::generate(c"Elgamal"),
    }
}

fn evp_from_numbers(family: Family, numbers: &Numbers<'_>) -> Result<PKey<Private>, ErrorStack> {
    match (numbers, family) {
        (Numbers::Rsa { n, e, d, p, q }, _) => {
            let [n, e, d, p, q] = bignums([n, e, d, p, q])?;
            let (dp, dq, qp) = crt(&d, &p, &q)?;
            let rsa = RsaPrivateKeyBuilder::new(n, e, d)?
                .set_factors(p, q)?
                .set_crt_params(dp, dq, qp)?;
            native(&*PKey::from_rsa(rsa.build())?)
        }
        (Numbers::Dsa { p, q, g, y, x }, _) => {
            let [p, q, g, y, x] = bignums([p, q, g, y, x])?;
            native(&*PKey::from_dsa(Dsa::from_private_components(
                p, q, g, x, y,
            )?)?)
        }
        (Numbers::Weierstrass { point, d }, Family::Weierstrass(curve)) => {
            let group = EcGroup::from_curve_name(nid(curve))?;
            let point = EcPoint::from_bytes(&group, point, &mut *BigNumContext::new()?)?;
            let key = EcKey::from_private_components(&group, &*BigNum::from_slice(d)?, &point)?;
            key.check_key()?;
            native(&*PKey::from_ec_key(key)?)
        }
        (Numbers::Raw { secret }, family) => {
            let id = match family {
                Family::Cv25519 => Id::X25519,
                Family::Cv448 => Id::X448,
                Family::Ed448 => Id::ED448,
                _ => Id::ED25519,
            };
            PKey::private_key_from_raw_bytes(secret, id)
        }
        _ => Err(ErrorStack::get()),
    }
}

/// d mod (p-1), d mod (q-1), q⁻¹ mod p (RFC 8017 §3.2).
fn crt(d: &BigNum, p: &BigNum, q: &BigNum) -> Result<(BigNum, BigNum, BigNum), ErrorStack> {
    let mut ctx = BigNumContext::new()?;
    let mut less_one = |prime: &BigNumRef| -> Result<BigNum, ErrorStack> {
        let mut order = prime.to_owned()?;
        order.sub_word(1)?;
        let mut exponent = BigNum::new()?;
        exponent.nnmod(d, &order, &mut ctx)?;
        Ok(exponent)
    };
    let (dp, dq) = (less_one(p)?, less_one(q)?);
    let mut qp = BigNum::new()?;
    qp.mod_inverse(q, p, &mut ctx)?;
    Ok((dp, dq, qp))
}

/// Keys built from legacy structures are exported to the provider at every first use of a context;
/// once through DER they are the provider's own, as a key loaded from a file is.
fn native(key: &openssl::pkey::PKeyRef<Private>) -> Result<PKey<Private>, ErrorStack> {
    PKey::private_key_from_der(&key.private_key_to_der()?)
}

fn bignums<const N: usize>(bytes: [&[u8]; N]) -> Result<[BigNum; N], ErrorStack> {
    let numbers = bytes
        .iter()
        .map(|bytes| BigNum::from_slice(bytes))
        .collect::<Result<Vec<_>, _>>()?;
    // N in, N out.
    numbers.try_into().map_err(|_| ErrorStack::get())
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
