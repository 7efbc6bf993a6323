//! Operations of OpenSSL on a test key.

use keymark_bench::store::Capability;
use keymark_bench::workload::KeyHandle;
use keymark_bench::{During as _, Error, Family, Operation};
use keymark_native::evp::{decapsulate, decapsulate_init, sign_message_init};
use openssl::bn::BigNumContext;
use openssl::ec::{EcKey, EcPoint};
use openssl::error::ErrorStack;
use openssl::md::MdRef;
use openssl::md_ctx::MdCtx;
use openssl::pkey::{Id, PKey, Private, Public};
use openssl::pkey_ctx::PkeyCtx;

use super::library::{agreement, call};
use crate::scheme::{Scheme, evp_md, padded};
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
            let mut decryptor = elgamal.decryptor().during("BN_sub")?;
            return Ok(call("BN_mod_exp", move |input, output| {
                decryptor.decrypt(input, output)
            }));
        }
        Secret::Evp(pkey) => pkey,
    };
    let made: Result<Box<dyn KeyHandle>, ErrorStack> = match (family, operation) {
        (Family::Rsa(_) | Family::Weierstrass(_), Operation::Sign)
            if scheme.is_some_and(Scheme::hashes) =>
        {
            Ok(hash_and_sign(pkey.clone(), scheme, evp_md(key.algorithm)))
        }
        (Family::Rsa(_), Operation::Decrypt) => context(pkey, |ctx| {
            ctx.decrypt_init().and_then(|()| padded(ctx, scheme))
        })
        .map(|mut ctx| {
            call("EVP_PKEY_decrypt", move |input, output| {
                ctx.decrypt(input, Some(output))
            })
        }),
        (Family::Rsa(_), Operation::Sign | Operation::Authenticate) => context(pkey, |ctx| {
            ctx.sign_init()?;
            padded(ctx, scheme)?;
            ctx.set_signature_md(openssl::md::Md::sha256())
        })
        .map(signing),
        (Family::Weierstrass(_) | Family::Dsa(_), Operation::Sign | Operation::Authenticate) => {
            context(pkey, |ctx| ctx.sign_init()).map(signing)
        }
        (Family::Weierstrass(_) | Family::Cv25519 | Family::Cv448, Operation::Decrypt) => {
            Ok(derive(pkey.clone()))
        }
        (Family::MlKem(_), Operation::Decapsulate) => {
            context(pkey, decapsulate_init).map(|mut ctx| {
                call("EVP_PKEY_decapsulate", move |input, output| {
                    decapsulate(&mut ctx, input, output)
                })
            })
        }
        (
            Family::Ed25519 | Family::Ed448 | Family::MlDsa(_) | Family::SlhDsa(..),
            Operation::Sign | Operation::Authenticate,
        ) => context(pkey, sign_message_init).map(signing),
        (_, Operation::Decrypt)
        | (_, Operation::Sign | Operation::Authenticate)
        | (_, Operation::Decapsulate | Operation::Handshake) => {
            return Err(unsupported("the OpenSSL library", capability));
        }
    };
    made.during("setting up an EVP_PKEY_CTX")
}

fn context(
    key: &PKey<Private>,
    init: impl FnOnce(&mut PkeyCtx<Private>) -> Result<(), ErrorStack>,
) -> Result<PkeyCtx<Private>, ErrorStack> {
    let mut ctx = PkeyCtx::new(key)?;
    init(&mut ctx)?;
    Ok(ctx)
}

/// Signatures of a digest (RSA, DSA, ECDSA) or of a message.
fn signing(mut ctx: PkeyCtx<Private>) -> Box<dyn KeyHandle> {
    call("EVP_PKEY_sign", move |signed, signature| {
        ctx.sign(signed, Some(signature))
    })
}

/// Signatures of a message that is hashed on the way, each by a context of its own, as servers sign.
fn hash_and_sign(
    key: PKey<Private>,
    scheme: Option<Scheme>,
    digest: &'static MdRef,
) -> Box<dyn KeyHandle> {
    call("EVP_DigestSign", move |message, signature| {
        let mut ctx = MdCtx::new()?;
        let inner = ctx.digest_sign_init(Some(digest), &key)?;
        if key.id() == Id::RSA {
            padded(inner, scheme)?;
        }
        ctx.digest_sign(message, Some(signature))
    })
}

/// ECDH, X25519 and X448. Decoding and validating the peer's point is set-up, not the private-key
/// operation, so there is a context for each input (as `openssl speed ecdh` has one for its peer).
fn derive(key: PKey<Private>) -> Box<dyn KeyHandle> {
    let set_up = move |point: &[u8]| {
        let peer = peer(&key, point)?;
        context(&key, |ctx| {
            ctx.derive_init().and_then(|()| ctx.derive_set_peer(&peer))
        })
    };
    agreement(
        ["EVP_PKEY_derive_set_peer", "EVP_PKEY_derive"],
        set_up,
        |ctx: &mut PkeyCtx<Private>, secret| ctx.derive(Some(secret)),
    )
}

fn peer(key: &PKey<Private>, point: &[u8]) -> Result<PKey<Public>, ErrorStack> {
    match key.id() {
        Id::EC => {
            let key = key.ec_key()?;
            let point = EcPoint::from_bytes(key.group(), point, &mut *BigNumContext::new()?)?;
            PKey::from_ec_key(EcKey::from_public_key(key.group(), &point)?)
        }
        id => PKey::public_key_from_raw_bytes(point, id),
    }
}
