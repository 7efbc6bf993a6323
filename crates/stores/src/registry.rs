//! The families of key stores: adding one is a folder and a line here.

use crate::device::StoreFamily;
#[cfg(feature = "openpgp-card")]
use crate::openpgp_card::OpenpgpCardFamily;
#[cfg(feature = "pkcs11")]
use crate::pkcs11::Pkcs11Family;
use crate::software::SoftwareFamily;
#[cfg(feature = "tpm")]
use crate::tpm::TpmFamily;

/// In the order of tables.
pub const FAMILIES: &[&dyn StoreFamily] = &[
    &SoftwareFamily,
    #[cfg(feature = "openpgp-card")]
    &OpenpgpCardFamily,
    #[cfg(feature = "pkcs11")]
    &Pkcs11Family,
    #[cfg(feature = "tpm")]
    &TpmFamily,
];
