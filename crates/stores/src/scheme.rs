//! Schemes in OpenSSL's words: for keys in memory, and for what is made and checked with public keys.
//!
//! OAEP with SHA-256 and with SHA-1 are two schemes, since no token says which digests it accepts.

use keymark_bench::algorithm::{Algorithm, Digest};
use keymark_bench::case::Scheme;
use openssl::error::ErrorStack;
use openssl::md::{Md, MdRef};
use openssl::pkey_ctx::PkeyCtxRef;
use openssl::rsa::Padding;
use openssl::sign::RsaPssSaltlen;

/// As long as the digest, as RFC 8017 §9.1 recommends.
const SALT: i32 = 32;

/// Sets the padding of an RSA operation that has been begun.
pub(crate) fn padded<T>(ctx: &mut PkeyCtxRef<T>, scheme: Option<Scheme>) -> Result<(), ErrorStack> {
    let oaep = |ctx: &mut PkeyCtxRef<T>, md: &'static MdRef| {
        ctx.set_rsa_padding(Padding::PKCS1_OAEP)?;
        ctx.set_rsa_oaep_md(md)?;
        ctx.set_rsa_mgf1_md(md)
    };
    match scheme {
        None | Some(Scheme::Hashed) => ctx.set_rsa_padding(Padding::PKCS1),
        Some(Scheme::Pss | Scheme::PssHashed) => {
            ctx.set_rsa_padding(Padding::PKCS1_PSS)?;
            ctx.set_rsa_mgf1_md(Md::sha256())?;
            ctx.set_rsa_pss_saltlen(RsaPssSaltlen::custom(SALT))
        }
        Some(Scheme::Oaep) => oaep(ctx, Md::sha256()),
        Some(Scheme::OaepSha1) => oaep(ctx, Md::sha1()),
    }
}

/// The digest that is signed in place of the message; of an algorithm that signs the message itself, what RSA
/// signs.
pub(crate) fn evp_md(algorithm: Algorithm) -> &'static MdRef {
    match algorithm.digest() {
        None | Some(Digest::Sha256) => Md::sha256(),
        Some(Digest::Sha384) => Md::sha384(),
        Some(Digest::Sha512) => Md::sha512(),
    }
}
