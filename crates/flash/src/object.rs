//! The objects a token stores.

use strum::{Display, VariantArray};

use crate::error::{Result, StorageError};

/// Longest private key: p and q of RSA-4096 (512 bytes) and its encryption header (64 bytes).
pub const MAX_KEY_BYTES: usize = KEY_HEADER_BYTES + 512;
/// Header of an encrypted key: salt, initial vector, wrapped key, check value.
pub const KEY_HEADER_BYTES: usize = 64;
/// Largest value of the digital-signature counter: three bytes (OpenPGP card 3.4, tag 93).
pub const MAX_SIGNATURE_COUNT: u32 = 0x00ff_ffff;

/// Object of an OpenPGP token; tags are those of OpenPGP card 3.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum ObjectId {
    /// Digital-signature counter (tag 93), three bytes, big endian.
    SignatureCounter,
    /// Wrong tries of the user PIN, one byte of 0 to 3.
    UserPinErrors,
    /// Wrong tries of the reset code, one byte of 0 to 3.
    ResetCodeErrors,
    /// Wrong tries of the admin PIN, one byte of 0 to 3.
    AdminPinErrors,
    /// Private key that signs.
    SignatureKey,
    /// Private key that decrypts.
    DecryptionKey,
    /// Private key that authenticates.
    AuthenticationKey,
    /// Cardholder certificate (7F21).
    Certificate,
    /// Name of the cardholder (5B).
    Name,
    /// Login data (5E).
    LoginData,
    /// URL of the public key (5F50).
    Url,
    /// Fingerprints of the three keys (C5).
    Fingerprints,
    /// Object for private use (0101 to 0104).
    PrivateUse,
}

impl ObjectId {
    /// Every object.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The private keys.
    pub const KEYS: [Self; 3] = [
        Self::SignatureKey,
        Self::DecryptionKey,
        Self::AuthenticationKey,
    ];
    /// The PIN error counters.
    pub const PIN_COUNTERS: [Self; 3] = [
        Self::UserPinErrors,
        Self::ResetCodeErrors,
        Self::AdminPinErrors,
    ];
    /// The data objects of the pool.
    pub const DATA: [Self; 5] = [
        Self::Name,
        Self::LoginData,
        Self::Url,
        Self::Fingerprints,
        Self::PrivateUse,
    ];

    /// Returns true for private keys, whose old values must not stay readable.
    pub fn is_sensitive(self) -> bool {
        Self::KEYS.contains(&self)
    }

    /// Returns true for the signature counter and the PIN error counters, which are never absent.
    pub fn is_counter(self) -> bool {
        self == Self::SignatureCounter || Self::PIN_COUNTERS.contains(&self)
    }

    /// Longest value in bytes.
    pub fn max_bytes(self) -> usize {
        match self {
            Self::SignatureCounter => 3,
            Self::UserPinErrors | Self::ResetCodeErrors | Self::AdminPinErrors => 1,
            Self::SignatureKey | Self::DecryptionKey | Self::AuthenticationKey => MAX_KEY_BYTES,
            Self::Certificate => 1200,
            Self::Name => 39,
            Self::LoginData => 64,
            Self::Url => 128,
            Self::Fingerprints => 60,
            Self::PrivateUse => 250,
        }
    }

    /// Checks a value before it is stored.
    pub(crate) fn check(self, value: &[u8]) -> Result<()> {
        if (1..=self.max_bytes()).contains(&value.len()) {
            return Ok(());
        }
        Err(StorageError::Value {
            object: self,
            length: value.len(),
        })
    }
}
