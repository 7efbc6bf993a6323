//! Files of a configuration, and patterns that stand for several.

use std::fs;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use keymark_bench::outside::read;
use keymark_bench::{During as _, Error};

use super::Setting;
use super::advice::{Finding, Problem};

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
    /// Those that were not read.
    pub(super) findings: Vec<Finding>,
}

impl Included {
    /// An included file's text, with `left` to be called behind it; none where it cannot be read or there are too many, which
    /// is said once: a file may be included many times.
    pub(super) fn enter(&mut self, file: PathBuf, including: &Setting) -> Option<String> {
        let may_be_read = self.depth < DEEPEST && self.read < MOST;
        if let Some(text) = may_be_read.then(|| read(&file).ok()).flatten() {
            self.depth += 1;
            self.read += 1;
            return Some(text);
        }
        let finding = Finding {
            at: including.at.clone(),
            problem: Problem::NotIncluded(file),
        };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
        None
    }

    /// It has been gone through.
    pub(super) const fn left(&mut self) {
        self.depth -= 1;
    }
}

/// A configuration's text.
pub(super) fn read(path: &Path) -> Result<String, Error> {
    let call = format!("reading {}", path.display());
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(Error::call(call, "it is not a file", ""));
    }
    let octets = read::bytes(path, LONGEST).during(call)?;
    Ok(String::from_utf8_lossy(&octets).into_owned())
}

/// The files that a path stands for, in their order, as glob(7) has it: nothing stands for the dot that a hidden file begins
/// with.
pub(super) fn matching(root: &Path, pattern: &str) -> Vec<PathBuf> {
    const OPTIONS: MatchOptions = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let whole = root.join(pattern);
    if !pattern.contains(['*', '?', '[']) {
        return if whole.is_dir() {
            matching(&whole, "*")
        } else {
            vec![whole]
        };
    }
    let root = Pattern::escape(&root.to_string_lossy());
    let pattern = Path::new(&root).join(pattern);
    let found = glob::glob_with(&pattern.to_string_lossy(), OPTIONS);
    let found = found.into_iter().flatten().flatten();
    found.filter(|path| path.is_file()).collect()
}
