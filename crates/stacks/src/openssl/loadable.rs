//! What makes OpenSSL reach tokens: libp11's engine and pkcs11-provider, where they are, and the configuration that loads
//! them.

use std::path::PathBuf;

use askama::Template;
use keymark_bench::error::Error;

use super::way::TokenWay;

/// The file of the engine and of the provider, in OpenSSL's directory for each.
const MODULE: &str = "pkcs11.so";

/// Where one OpenSSL looks for what it loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loadables {
    /// Which OpenSSL.
    pub version: String,
    /// The directory of engines.
    pub engines: Option<PathBuf>,
    /// That of providers.
    pub providers: Option<PathBuf>,
}

impl Loadables {
    /// What it loads for that way to a token.
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

    /// The way to tokens where nobody chooses: distributions have one or the other, and the provider can do more.
    pub fn usual_way(&self) -> TokenWay {
        if self.get(TokenWay::Provider).is_ok() {
            TokenWay::Provider
        } else {
            TokenWay::Engine
        }
    }
}

/// OpenSSL's configuration, which `OPENSSL_CONF` names. Its paths have no letters that mean something there.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "openssl.cnf", escape = "none")]
pub(crate) struct Configuration<'p> {
    pub(crate) way: TokenWay,
    /// The engine's or provider's file.
    pub(crate) loadable: &'p str,
    /// The PKCS#11 module.
    pub(crate) module: &'p str,
    /// Where the provider finds the PIN, if not by the key's URI.
    pub(crate) pin_file: Option<&'p str>,
    /// Whether the engine is made ready at once: 1 or 0.
    pub(crate) init: u8,
}
