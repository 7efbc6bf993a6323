//! The OpenSSL that a program uses: found as the loader finds it, and asked by what is written in it.

use std::fs;
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;
use keymark_stores::places::program;

use crate::servers::identity::TokenWay;
use crate::servers::version::Version;

/// The file of the engine and of the provider, in OpenSSL's directory for each.
const MODULE: &str = "pkcs11.so";

/// An OpenSSL, as a library or within a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedOpenSsl {
    /// `3.0.19`
    pub version: Version,
    /// The file that holds it.
    pub file: PathBuf,
    engines: Option<PathBuf>,
    providers: Option<PathBuf>,
}

impl LinkedOpenSsl {
    /// Of a program or a library.
    ///
    /// # Errors
    /// When it uses none.
    pub fn of(file: &Path) -> Result<Self, Error> {
        // A program may have it built in: then it is no library of its own.
        let holder = linked_libcrypto(file).unwrap_or_else(|| file.to_owned());
        let content = fs::read(&holder)
            .map_err(|error| Error::call(format!("reading {}", holder.display()), error, ""))?;
        Self::in_content(&content, &holder).ok_or_else(|| Error::Missing {
            what: "OpenSSL".to_owned(),
            reason: format!("{} uses none", file.display()),
            advice: "the distribution's servers use it".to_owned(),
        })
    }

    fn in_content(content: &[u8], holder: &Path) -> Option<Self> {
        let version = starts(content, b"OpenSSL ")
            .find_map(|text| Version::read(text).filter(|version| version.is_at_least(1, 0, 0)))?;
        let directory = |name: &[u8]| {
            let text = starts(content, name).next()?;
            let text = text.trim_start_matches(": \"");
            Some(PathBuf::from(text.split('"').next()?))
        };
        Some(Self {
            version,
            file: holder.to_owned(),
            engines: directory(b"ENGINESDIR"),
            providers: directory(b"MODULESDIR"),
        })
    }

    /// The way to tokens where nobody chooses: distributions have one or the other, and the provider can do more.
    #[must_use]
    pub fn usual_way(&self) -> TokenWay {
        if self.loadable(TokenWay::Provider).is_ok() {
            TokenWay::Provider
        } else {
            TokenWay::Engine
        }
    }

    /// What it loads for that way to a token.
    ///
    /// # Errors
    /// When it is not there, with the package that brings it.
    pub fn loadable(&self, way: TokenWay) -> Result<PathBuf, Error> {
        let (directory, what, advice) = match way {
            TokenWay::Engine => (
                &self.engines,
                "libp11's engine",
                "install it with 'apt-get install libengine-pkcs11-openssl' (Debian, Ubuntu)",
            ),
            TokenWay::Provider => (
                &self.providers,
                "pkcs11-provider",
                "install it with 'apt-get install pkcs11-provider' on Debian 13 and Ubuntu 24.04, and on Debian 12 from \
                 bookworm-backports",
            ),
        };
        let missing = |reason: String| Error::Missing {
            what: format!("{what}, by which OpenSSL reaches PKCS#11 tokens,"),
            reason,
            advice: advice.to_owned(),
        };
        let directory = directory
            .as_ref()
            .ok_or_else(|| missing(format!("OpenSSL {} has no place for it", self.version)))?;
        let file = directory.join(MODULE);
        if file.is_file() {
            Ok(file)
        } else {
            Err(missing(format!("there is no {}", file.display())))
        }
    }
}

/// The text behind each place where `mark` stands, up to a NUL.
fn starts<'c>(content: &'c [u8], mark: &'c [u8]) -> impl Iterator<Item = &'c str> {
    let first = mark.first().copied().unwrap_or_default();
    let places = content
        .iter()
        .enumerate()
        .filter(move |(_, octet)| **octet == first);
    places.filter_map(move |(at, _)| {
        let behind = content.get(at..)?.strip_prefix(mark)?;
        let end = behind.iter().take(256).position(|octet| *octet == 0)?;
        std::str::from_utf8(behind.get(..end)?).ok()
    })
}

/// `libcrypto.so.3 => /lib/x86_64-linux-gnu/libcrypto.so.3 (0x…)`, as ldd(1) says.
fn linked_libcrypto(file: &Path) -> Option<PathBuf> {
    let ldd = program::locate(None, "ldd")?;
    let said = program::command(&ldd).arg(file).output().ok()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let line = said.lines().find(|line| line.contains("libcrypto.so"))?;
    let path = line.split_once("=> ")?.1.split(" (").next()?;
    Some(PathBuf::from(path.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_tells_version_and_directories() {
        let content = b"\0OpenSSL default\0x\0OpenSSL 3.0.19 27 Jan 2026\0ENGINESDIR: \"/e\"\0MODULESDIR: \"/m\"\0";
        let found = LinkedOpenSsl::in_content(content, Path::new("/lib")).unwrap();
        assert_eq!(found.version.to_string(), "3.0.19");
        let missing = |way| found.loadable(way).unwrap_err().to_string();
        let engine = missing(TokenWay::Engine);
        assert!(
            engine.contains("no /e/pkcs11.so") && engine.contains("libengine-pkcs11-openssl"),
            "{engine}"
        );
        let provider = missing(TokenWay::Provider);
        assert!(
            provider.contains("no /m/pkcs11.so") && provider.contains("install pkcs11-provider"),
            "{provider}"
        );
        assert_eq!(
            LinkedOpenSsl::in_content(b"LibreSSL 3.8.2\0", Path::new("/lib")),
            None
        );
    }
}
