//! Schemes: how a key is used, otherwise than usual; and the same in OpenSSL's words, for keys in memory and for what is
//! made and checked with public keys.
//!
//! OAEP with SHA-256 and with SHA-1 are two schemes, since no token says which digests it accepts.

use keymark_bench::store::Capability;
use keymark_bench::words::words;
use keymark_bench::{Algorithm, Digest, Family, Operation};
use openssl::error::ErrorStack;
use openssl::md::{Md, MdRef};
use openssl::pkey_ctx::PkeyCtxRef;
use openssl::rsa::Padding;
use openssl::sign::RsaPssSaltlen;

words! {
    /// Use of a key in place of the usual one, which is as PKCS#1 v1.5 has it for RSA (RFC 8017), and of
    /// a digest that was calculated before for ECDSA.
    pub enum Scheme("scheme") {
        /// RSASSA-PSS of a digest (RFC 8017 §8.1): SHA-256, MGF1 with it, 32 bytes of salt.
        Pss = "pss",
        /// RSAES-OAEP (§7.1): SHA-256, MGF1 with it, no label.
        Oaep = "oaep",
        /// OAEP with SHA-1, where a key store takes no other.
        OaepSha1 = "oaep-sha1",
        /// The key store calculates the digest of the message as well (`CKM_SHA256_RSA_PKCS`,
        /// `CKM_ECDSA_SHA256`).
        Hashed = "hashed",
        /// RSASSA-PSS of a message (`CKM_SHA256_RSA_PKCS_PSS`).
        PssHashed = "pss-hashed",
    }
}

pub(crate) const SHA256_DIGEST_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

impl Scheme {
    /// Returns whether there is such a use of a key.
    pub const fn is_of(self, capability: Capability) -> bool {
        let signs = matches!(capability.operation, Operation::Sign);
        let decrypts = matches!(capability.operation, Operation::Decrypt);
        match (self, capability.algorithm.family()) {
            (Self::Pss | Self::PssHashed, Family::Rsa(_)) => signs,
            (Self::Oaep | Self::OaepSha1, Family::Rsa(_)) => decrypts,
            (Self::Hashed, Family::Rsa(_) | Family::Weierstrass(_)) => signs,
            _ => false,
        }
    }

    /// Returns whether the key store is given the message, in place of its digest.
    pub const fn hashes(self) -> bool {
        match self {
            Self::Hashed | Self::PssHashed => true,
            Self::Pss | Self::Oaep | Self::OaepSha1 => false,
        }
    }
}

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
