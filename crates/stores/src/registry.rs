//! The families of key stores: adding one is a folder and a line here.

use keymark_bench::error::Error;

use crate::device::{Looked, StoreFamily, Wish};
use crate::user::User;

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

/// What all of them find.
pub fn look(wish: &Wish, user: &User) -> Result<Looked, Error> {
    let mut all = Looked::default();
    for family in FAMILIES {
        let looked = family.look(wish, user)?;
        all.devices.extend(looked.devices);
        all.known.extend(looked.known);
        all.unseen = all.unseen.or(looked.unseen);
        all.occupied.extend(looked.occupied);
        all.visited.extend(looked.visited);
    }
    Ok(all)
}
