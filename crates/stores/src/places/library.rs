//! Libraries of keymark's own that other programs load.

use std::path::{Path, PathBuf};

use keymark_bench::Error;

/// Debian's name of the architecture that this is built for, as directories of libraries have it: `x86_64-linux-gnu`.
pub const MULTIARCH: &str = env!("KEYMARK_MULTIARCH");

/// Places relative to the program's directory: a tarball and a package put what belongs to it there.
const INSTALLED: [&str; 2] = [
    "../lib/keymark",
    concat!("../lib/", env!("KEYMARK_MULTIARCH"), "/keymark"),
];

/// A library of keymark's own.
#[derive(Debug, Clone, Copy)]
pub struct OwnLibrary {
    /// Its file's name.
    pub file: &'static str,
    /// The variable that names another place for it.
    pub variable: &'static str,
    /// The package that makes it.
    pub package: &'static str,
    /// Purpose, behind its name: `through which scdaemon reaches a card`.
    pub purpose: &'static str,
}

impl OwnLibrary {
    /// PC/SC traced, or answered by a served card.
    pub const PCSC: Self = Self {
        file: "libkeymark_pcsc.so",
        variable: "KEYMARK_PCSC_DRIVER",
        package: "keymark-pcsc",
        purpose: "through which scdaemon reaches a card",
    };
    /// Module in front of another PKCS#11 module.
    pub const PKCS11: Self = Self {
        file: "libkeymark_pkcs11.so",
        variable: "KEYMARK_PKCS11_LIBRARY",
        package: "keymark-pkcs11",
        purpose: "which traces or twins a PKCS#11 module",
    };

    /// Finds it next to the program (cargo's target directory), or where a package puts it.
    pub fn find(&self) -> Result<PathBuf, Error> {
        let Self {
            file,
            variable,
            package,
            purpose,
        } = self;
        if let Some(path) = std::env::var_os(variable) {
            return Ok(path.into());
        }
        let missing = |reason: String| Error::Missing {
            what: format!("{file}, {purpose},"),
            reason,
            advice: format!(
                "'make build' makes it (cargo build --release -p {package}); ${variable} sets another path"
            ),
        };
        let program = std::env::current_exe().map_err(|error| missing(error.to_string()))?;
        beside(&program, ["", "deps", ".."], file)
            .ok_or_else(|| missing(format!("it is not next to {}", program.display())))
    }
}

/// The file in those places relative to the program's directory, or where it is installed.
pub(crate) fn beside(program: &Path, places: [&str; 3], file: &str) -> Option<PathBuf> {
    let places = places.into_iter().chain(INSTALLED);
    let mut files = places.map(|place| program.parent().unwrap_or(program).join(place).join(file));
    let found = files.find(|path| path.is_file())?;
    Some(found.canonicalize().unwrap_or(found))
}
