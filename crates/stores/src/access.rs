//! How a program that is not keymark reaches a key: the device says where the key is, the stack says
//! which program asks.

use std::sync::Arc;

#[cfg(feature = "openpgp-card")]
use crate::openpgp_card::CardAccess;
#[cfg(feature = "pkcs11")]
use crate::pkcs11::ModuleAccess;
use crate::test_key::TestKey;
#[cfg(feature = "tpm")]
use crate::tpm::TpmAccess;

/// The way to a key.
#[derive(Debug, Clone)]
pub enum Access {
    /// The private key itself: a test key, to be written to a file in whatever form the program reads.
    File(Arc<TestKey>),
    /// A card in a reader.
    #[cfg(feature = "openpgp-card")]
    Card(Box<CardAccess>),
    /// A token behind a PKCS#11 module.
    #[cfg(feature = "pkcs11")]
    Module(Box<ModuleAccess>),
    /// A key of a TPM.
    #[cfg(feature = "tpm")]
    Tpm(Box<TpmAccess>),
}
