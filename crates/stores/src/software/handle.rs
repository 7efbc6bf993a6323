//! Operations of OpenSSL on a test key.

use keymark_bench::algorithm::Family;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_native::evp::{Decapsulator, MessageSigner};
use openssl::bn::BigNumContext;
use openssl::ec::{EcKey, EcPoint};
use openssl::error::ErrorStack;
use openssl::md::MdRef;
use openssl::md_ctx::MdCtx;
use openssl::pkey::{Id, PKey, Private, Public};
use openssl::pkey_ctx::PkeyCtx;

use crate::scheme::Scheme;
use crate::scheme::{evp_md, padded};
use crate::software::elgamal::Decryptor;
use crate::store::unsupported;
use crate::test_key::{Secret, TestKey};

/// Sets up everything that a caller sets up once.
pub(super) fn handle(
    key: &TestKey,
    operation: Operation,
    scheme: Option<Scheme>,
) -> Result<Box<dyn KeyHandle>, Error> {
    let capability = Capability::new(key.algorithm, operation);
    if scheme.is_some_and(|scheme| !scheme.is_of(capability)) {
        return Err(unsupported("the OpenSSL library", capability));
    }
    let family = key.algorithm.family();
    let pkey = match &key.secret {
        Secret::Elgamal(_) if operation != Operation::Decrypt => {
            return Err(unsupported("the OpenSSL library", capability));
        }
        Secret::Elgamal(elgamal) => {
            let decryptor = elgamal
                .decryptor()
                .map_err(|error| Error::call("BN_sub", error, ""))?;
            return Ok(Box::new(ElgamalDecrypt(decryptor)));
        }
        Secret::Evp(pkey) => pkey,
    };
    let made: Result<Box<dyn KeyHandle>, ErrorStack> = match (family, operation) {
        (Family::Rsa(_) | Family::Weierstrass(_), Operation::Sign)
            if scheme.is_some_and(Scheme::hashes) =>
        {
            Ok(Box::new(HashAndSign {
                key: pkey.clone(),
                scheme,
                digest: evp_md(key.algorithm),
            }))
        }
        (Family::Rsa(_), Operation::Decrypt) => context(pkey, |ctx| {
            ctx.decrypt_init().and_then(|()| padded(ctx, scheme))
        })
        .map(|ctx| Box::new(RsaDecrypt(ctx)) as _),
        (Family::Rsa(_), Operation::Sign | Operation::Authenticate) => context(pkey, |ctx| {
            ctx.sign_init()?;
            padded(ctx, scheme)?;
            ctx.set_signature_md(openssl::md::Md::sha256())
        })
        .map(|ctx| Box::new(DigestSign(ctx)) as _),
        (Family::Weierstrass(_) | Family::Dsa(_), Operation::Sign | Operation::Authenticate) => {
            context(pkey, |ctx| ctx.sign_init()).map(|ctx| Box::new(DigestSign(ctx)) as _)
        }
        (Family::Weierstrass(_) | Family::Cv25519 | Family::Cv448, Operation::Decrypt) => {
            Ok(Box::new(Derive {
                key: pkey.clone(),
                contexts: Vec::new(),
                current: 0,
            }) as _)
        }
        (Family::MlKem(_), Operation::Decapsulate) => {
            Decapsulator::new(pkey).map(|decapsulator| Box::new(Decapsulate(decapsulator)) as _)
        }
        (
            Family::Ed25519 | Family::Ed448 | Family::MlDsa(_) | Family::SlhDsa(..),
            Operation::Sign | Operation::Authenticate,
        ) => MessageSigner::new(pkey).map(|signer| Box::new(MessageSign(signer)) as _),
        (_, Operation::Decrypt)
        | (_, Operation::Sign | Operation::Authenticate)
        | (_, Operation::Decapsulate | Operation::Handshake) => {
            return Err(unsupported("the OpenSSL library", capability));
        }
    };
    made.map_err(|error| Error::call("setting up an EVP_PKEY_CTX", error, ""))
}

fn context(
    key: &PKey<Private>,
    init: impl FnOnce(&mut PkeyCtx<Private>) -> Result<(), ErrorStack>,
) -> Result<PkeyCtx<Private>, ErrorStack> {
    let mut ctx = PkeyCtx::new(key)?;
    init(&mut ctx)?;
    Ok(ctx)
}

fn performed(call: &str, result: Result<usize, ErrorStack>) -> Result<Performed, Error> {
    match result {
        Ok(length) => Ok(Performed { length, cpu: None }),
        Err(error) => Err(Error::call(call, error, "")),
    }
}

struct RsaDecrypt(PkeyCtx<Private>);

impl KeyHandle for RsaDecrypt {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed(
            "EVP_PKEY_decrypt",
            self.0.decrypt(&input.bytes, Some(output)),
        )
    }
}

/// Signatures of a digest: RSA, DSA, ECDSA.
struct DigestSign(PkeyCtx<Private>);

impl KeyHandle for DigestSign {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed("EVP_PKEY_sign", self.0.sign(&input.bytes, Some(output)))
    }
}

/// Signatures of a message that is hashed on the way, each by a context of its own, as servers sign.
struct HashAndSign {
    key: PKey<Private>,
    scheme: Option<Scheme>,
    digest: &'static MdRef,
}

impl HashAndSign {
    fn sign(&self, message: &[u8], signature: &mut [u8]) -> Result<usize, ErrorStack> {
        let mut ctx = MdCtx::new()?;
        let inner = ctx.digest_sign_init(Some(self.digest), &self.key)?;
        if self.key.id() == Id::RSA {
            padded(inner, self.scheme)?;
        }
        ctx.digest_sign(message, Some(signature))
    }
}

impl KeyHandle for HashAndSign {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed("EVP_DigestSign", self.sign(&input.bytes, output))
    }
}

/// Signatures of a message: EdDSA, ML-DSA, SLH-DSA.
struct MessageSign(MessageSigner);

impl KeyHandle for MessageSign {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed("EVP_PKEY_sign", self.0.sign(&input.bytes, output))
    }
}

struct Decapsulate(Decapsulator);

impl KeyHandle for Decapsulate {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed(
            "EVP_PKEY_decapsulate",
            self.0.decapsulate(&input.bytes, output),
        )
    }
}

struct ElgamalDecrypt(Decryptor);

impl KeyHandle for ElgamalDecrypt {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let length = self.0.decrypt(&input.bytes, output)?;
        Ok(Performed { length, cpu: None })
    }
}

/// ECDH, X25519 and X448. Decoding and validating the peer's point is set-up, not the private-key
/// operation, so there is a context for each input (as `openssl speed ecdh` has one for its peer).
struct Derive {
    key: PKey<Private>,
    contexts: Vec<(Vec<u8>, PkeyCtx<Private>)>,
    current: usize,
}

impl Derive {
    fn peer(&self, bytes: &[u8]) -> Result<PKey<Public>, ErrorStack> {
        match self.key.id() {
            Id::EC => {
                let key = self.key.ec_key()?;
                let point = EcPoint::from_bytes(key.group(), bytes, &mut *BigNumContext::new()?)?;
                PKey::from_ec_key(EcKey::from_public_key(key.group(), &point)?)
            }
            id => PKey::public_key_from_raw_bytes(bytes, id),
        }
    }
}

impl KeyHandle for Derive {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        let known = self
            .contexts
            .iter()
            .position(|(bytes, _)| *bytes == input.bytes);
        self.current = match known {
            Some(index) => index,
            None => {
                let ctx = self.peer(&input.bytes).and_then(|peer| {
                    context(&self.key, |ctx| {
                        ctx.derive_init().and_then(|()| ctx.derive_set_peer(&peer))
                    })
                });
                let ctx =
                    ctx.map_err(|error| Error::call("EVP_PKEY_derive_set_peer", error, ""))?;
                self.contexts.push((input.bytes.clone(), ctx));
                self.contexts.len() - 1
            }
        };
        Ok(())
    }

    fn perform(&mut self, _: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed(
            "EVP_PKEY_derive",
            self.contexts[self.current].1.derive(Some(output)),
        )
    }
}
