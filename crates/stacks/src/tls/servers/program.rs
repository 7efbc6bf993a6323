//! Programs that serve: where they are, and their versions.

use std::fmt;
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;
use keymark_stores::places::program;

/// Where a program is to be had.
#[derive(Debug, Clone, Copy)]
pub enum BroughtBy {
    /// A package of Debian and Ubuntu.
    Package(&'static str),
    /// In another way, in words.
    Other(&'static str),
}

/// A program that may be installed.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// As people call it.
    pub name: &'static str,
    /// Its file's name, by distributions.
    pub files: &'static [&'static str],
    /// Where to get it.
    pub brought_by: BroughtBy,
    /// What it is asked for its version, and what stands before that in the answer: the first that is there.
    pub version: &'static [(&'static str, &'static str)],
}

impl Program {
    /// Looks for it, and asks it for its version.
    ///
    /// # Errors
    /// When it is missing, with what brings it.
    pub fn find(self, search: &SearchPath) -> Result<(PathBuf, Version), Error> {
        let mut files = self.files.iter();
        let program = files.find_map(|file| search.find(file));
        let program = program.ok_or_else(|| self.missing(format!("not in {search}")))?;
        for (option, mark) in self.version {
            let said = said(&program, option).map_err(|reason| self.missing(reason))?;
            if let Some(version) = Version::behind(mark, &said) {
                return Ok((program, version));
            }
        }
        Err(self.missing(format!("'{}' contains no version", program.display())))
    }

    pub(crate) fn missing(self, reason: String) -> Error {
        Error::Missing {
            what: self.name.to_owned(),
            reason,
            advice: match self.brought_by {
                BroughtBy::Package(package) => {
                    format!("install it with 'apt-get install {package}' (Debian, Ubuntu)")
                }
                BroughtBy::Other(how) => how.to_owned(),
            },
        }
    }
}

/// What a program says of itself.
pub(crate) fn said(program: &Path, option: &str) -> Result<String, String> {
    let said = program::command(program)
        .arg(option)
        .output()
        .map_err(|error| error.to_string())?;
    // nginx tells it on its standard error.
    let said = [said.stdout, said.stderr].concat();
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// Where programs are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath(Vec<PathBuf>);

impl SearchPath {
    /// `PATH`, the directories of administrators' programs, which are not in everybody's, and what `make` has built beside
    /// this program or a test of it.
    pub fn usual() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let administrators = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
        let own = std::env::current_exe().unwrap_or_default();
        let target = |directory: &&Path| directory.file_name().is_some_and(|name| name == "target");
        let built = own.ancestors().find(target);
        let built = built.map(|target| target.join("tools/bin"));
        let all = std::env::split_paths(&path).chain(administrators);
        Self(all.chain(built).collect())
    }

    /// That directory alone.
    pub fn only(directory: &Path) -> Self {
        Self(vec![directory.to_owned()])
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let mut directories = self.0.iter();
        directories.find_map(|directory| program::locate(Some(directory), program))
    }
}

impl fmt::Display for SearchPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A user's PATH is long, and known to its user.
        if *self == Self::usual() {
            return f.write_str("PATH, /usr/sbin, /usr/local/sbin or target/tools/bin");
        }
        let directories: Vec<String> = self
            .0
            .iter()
            .map(|directory| directory.display().to_string())
            .collect();
        f.write_str(&directories.join(":"))
    }
}

/// `2.4.71`, `3.0.19`, `2.6.12-1+deb12u4`: ordered by its first three numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    numbers: [u32; 3],
    text: String,
}

impl Version {
    /// The version at the beginning of the text, up to a space or parenthesis; none where there is no number.
    pub fn read(text: &str) -> Option<Self> {
        let text: &str = text
            .split(|letter: char| letter.is_whitespace() || letter == '(')
            .next()?;
        let mut numbers = [0; 3];
        for (number, part) in numbers.iter_mut().zip(text.splitn(3, '.')) {
            let end = part.find(|letter: char| !letter.is_ascii_digit());
            *number = part[..end.unwrap_or(part.len())].parse().ok()?;
        }
        Some(Self {
            numbers,
            text: text.to_owned(),
        })
    }

    /// What stands behind `mark` in what a program says.
    pub fn behind(mark: &str, said: &str) -> Option<Self> {
        Self::read(said.split_once(mark)?.1)
    }

    /// Whether it is that one or a later one.
    pub fn is_at_least(&self, major: u32, minor: u32, patch: u32) -> bool {
        self.numbers >= [major, minor, patch]
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        let said = "Server version: Apache/2.4.71 (Debian)\n";
        let apache = Version::behind("Apache/", said).unwrap();
        assert_eq!(apache.to_string(), "2.4.71");
        assert!(apache.is_at_least(2, 4, 9) && !apache.is_at_least(2, 5, 0));
        let haproxy = Version::read("2.6.12-1+deb12u4 2026/10/17").unwrap();
        assert!(haproxy.is_at_least(2, 6, 12) && haproxy.to_string() == "2.6.12-1+deb12u4");
        assert!(Version::read("3.2").unwrap().is_at_least(3, 2, 0));
        assert_eq!(Version::read("unknown"), None);
    }
}
