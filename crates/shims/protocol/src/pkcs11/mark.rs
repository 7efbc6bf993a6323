//! How a twin is recognised by whoever loads its module: by what the module says of itself, since the token behind it
//! is another's.

/// Octets of `libraryDescription` in a `CK_INFO` (PKCS#11 3.1 §3.1), padded with blanks.
pub const DESCRIPTION: usize = 32;

const TWIN: &str = "keymark's twin:";

/// What the module of a twin says of itself: the device, as far as there is room for its name.
pub fn of_twin(device: &str) -> [u8; DESCRIPTION] {
    let mut description = [b' '; DESCRIPTION];
    let mut length = 0;
    for letter in TWIN.chars().chain(device.chars()) {
        let end = length + letter.len_utf8();
        let Some(place) = description.get_mut(length..end) else {
            break;
        };
        letter.encode_utf8(place);
        length = end;
    }
    description
}

/// The device whose twin a module is, by the description that it gives: `nitrokey-hsm`.
pub fn twin(description: &str) -> Option<&str> {
    description.strip_prefix(TWIN).map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_is_told_by_what_its_module_says() {
        let said = |device| String::from_utf8(of_twin(device).to_vec()).unwrap();
        assert_eq!(twin(&said("nitrokey-hsm")), Some("nitrokey-hsm"));
        assert_eq!(twin("Implementation of PKCS11"), None);
        // As much of a long name as there is room for, and no half of a letter.
        assert_eq!(
            twin(&said("a-device-with-a-long-name")),
            Some("a-device-with-a-l")
        );
        assert_eq!(
            twin(&said("0123456789abcdef\u{e9}")),
            Some("0123456789abcdef")
        );
    }
}
