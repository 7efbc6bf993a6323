//! The files of a site; names that are safe in addresses and on every file system, and that no two things share.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// The list of all other files with their sums, as `sha256sum --check` reads it: what a site consists of, and whether
/// anybody has changed it.
pub const SUMS: &str = "SHA256SUMS";

/// Files by their paths below the site's directory, with `/` between their parts.
#[derive(Debug, Default)]
pub struct Pages(BTreeMap<String, Vec<u8>>);

/// Result of adding a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// There was none of that name.
    New,
    /// The very same is there already.
    Same,
}

/// Two files want the same place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "two different things would have the path {0}; one record was crafted for that: check the names in them"
)]
pub struct Collision(pub String);

impl Pages {
    /// Adds a file.
    ///
    /// # Errors
    /// When another one is there: nothing is ever put in the place of something else.
    pub fn add(&mut self, path: String, content: Vec<u8>) -> Result<Added, Collision> {
        match self.0.get(&path) {
            Some(known) if *known == content => Ok(Added::Same),
            Some(_) => Err(Collision(path)),
            None => {
                self.0.insert(path, content);
                Ok(Added::New)
            }
        }
    }

    /// Every file with its path; [`SUMS`] is not among them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0
            .iter()
            .map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// The content of [`SUMS`].
    pub fn sums(&self) -> String {
        self.iter()
            .map(|(path, content)| format!("{}  {path}\n", sum(content)))
            .collect()
    }
}

/// A file's sum, as it is in [`SUMS`].
pub fn sum(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

/// Letters of the part for people.
const LONGEST: usize = 48;
/// Octets of the hash: enough that no two names have the same by chance.
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

/// Tells if a name could be one of [`unique`]'s: names that are given by hand must not.
#[cfg(test)]
pub(super) fn may_be_unique(name: &str) -> bool {
    name.rsplit('-').next().is_some_and(|last| {
        last.len() == 2 * OCTETS && last.bytes().all(|octet| octet.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_takes_the_place_of_something_else() {
        let mut pages = Pages::default();
        assert_eq!(pages.add("a".to_owned(), b"x".to_vec()), Ok(Added::New));
        assert_eq!(pages.add("a".to_owned(), b"x".to_vec()), Ok(Added::Same));
        assert_eq!(
            pages.add("a".to_owned(), b"y".to_vec()),
            Err(Collision("a".to_owned()))
        );
        let sum = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        assert_eq!(pages.sums(), format!("{sum}  a\n"));
    }

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
}
