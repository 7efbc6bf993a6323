//! The families of key stores: adding one is a folder and a line here.

use keymark_bench::Error;

use crate::device::{Looked, StoreFamily, Wish};
use crate::user::User;

/// In the order of tables.
pub const FAMILIES: &[StoreFamily] = &[
    crate::software::device::FAMILY,
    #[cfg(feature = "tokens")]
    crate::openpgp_card::FAMILY,
    #[cfg(feature = "tokens")]
    crate::pkcs11::FAMILY,
    #[cfg(feature = "tpm")]
    crate::tpm::FAMILY,
];

/// What all of them find.
pub fn look(wish: &Wish, user: &User) -> Result<Looked, Error> {
    let mut all = Looked::default();
    for family in FAMILIES {
        (family.look)(wish, user, &mut all)?;
    }
    Ok(all)
}
