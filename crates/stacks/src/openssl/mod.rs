//! The stack `openssl`: one `openssl pkeyutl` process an operation, with the key in a file, or on a PKCS#11 token by
//! libp11's engine or by pkcs11-provider.

mod challenge;
mod key;
mod layers;
mod loadable;
mod process;
mod provider;
mod references;
mod way;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;

use crate::program;

pub(crate) use loadable::Configuration;
pub use loadable::Loadables;
pub use provider::FAMILY;
pub use way::{OpenSslWay, TokenWay};

const PROGRAM: &str = "openssl";

/// The installed OpenSSL.
#[derive(Debug, Clone)]
pub struct OpenSsl {
    program: PathBuf,
    /// How it gets at keys on tokens; with its version, `3.0.19`.
    pub loadables: Loadables,
}

impl OpenSsl {
    /// Asks the installed one; it is looked for in `directory`, or along `PATH`.
    pub fn find(directory: Option<&Path>) -> Result<Self, Error> {
        let place = directory.map_or_else(|| "PATH".into(), Path::to_string_lossy);
        let program = program::locate(directory, PROGRAM)
            .ok_or_else(|| missing(format!("not in {place}")))?;
        let said = program::command(&program)
            .args(["version", "-v", "-e", "-m"])
            .output()
            .map_err(|error| missing(error.to_string()))?;
        let said = String::from_utf8_lossy(&said.stdout);
        let version = version(&said)
            .ok_or_else(|| missing(format!("openssl version says '{}'", said.trim_end())))?;
        Ok(Self {
            loadables: Loadables {
                version,
                engines: directory_of(&said, "ENGINESDIR"),
                providers: directory_of(&said, "MODULESDIR"),
            },
            program,
        })
    }

    /// Its version.
    pub fn versions(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("openssl-program".to_owned(), self.loadables.version.clone())])
    }

    /// Whether it has that way to a key.
    pub fn has(&self, way: OpenSslWay) -> Result<(), Error> {
        match way.to_token() {
            None => Ok(()),
            Some(way) => self.loadables.get(way).map(drop),
        }
    }
}

fn missing(reason: String) -> Error {
    Error::Missing {
        what: PROGRAM.to_owned(),
        reason,
        advice: "install it with 'apt-get install openssl' (Debian, Ubuntu)".to_owned(),
    }
}

/// `OpenSSL 3.0.19 27 Jan 2026 (Library: …)`. LibreSSL's program has other options.
fn version(said: &str) -> Option<String> {
    let mut lines = said.lines();
    let version = lines.find_map(|line| line.strip_prefix("OpenSSL "))?;
    version.split(' ').next().map(str::to_owned)
}

/// `ENGINESDIR: "/usr/lib/x86_64-linux-gnu/engines-3"`
fn directory_of(said: &str, name: &str) -> Option<PathBuf> {
    let mut lines = said.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(PathBuf::from(value.trim().trim_matches('"')))
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn what_the_program_says_of_itself_is_read() {
        let said = "OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)\nENGINESDIR: \"/e\"\n";
        assert_eq!(version(said).unwrap(), "3.0.19");
        assert_eq!(version("LibreSSL 3.8.2\n"), None);
        assert_eq!(directory_of(said, "ENGINESDIR"), Some("/e".into()));
        assert_eq!(directory_of(said, "MODULESDIR"), None);
    }

    #[test]
    fn what_is_missing_names_the_package_that_brings_it() {
        let loadables = Loadables {
            version: "3.0.19".to_owned(),
            engines: Some("/e".into()),
            providers: None,
        };
        let missing = |way| loadables.get(way).unwrap_err().to_string();
        let engine = missing(TokenWay::Engine);
        assert_says(
            &engine,
            ["there is no /e/pkcs11.so", "libengine-pkcs11-openssl"],
        );
        let provider = missing(TokenWay::Provider);
        assert_says(
            &provider,
            ["3.0.19 has no place", "install pkcs11-provider"],
        );
        assert_eq!(loadables.usual_way(), TokenWay::Engine);
    }

    #[test]
    fn a_missing_program_names_the_command_that_brings_it() {
        let error = OpenSsl::find(Some(Path::new("/nonexistent")))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("openssl is missing here: not in /nonexistent")
                && error.contains("apt-get install openssl"),
            "{error}"
        );
    }
}
