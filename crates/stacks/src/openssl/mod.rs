//! The stack `openssl`: one `openssl pkeyutl` process an operation, with the key in a file, or on a PKCS#11 token by
//! libp11's engine or by pkcs11-provider.

mod challenge;
mod key;
mod layers;
mod process;
mod provider;
mod references;
mod way;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;

use crate::program;

pub use provider::FAMILY;
pub use way::OpenSslWay;

const PROGRAM: &str = "openssl";
/// The file of the engine and of the provider, in OpenSSL's directory for each.
const MODULE: &str = "pkcs11.so";

/// The installed OpenSSL.
#[derive(Debug, Clone)]
pub struct OpenSsl {
    program: PathBuf,
    /// `3.0.19`, of the program.
    pub version: String,
    engine: Result<PathBuf, Error>,
    provider: Result<PathBuf, Error>,
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
            engine: loadable(&said, "ENGINESDIR", OpenSslWay::Engine),
            provider: loadable(&said, "MODULESDIR", OpenSslWay::Provider),
            version,
            program,
        })
    }

    /// Its version.
    pub fn versions(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("openssl-program".to_owned(), self.version.clone())])
    }

    /// Whether it has that way to a key.
    pub fn has(&self, way: OpenSslWay) -> Result<(), Error> {
        match way {
            OpenSslWay::File => Ok(()),
            OpenSslWay::Engine => self.engine.as_ref().map(drop).map_err(Clone::clone),
            OpenSslWay::Provider => self.provider.as_ref().map(drop).map_err(Clone::clone),
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

/// What OpenSSL loads for that way, if it is there: `ENGINESDIR: "/usr/lib/x86_64-linux-gnu/engines-3"`.
fn loadable(said: &str, directory: &str, way: OpenSslWay) -> Result<PathBuf, Error> {
    let (what, advice) = match way {
        OpenSslWay::Provider => (
            "pkcs11-provider, through which OpenSSL reaches PKCS#11 tokens,",
            "install it with 'apt-get install pkcs11-provider' on Debian 13 and Ubuntu 24.04, and on Debian 12 from \
             bookworm-backports",
        ),
        OpenSslWay::Engine | OpenSslWay::File => (
            "libp11's engine, through which OpenSSL reaches PKCS#11 tokens,",
            "install it with 'apt-get install libengine-pkcs11-openssl' (Debian, Ubuntu)",
        ),
    };
    let missing = |reason: String| Error::Missing {
        what: what.to_owned(),
        reason,
        advice: advice.to_owned(),
    };
    let mut lines = said.lines();
    let directory = lines
        .find_map(|line| line.strip_prefix(directory)?.strip_prefix(':'))
        .map(|value| value.trim().trim_matches('"'))
        .ok_or_else(|| missing(format!("this OpenSSL has no {directory}")))?;
    let file = Path::new(directory).join(MODULE);
    if file.is_file() {
        Ok(file)
    } else {
        Err(missing(format!("there is no {}", file.display())))
    }
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
        let engine = loadable(said, "ENGINESDIR", OpenSslWay::Engine);
        let engine = engine.unwrap_err().to_string();
        assert_says(
            &engine,
            ["there is no /e/pkcs11.so", "libengine-pkcs11-openssl"],
        );
        let provider = loadable(said, "MODULESDIR", OpenSslWay::Provider);
        let provider = provider.unwrap_err().to_string();
        assert_says(&provider, ["no MODULESDIR", "install pkcs11-provider"]);
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
