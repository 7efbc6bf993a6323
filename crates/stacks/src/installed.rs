//! Installed programs: where they are, what brings them where they are not, and their versions.

use std::path::{Path, PathBuf};

use keymark_bench::Error;

use crate::program;

/// Source of a program.
#[derive(Debug, Clone, Copy)]
pub enum BroughtBy {
    /// A package of Debian and Ubuntu.
    Package(&'static str),
    /// Description of another way.
    Other(&'static str),
}

/// A program that may be installed.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// Name for people.
    pub name: &'static str,
    /// Its file's name, by distributions.
    pub files: &'static [&'static str],
    /// Source of the program.
    pub brought_by: BroughtBy,
    /// Options that ask for the version, each with the text before it in the answer: the first match counts.
    pub version: &'static [(&'static str, &'static str)],
}

impl Program {
    /// Returns a program of a package, whose version its user reads.
    pub(crate) const fn of_package(
        name: &'static str,
        files: &'static [&'static str],
        package: &'static str,
    ) -> Self {
        Self {
            name,
            files,
            brought_by: BroughtBy::Package(package),
            version: &[],
        }
    }

    /// Looks for it.
    pub(crate) fn locate(self, search: &SearchPath) -> Result<PathBuf, Error> {
        let program = self.files.iter().find_map(|file| {
            search
                .directories
                .iter()
                .find_map(|directory| program::locate(Some(directory), file))
        });
        program.ok_or_else(|| self.missing(format!("not in {}", search.name)))
    }

    /// Looks for it, and asks it for its version.
    ///
    /// # Errors
    /// When it is missing, with what brings it.
    pub fn find(self, search: &SearchPath) -> Result<(PathBuf, Version), Error> {
        let program = self.locate(search)?;
        for (option, mark) in self.version {
            let said = self.said(&program, &[option])?;
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

    /// Returns the output of the program with these options.
    pub(crate) fn said(self, program: &Path, options: &[&str]) -> Result<String, Error> {
        let mut command = program::command(program);
        let said = program::run(command.args(options), program::QUESTION)
            .map_err(|error| self.missing(error.to_string()))?;
        // nginx and ssh tell it on their standard error.
        let said = [said.stdout, said.stderr].concat();
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}

/// Directories to search for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath {
    directories: Vec<PathBuf>,
    /// In messages: a user's PATH is long, and known to its user.
    name: String,
}

impl SearchPath {
    /// `PATH`, the directories of administrators' programs, which are not in everybody's, and what `make` has built next to
    /// this program or a test of it.
    pub fn usual() -> Self {
        let administrators = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
        let own = std::env::current_exe().unwrap_or_default();
        let target = |directory: &&Path| directory.file_name().is_some_and(|name| name == "target");
        let built = own.ancestors().find(target);
        let built = built.map(|target| target.join("tools/bin"));
        let path = Self::of(None).directories.into_iter();
        Self {
            directories: path.chain(administrators).chain(built).collect(),
            name: "PATH, /usr/sbin, /usr/local/sbin or target/tools/bin".to_owned(),
        }
    }

    /// Returns that directory alone, or `PATH`.
    pub fn of(directory: Option<&Path>) -> Self {
        let path = || std::env::var_os("PATH").unwrap_or_default();
        Self {
            directories: match directory {
                Some(directory) => vec![directory.to_owned()],
                None => std::env::split_paths(&path()).collect(),
            },
            name: directory
                .map_or("PATH".into(), Path::to_string_lossy)
                .into(),
        }
    }
}

/// `2.4.71`, `3.0.19`, `2.6.12-1+deb12u4`: ordered by its first three numbers.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
#[display("{text}")]
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

    /// Reads the version behind `mark` in a program's output.
    pub fn behind(mark: &str, said: &str) -> Option<Self> {
        Self::read(said.split_once(mark)?.1)
    }

    /// Returns true if it is that one or a later one.
    pub fn is_at_least(&self, major: u32, minor: u32, patch: u32) -> bool {
        self.numbers >= [major, minor, patch]
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
