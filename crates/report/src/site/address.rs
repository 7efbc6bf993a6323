//! Names that are safe in addresses and on every file system, and that no two things share.

use sha2::{Digest, Sha256};

/// Letters of the part for people.
const LONGEST: usize = 48;
/// Octets of the hash: so many that nobody meets another name with the same ones by chance.
const OCTETS: usize = 10;

/// Lower-case letters, digits and single hyphens, as `text` has them; nothing where it has none.
fn readable(text: &str) -> String {
    let mut readable = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            readable.push(c.to_ascii_lowercase());
        } else if !readable.is_empty() && !readable.ends_with('-') {
            readable.push('-');
        }
        if readable.len() == LONGEST {
            break;
        }
    }
    readable.trim_end_matches('-').to_owned()
}

/// A name for an address: what can be read of `text`, and a hash of all that it is made of. The parts are told apart by their
/// lengths, so that no other parts make the same text to be hashed.
pub(super) fn unique(text: &str, otherwise: &str, parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let readable = readable(text);
    let name = if readable.is_empty() {
        otherwise
    } else {
        &readable
    };
    format!("{name}-{}", hex::encode(&hash.finalize()[..OCTETS]))
}

/// Whether such a name could be one of [`unique`]'s: names that are given by hand must not.
pub(super) fn may_be_unique(name: &str) -> bool {
    name.rsplit('-').next().is_some_and(|last| {
        last.len() == 2 * OCTETS && last.bytes().all(|octet| octet.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_readable_stays_and_nothing_leads_elsewhere() {
        let name = unique("../../etc/passwd\0\n", "device", &["x"]);
        assert!(name.starts_with("etc-passwd-"), "{name}");
        assert!(may_be_unique(&name), "{name}");
        for empty in ["", "..", "/", "\u{202e}", "令牌", "🔑🔑"] {
            assert!(unique(empty, "device", &[empty]).starts_with("device-"));
        }
        let long = unique(&"a/".repeat(5_000), "device", &[]);
        assert!(long.len() <= LONGEST + 1 + 2 * OCTETS, "{long}");
        // Pinned: addresses that people cite are made of it.
        assert_eq!(
            unique(
                "Nitrokey Start",
                "device",
                &["device", "Nitrokey Start", ""]
            ),
            "nitrokey-start-afa3928edb57f85c1995"
        );
    }

    #[test]
    fn parts_are_told_apart() {
        let all = [
            &["ab", "c"][..],
            &["a", "bc"],
            &["abc"],
            &["abc", ""],
            &["", "abc"],
        ];
        let names: HashSet<String> = all.iter().map(|parts| unique("x", "x", parts)).collect();
        assert_eq!(names.len(), all.len());
    }

    proptest! {
        #[test]
        fn addresses_are_plain_and_only_the_same_name_has_the_same(a in any::<String>(), b in any::<String>()) {
            let of = |text: &str| unique(text, "device", &[text]);
            let name = of(&a);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            prop_assert!(name.chars().all(plain) && !name.starts_with('-'), "{}", name);
            prop_assert_eq!(name == of(&b), a == b);
        }
    }
}
