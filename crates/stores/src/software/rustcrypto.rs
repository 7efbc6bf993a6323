//! Test keys used by the crates of RustCrypto and dalek, as programs written in Rust without C use theirs.

use ecdsa::signature::hazmat::PrehashSigner;
use ed25519_dalek::Signer;
use keymark_bench::store::Capability;
use keymark_bench::workload::KeyHandle;
use keymark_bench::{Curve, During as _, Error, Family, Operation};
use p256::pkcs8::DecodePrivateKey;
use rand_core_06::OsRng;
use rsa::sha2::Sha256;
use rsa::{Pkcs1v15Encrypt, Pkcs1v15Sign, RsaPrivateKey};
use zeroize::Zeroizing;

use super::library::{Loaded, agreement, call, capabilities_of};
use crate::store::unsupported;
use crate::test_key::{Numbers, TestKey};

#[derive(Debug)]
pub(super) struct Compiled;

impl Loaded for Compiled {
    fn version(&self) -> String {
        env!("KEYMARK_RUSTCRYPTO").to_owned()
    }

    fn capabilities(&self) -> Vec<Capability> {
        // Of the others there is none that is in wide use.
        capabilities_of(|family| {
            matches!(family, Family::Rsa(_) | Family::Cv25519 | Family::Ed25519)
                || family.is_of_nist()
        })
    }

    fn open(&self, key: &TestKey, operation: Operation) -> Result<Box<dyn KeyHandle>, Error> {
        let lacks = || unsupported("RustCrypto", Capability::new(key.algorithm, operation));
        opened(key, operation)?.ok_or_else(lacks)
    }
}

/// An agreement with a peer, whose point is read and validated before the clock runs, as with OpenSSL.
fn derive<P: Send + 'static>(
    read: impl FnMut(&[u8]) -> Result<P, String> + Send + 'static,
    function: impl FnMut(&mut P, &mut [u8]) -> Result<usize, String> + Send + 'static,
) -> Box<dyn KeyHandle> {
    agreement(["reading the point", "diffie_hellman"], read, function)
}

/// Puts a result where it belongs; gives its length in bytes.
fn put(result: &[u8], output: &mut [u8]) -> Result<usize, String> {
    let room = output.get_mut(..result.len());
    room.ok_or("its result is longer than expected")?
        .copy_from_slice(result);
    Ok(result.len())
}

/// The private string of RFC 7748 or RFC 8032.
fn seed(key: &TestKey) -> Result<Zeroizing<[u8; 32]>, Error> {
    let found = match key.numbers()? {
        Numbers::Raw { secret, .. } => {
            let secret = Zeroizing::new(secret);
            secret.as_slice().try_into().ok().map(Zeroizing::new)
        }
        Numbers::Rsa(_) | Numbers::Dsa(_) | Numbers::Elgamal(_) | Numbers::Weierstrass { .. } => {
            None
        }
    };
    found.ok_or_else(|| Error::call("reading a key", "it is no string of 32 bytes", ""))
}

/// An error of the crates in words; some say nothing but that there is one.
fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn read<K: DecodePrivateKey>(key: &TestKey) -> Result<K, Error> {
    K::from_pkcs8_der(&key.pkcs8_der()?).during("from_pkcs8_der")
}

macro_rules! ecdsa {
    ($curve:ident, $key:expr) => {{
        let key: $curve::SecretKey = read($key)?;
        let key = $curve::ecdsa::SigningKey::from_bytes(&key.to_bytes())
            .during("SigningKey::from_bytes")?;
        call("sign_prehash", move |digest, output| {
            let signed: Result<$curve::ecdsa::Signature, _> = key.sign_prehash(digest);
            put(signed.map_err(words)?.to_der().as_bytes(), output)
        })
    }};
}

macro_rules! ecdh {
    ($curve:ident, $key:expr) => {{
        let key: $curve::SecretKey = read($key)?;
        derive(
            |point| $curve::PublicKey::from_sec1_bytes(point).map_err(words),
            move |peer: &mut $curve::PublicKey, output| {
                let scalar = key.to_nonzero_scalar();
                let shared = $curve::ecdh::diffie_hellman(scalar, peer.as_affine());
                put(shared.raw_secret_bytes(), output)
            },
        )
    }};
}

fn opened(key: &TestKey, operation: Operation) -> Result<Option<Box<dyn KeyHandle>>, Error> {
    use Curve::{NistP256, NistP384, NistP521};
    use Family::{Cv25519, Ed25519, Rsa, Weierstrass};
    use Operation::{Authenticate, Decrypt, Sign};
    Ok(Some(match (key.algorithm.family(), operation) {
        (Rsa(_), Sign | Authenticate) => {
            let key: RsaPrivateKey = read(key)?;
            call("sign_with_rng", move |digest, output| {
                // With blinding, as the crate advises.
                let padding = Pkcs1v15Sign::new::<Sha256>();
                let signed = key.sign_with_rng(&mut OsRng, padding, digest);
                put(&signed.map_err(words)?, output)
            })
        }
        (Rsa(_), Decrypt) => {
            let key: RsaPrivateKey = read(key)?;
            call("decrypt_blinded", move |ciphertext, output| {
                let opened = key.decrypt_blinded(&mut OsRng, Pkcs1v15Encrypt, ciphertext);
                put(&opened.map_err(words)?, output)
            })
        }
        (Ed25519, Sign | Authenticate) => {
            let key = ed25519_dalek::SigningKey::from_bytes(&*seed(key)?);
            call("try_sign", move |message, output| {
                put(&key.try_sign(message).map_err(words)?.to_bytes(), output)
            })
        }
        (Cv25519, Decrypt) => {
            let key = x25519_dalek::StaticSecret::from(*seed(key)?);
            derive(
                |point| <[u8; 32]>::try_from(point).map_err(words).map(Into::into),
                move |peer: &mut x25519_dalek::PublicKey, output| {
                    put(key.diffie_hellman(peer).as_bytes(), output)
                },
            )
        }
        (Weierstrass(NistP256), Sign | Authenticate) => ecdsa!(p256, key),
        (Weierstrass(NistP384), Sign | Authenticate) => ecdsa!(p384, key),
        (Weierstrass(NistP521), Sign | Authenticate) => ecdsa!(p521, key),
        (Weierstrass(NistP256), Decrypt) => ecdh!(p256, key),
        (Weierstrass(NistP384), Decrypt) => ecdh!(p384, key),
        (Weierstrass(NistP521), Decrypt) => ecdh!(p521, key),
        _ => return Ok(None),
    }))
}
