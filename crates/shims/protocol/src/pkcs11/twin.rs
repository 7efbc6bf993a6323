//! Recognition of a twin.

/// Return code of a twin that its machine is too slow to imitate: vendor-defined (PKCS#11 3.2 §5.1), "KM" and 1.
pub const CKR_TWIN_TOO_FAST: u32 = 0x8B4D_0001;

// Programs that load its module recognize a twin by what the module says of itself, since the token behind it is
// another's.

/// Octets of `libraryDescription` in a `CK_INFO` (PKCS#11 3.1 §3.1), padded with blanks.
pub const DESCRIPTION: usize = 32;

const TWIN: &str = "keymark's twin:";

/// Returns the description that a twin's module gives of itself: the device, as far as there is room for its name.
pub fn description(device: &str) -> [u8; DESCRIPTION] {
    let text = format!("{TWIN}{device}");
    let mut ends = (0..=DESCRIPTION).rev();
    let fits = ends.find_map(|end| text.get(..end)).unwrap_or_default();
    let mut description = [b' '; DESCRIPTION];
    description[..fits.len()].copy_from_slice(fits.as_bytes());
    description
}

/// The device whose twin a module is, by the description that it gives: `nitrokey-hsm`.
pub fn device(description: &str) -> Option<&str> {
    description.strip_prefix(TWIN).map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_is_told_by_what_its_module_says() {
        let said = |device| String::from_utf8(super::description(device).to_vec()).unwrap();
        assert_eq!(device(&said("nitrokey-hsm")), Some("nitrokey-hsm"));
        assert_eq!(device("Implementation of PKCS11"), None);
        // As much of a long name as there is room for, and no half of a letter.
        assert_eq!(
            device(&said("a-device-with-a-long-name")),
            Some("a-device-with-a-l")
        );
        assert_eq!(
            device(&said("0123456789abcdef\u{e9}")),
            Some("0123456789abcdef")
        );
    }
}
