//! Words of parameters that key stores know as well.

use crate::algorithm::Family;
use crate::operation::Operation;
use crate::store::Capability;
use crate::words::words;

words! {
    /// A library that calculates in place of the OpenSSL that is built in.
    pub enum Library("library") {
        /// The installed libgcrypt, which gpg-agent loads.
        Libgcrypt = "libgcrypt",
        /// The installed libcrypto, which the distribution's servers and ssh load.
        OpenSslSystem = "openssl-system",
        /// The crates of RustCrypto and dalek, which programs in Rust without C use.
        RustCrypto = "rustcrypto",
    }
}

words! {
    /// How a key is used, where it is otherwise than usual: as PKCS#1 v1.5 has it for RSA (RFC 8017), and of
    /// a digest that was calculated before for ECDSA.
    pub enum Scheme("scheme") {
        /// RSASSA-PSS of a digest (RFC 8017 §8.1): SHA-256, MGF1 with it, 32 bytes of salt.
        Pss = "pss",
        /// RSAES-OAEP (§7.1): SHA-256, MGF1 with it, no label.
        Oaep = "oaep",
        /// The same with SHA-1, where a key store takes no other.
        OaepSha1 = "oaep-sha1",
        /// The key store calculates the digest of the message as well (`CKM_SHA256_RSA_PKCS`,
        /// `CKM_ECDSA_SHA256`).
        Hashed = "hashed",
        /// The same for RSASSA-PSS (`CKM_SHA256_RSA_PKCS_PSS`).
        PssHashed = "pss-hashed",
    }
}

impl Scheme {
    /// Whether there is such a use of a key.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the other families have one use each"
    )]
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

    /// Whether the key store is given the message, in place of its digest.
    pub const fn hashes(self) -> bool {
        match self {
            Self::Hashed | Self::PssHashed => true,
            Self::Pss | Self::Oaep | Self::OaepSha1 => false,
        }
    }
}
