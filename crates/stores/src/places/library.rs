//! Libraries of keymark's own that other programs load.

use std::path::PathBuf;

use keymark_bench::error::Error;

/// One of them.
#[derive(Debug, Clone, Copy)]
pub struct OwnLibrary {
    /// Its file's name.
    pub file: &'static str,
    /// The variable that names another place for it.
    pub variable: &'static str,
    /// The package that makes it.
    pub package: &'static str,
    /// What it is for, behind its name: `through which scdaemon reaches a card`.
    pub purpose: &'static str,
}

impl OwnLibrary {
    /// Where it is: beside the program (cargo's target directory), or where a package puts it.
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
        let beside = program.parent().unwrap_or(&program);
        let places =
            ["", "deps", "..", "../lib/keymark"].map(|place| beside.join(place).join(file));
        let found = places.iter().find(|path| path.is_file()).cloned();
        found.ok_or_else(|| missing(format!("it is not beside {}", program.display())))
    }
}
