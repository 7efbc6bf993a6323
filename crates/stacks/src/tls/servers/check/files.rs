//! Files of a configuration, and patterns that stand for several.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;

/// More than a configuration ever has.
const LONGEST: u64 = 4 << 20;
/// Files that include each other.
const DEEPEST: u32 = 8;
/// Files of one configuration.
const MOST: u32 = 1000;

/// What keeps files that include themselves from being read for ever.
#[derive(Debug, Default)]
pub(super) struct Included {
    depth: u32,
    read: u32,
}

impl Included {
    /// An included file's text, with `left` to be called behind it; none where it cannot be read or there are too many.
    pub(super) fn enter(&mut self, file: &Path) -> Option<String> {
        if self.depth >= DEEPEST || self.read >= MOST {
            return None;
        }
        let text = read(file).ok()?;
        self.depth += 1;
        self.read += 1;
        Some(text)
    }

    /// It has been gone through.
    pub(super) const fn left(&mut self) {
        self.depth -= 1;
    }
}

/// A configuration's text.
pub(super) fn read(path: &Path) -> Result<String, Error> {
    let failed = |reason: String| Error::call(format!("reading {}", path.display()), reason, "");
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    if file.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Err(failed("it is not a file".to_owned()));
    }
    let mut octets = Vec::new();
    file.take(LONGEST + 1)
        .read_to_end(&mut octets)
        .map_err(|error| failed(error.to_string()))?;
    if octets.len() as u64 > LONGEST {
        return Err(failed("it is too long for a configuration".to_owned()));
    }
    Ok(String::from_utf8_lossy(&octets).into_owned())
}

/// The files that a path stands for, in their order: `*` and `?` in its last part.
pub(super) fn matching(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let whole = root.join(pattern);
    let name = whole
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let (Some(directory), Some(name)) = (whole.parent(), name) else {
        return Vec::new();
    };
    if !name.contains(['*', '?']) {
        return if whole.is_dir() {
            matching(&whole, "*")
        } else {
            vec![whole]
        };
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let entry = entry.file_name();
            fits(name.as_bytes(), entry.as_encoded_bytes())
        })
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    found.sort_unstable();
    found
}

/// Whether a name fits a pattern; nothing stands for the dot that a hidden file begins with.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    // The usual way back to the last star keeps this from taking exponential time.
    let (mut at, mut star) = ((0, 0), None);
    while at.1 < name.len() {
        match pattern.get(at.0) {
            Some(b'*') => {
                star = Some(at);
                at.0 += 1;
            }
            Some(b'?') => at = (at.0 + 1, at.1 + 1),
            Some(letter) if *letter == name[at.1] => at = (at.0 + 1, at.1 + 1),
            Some(_) | None => match &mut star {
                Some(last) => {
                    last.1 += 1;
                    at = (last.0 + 1, last.1);
                }
                None => return false,
            },
        }
    }
    pattern[at.0..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_shells() {
        let yes = [
            ("*", "a"),
            ("*.conf", "a.conf"),
            ("a*b?d", "axxbcd"),
            ("a", "a"),
            ("**", ""),
        ];
        for (pattern, name) in yes {
            assert!(
                fits(pattern.as_bytes(), name.as_bytes()),
                "{pattern} {name}"
            );
        }
        for (pattern, name) in [("*.conf", "a.con"), ("*", ".a"), ("?", ""), ("a?", "a")] {
            assert!(
                !fits(pattern.as_bytes(), name.as_bytes()),
                "{pattern} {name}"
            );
        }
        let stars = "*a".repeat(30);
        assert!(!fits(stars.as_bytes(), "a".repeat(29).as_bytes()));
    }
}
