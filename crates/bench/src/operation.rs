//! The private-key operations.

use crate::words::words;

words! {
    /// Operation with a private key.
    pub enum Operation("operation") {
        /// Decryption of a message's session key; for ECDH, the shared secret it hangs on.
        Decrypt = "decrypt",
        /// A signature.
        Sign = "sign",
        /// A signature that authenticates (INTERNAL AUTHENTICATE, ssh).
        Authenticate = "authenticate",
        /// A shared secret out of a KEM ciphertext.
        Decapsulate = "decapsulate",
        /// Full TLS handshake.
        Handshake = "handshake",
    }
}

impl Operation {
    /// Returns true if what comes out is a signature, which anybody can check with the public key.
    pub const fn signs(self) -> bool {
        match self {
            Self::Sign | Self::Authenticate => true,
            Self::Decrypt | Self::Decapsulate | Self::Handshake => false,
        }
    }
}
