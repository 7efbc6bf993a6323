//! The stack `openssl`: one `openssl pkeyutl` process an operation, with the key in a file, or on a PKCS#11 token by
//! libp11's engine or by pkcs11-provider.

mod challenge;
pub(crate) mod key;
mod process;
mod provider;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use askama::Template;
use keymark_bench::Error;
use memchr::memmem;

use crate::installed::{Program, SearchPath, Version};
use crate::templates::{Comments, plain, written};

pub use provider::{FAMILY, OpenSslWay, TokenWay};

/// The program.
pub(crate) const PROGRAM: Program = Program::of_package("openssl", &["openssl"], "openssl");

/// The installed OpenSSL.
#[derive(Debug, Clone)]
pub struct OpenSsl {
    program: PathBuf,
    /// Version of the build.
    pub build: OpenSslBuild,
}

impl OpenSsl {
    /// Asks the installed one.
    pub fn find() -> Result<Self, Error> {
        let program = PROGRAM.locate(&SearchPath::of(None))?;
        let said = PROGRAM.said(&program, &["version", "-v", "-e", "-m"])?;
        let build = OpenSslBuild::read(said.as_bytes()).ok_or_else(|| {
            PROGRAM.missing(format!("openssl version says '{}'", said.trim_end()))
        })?;
        Ok(Self { program, build })
    }

    /// Its version.
    pub fn versions(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("openssl-program".to_owned(), self.build.version.to_string())])
    }
}

/// The file of libp11's engine and of pkcs11-provider, which make OpenSSL reach tokens, in OpenSSL's directory for each.
const MODULE: &str = "pkcs11.so";

/// OpenSSL build with the directories of its modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSslBuild {
    /// `3.0.19`
    pub version: Version,
    /// The directory of engines.
    pub engines: Option<PathBuf>,
    /// Directory of providers.
    pub providers: Option<PathBuf>,
}

impl OpenSslBuild {
    /// What is written in a library, and said by its program: `OpenSSL 3.0.19 27 Jan 2026 (Library: …)`,
    /// `ENGINESDIR: "/usr/lib/x86_64-linux-gnu/engines-3"`. None of LibreSSL, whose program has other options.
    pub(crate) fn read(content: &[u8]) -> Option<Self> {
        let version = starts(content, b"OpenSSL ")
            .find_map(|text| Version::read(text).filter(|version| version.is_at_least(1, 0, 0)))?;
        let directory = |name: &[u8]| {
            let text = starts(content, name).next()?;
            let text = text.trim_start_matches(": \"");
            Some(PathBuf::from(text.split('"').next()?))
        };
        Some(Self {
            engines: directory(b"ENGINESDIR"),
            providers: directory(b"MODULESDIR"),
            version,
        })
    }

    /// Returns the module for that way to a token.
    ///
    /// # Errors
    /// When it is not there, with the package that brings it.
    pub fn get(&self, way: TokenWay) -> Result<PathBuf, Error> {
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
            what: format!("{what}, through which OpenSSL reaches PKCS#11 tokens,"),
            reason,
            advice: advice.to_owned(),
        };
        let directory = directory.as_ref();
        let directory = directory
            .ok_or_else(|| missing(format!("OpenSSL {} has no place for it", self.version)))?;
        let file = directory.join(MODULE);
        if file.is_file() {
            Ok(file)
        } else {
            Err(missing(format!("there is no {}", file.display())))
        }
    }

    /// Writes the configuration for keys behind a module, which `OPENSSL_CONF` names. The provider finds the PIN in that
    /// file, unless the key's URI names one; `init` says whether the engine is initialized at once: 1 or 0.
    pub(crate) fn configuration(
        &self,
        way: TokenWay,
        module: &Path,
        pin_file: Option<&str>,
        init: u8,
        comments: Comments,
    ) -> Result<String, Error> {
        let loadable = self.get(way)?;
        let configuration = OpensslConfig {
            way,
            loadable: plain("the engine's or provider's file", &loadable)?,
            module: plain("the PKCS#11 module's file", module)?,
            pin_file,
            init,
        };
        written(&configuration, comments)
    }

    /// The way to tokens where nobody chooses: distributions have one or the other, and the provider can do more.
    pub fn usual_way(&self) -> TokenWay {
        if self.get(TokenWay::Provider).is_ok() {
            TokenWay::Provider
        } else {
            TokenWay::Engine
        }
    }
}

/// The text behind each place of `mark`, up to a NUL or the end of its line.
fn starts<'c>(content: &'c [u8], mark: &'c [u8]) -> impl Iterator<Item = &'c str> {
    memmem::find_iter(content, mark).filter_map(move |at| {
        let behind = content.get(at + mark.len()..)?;
        let end = behind
            .iter()
            .take(256)
            .position(|octet| matches!(octet, 0 | b'\n'))?;
        std::str::from_utf8(behind.get(..end)?).ok()
    })
}

/// Configuration of OpenSSL, with paths of letters that mean nothing in it.
#[derive(Template)]
#[template(path = "openssl.cnf", escape = "none")]
struct OpensslConfig<'p> {
    way: TokenWay,
    loadable: &'p str,
    module: &'p str,
    pin_file: Option<&'p str>,
    init: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_openssl_says_of_itself_is_read() {
        let said = b"OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)\nENGINESDIR: \"/e\"\n";
        let program = OpenSslBuild::read(said).unwrap();
        assert_eq!(program.version.to_string(), "3.0.19");
        assert_eq!(program.engines, Some("/e".into()));
        assert_eq!(program.providers, None);
        let content = b"\0OpenSSL default\0x\0OpenSSL 3.0.19 27 Jan 2026\0ENGINESDIR: \"/e\"\0MODULESDIR: \"/m\"\0";
        let library = OpenSslBuild::read(content).unwrap();
        assert_eq!(library.version.to_string(), "3.0.19");
        assert_eq!(library.engines, Some("/e".into()));
        assert_eq!(library.providers, Some("/m".into()));
        for other in [&b"LibreSSL 3.8.2\0"[..], b"LibreSSL 3.8.2\n"] {
            assert_eq!(OpenSslBuild::read(other), None);
        }
    }
}
