//! The files of a site.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The list of all other files with their sums, as `sha256sum --check` reads it: what a site consists of, and whether
/// anybody has changed it.
pub const SUMS: &str = "SHA256SUMS";

/// Files by their paths below the site's directory, with `/` between their parts.
#[derive(Debug, Default)]
pub struct Pages(BTreeMap<String, Vec<u8>>);

/// What became of a file.
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
    "two different things would have the path {0}; one of the records was made for that: check the names in them"
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
        let files = self.0.iter();
        files.map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// The content of [`SUMS`].
    pub fn sums(&self) -> String {
        let mut sums = String::new();
        for (path, content) in self.iter() {
            let _ = writeln!(sums, "{}  {path}", sum(content));
        }
        sums
    }
}

/// A file's sum, as it stands in [`SUMS`].
pub fn sum(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
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
}
