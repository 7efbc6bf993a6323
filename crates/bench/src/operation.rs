//! The private-key operations.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// What is asked of a private key.
    pub enum Operation("operation") {
        /// Decryption of a message's session key; for ECDH, the shared secret it hangs on.
        Decrypt = "decrypt",
        /// A signature.
        Sign = "sign",
        /// A signature that authenticates (INTERNAL AUTHENTICATE, ssh).
        Authenticate = "authenticate",
        /// A shared secret (ECDH).
        Derive = "derive",
        /// A shared secret out of a KEM ciphertext.
        Decapsulate = "decapsulate",
        /// One full TLS handshake.
        Handshake = "handshake",
        /// A new key pair.
        Keygen = "keygen",
    }
}
