//! The families of key stores: adding one is a folder and a line here.

use keymark_bench::{Error, Profile};

use crate::device::{Looked, StoreFamily, Wish};
use crate::user::User;

/// All families in the order of tables.
const FAMILIES: &[StoreFamily] = &[
    crate::software::device::look,
    #[cfg(feature = "cards")]
    crate::openpgp_card::look,
    crate::pkcs11::look,
    #[cfg(feature = "tpm")]
    crate::tpm::look,
    // For names that no family knows.
    crate::pkcs11::called,
];

/// Looks for devices of all families.
pub fn look(wish: &Wish, user: &User) -> Result<Looked, Error> {
    let mut all = Looked::default();
    for look in FAMILIES {
        look(wish, user, &mut all)?;
    }
    Ok(all)
}

/// Devices that need no hardware but a TPM, besides the software of this CPU and twins.
const MADE: [&str; 7] = [
    "software",
    "virtual",
    "softhsm",
    "kryoptic",
    "swtpm",
    "swtpm-esys",
    "tpm",
];

/// What a keymark says that was built without the feature `cards`.
pub const NO_CARDS: &str =
    "This keymark has no support for cards; build it with '--features cards'";

/// Why no device has that name: the feature that was left out, or the name that was meant.
pub fn unknown(name: &str) -> String {
    let no_device = format!("no device matches '{name}'");
    let lower = name.to_ascii_lowercase();
    if !cfg!(feature = "tpm") && ["tpm", "swtpm-esys"].contains(&&*lower) {
        return format!(
            "{no_device}. This keymark has no support for TPMs; build it with '--features tpm'"
        );
    }
    if !cfg!(feature = "cards") && (lower == "virtual" || lower.starts_with("twin:")) {
        return format!("{no_device}. {NO_CARDS}");
    }
    let twins = Profile::shipped().unwrap_or_default().into_iter();
    let twins = twins.map(|profile| format!("twin:{}", profile.name));
    let made = MADE.map(str::to_owned).into_iter();
    let is_meant = |known: &String| {
        let plain = known.trim_start_matches("twin:");
        plain.starts_with(lower.trim_start_matches("twin:"))
    };
    let meant: Vec<String> = made
        .chain(twins)
        .filter(|_| lower.len() > 2)
        .filter(is_meant)
        .collect();
    if meant.is_empty() {
        return format!("{no_device}; 'keymark devices' lists the available ones");
    }
    format!("{no_device}. Did you mean {}?", meant.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_right_is_set_right() {
        for (name, said) in [
            ("yubikey-4", "Did you mean twin:yubikey-4?"),
            ("softh", "Did you mean softhsm?"),
            ("no such card", "'keymark devices'"),
        ] {
            assert!(unknown(name).contains(said), "{}", unknown(name));
        }
    }
}
