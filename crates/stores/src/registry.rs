//! The families of key stores: adding one is a folder and a line here.

use crate::device::StoreFamily;

/// In the order of tables.
pub const FAMILIES: &[&dyn StoreFamily] = &[
    &crate::software::device::SoftwareFamily,
    #[cfg(feature = "openpgp-card")]
    &crate::openpgp_card::OpenpgpCardFamily,
    #[cfg(feature = "pkcs11")]
    &crate::pkcs11::Pkcs11Family,
    #[cfg(feature = "tpm")]
    &crate::tpm::TpmFamily,
];
