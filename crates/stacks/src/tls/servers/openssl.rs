//! The OpenSSL that a server uses: found as the loader finds it, and asked by what is written in it; its configuration
//! for tokens, and what it cannot do.
//!
//! Keys on tokens: by the engine as `engine:pkcs11:URI` (nginx) and with `SSLCryptoDevice` (Apache); by the provider as a
//! PEM file with the URI, since mod_ssl, given a URI, would ask for the engine first. Sessions are off; with TLS 1.3
//! OpenSSL 3.0 sends two tickets all the same, which no server takes up again.

use std::fs;
use std::path::{Path, PathBuf};

use keymark_bench::algorithm::Family;
use keymark_bench::error::Error;
use keymark_load::{KeyExchange, TlsVersion};
use keymark_stores::places::program;

use crate::tls::servers::ciphers::{self, Authentication, Exchange, Suite};
use crate::tls::servers::error::{Impossible, ServerError};
use crate::tls::servers::identity::{KeyLocation, TokenWay};
use crate::tls::servers::kind::Installed;
use crate::tls::servers::program::Version;
use crate::tls::servers::spec::{SecurityLevel, ServerSpec};
use crate::tls::servers::text::{Directive, plain};

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

/// What reaches a token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach<'p> {
    pub(crate) way: TokenWay,
    /// The engine's or provider's file.
    pub(crate) loadable: &'p Path,
    /// The PKCS#11 module.
    pub(crate) module: &'p Path,
    pub(crate) pin_file: Option<&'p Path>,
}

/// OpenSSL's configuration (config(5)), which `OPENSSL_CONF` names: what loads the engine or the provider.
///
/// # Errors
/// When a path cannot stand there.
pub(crate) fn configuration(reach: Reach<'_>) -> Result<Vec<Directive>, Impossible> {
    let loadable = plain("the engine's or provider's file", reach.loadable)?;
    let module = plain("the PKCS#11 module's file", reach.module)?;
    match reach.way {
        TokenWay::Engine => Ok(engine(loadable, module)),
        TokenWay::Provider => {
            let pin_file = reach.pin_file.map(|file| plain("the PIN's file", file));
            Ok(provider(loadable, module, pin_file.transpose()?))
        }
    }
}

fn engine(engine: &str, module: &str) -> Vec<Directive> {
    let mut lines: Vec<Directive> = [
        "openssl_conf = init",
        "[init]",
        "engines = engines",
        "[engines]",
        "pkcs11 = pkcs11",
        "[pkcs11]",
        "engine_id = pkcs11",
    ]
    .map(Directive::new)
    .into();
    lines.push(Directive::new(format!("dynamic_path = {engine}")));
    lines.push(Directive::new(format!("MODULE_PATH = {module}")));
    lines
        .push(Directive::new("init = 1").because(
            "Without it nginx says 'ENGINE_load_private_key() failed … not initialised'.",
        ));
    lines
}

fn provider(provider: &str, module: &str, pin_file: Option<&str>) -> Vec<Directive> {
    let mut lines: Vec<Directive> = ["openssl_conf = init", "[init]", "providers = providers"]
        .map(Directive::new)
        .into();
    lines.push(Directive::new("[providers]"));
    lines.push(Directive::new("default = of_default").because(
        "Once a provider is named here, OpenSSL loads no other by itself: the default one must be named, too.",
    ));
    lines.extend(
        [
            "pkcs11 = pkcs11",
            "[of_default]",
            "activate = 1",
            "[pkcs11]",
        ]
        .map(Directive::new),
    );
    lines.push(Directive::new(format!("module = {provider}")));
    lines.push(Directive::new(format!("pkcs11-module-path = {module}")));
    lines.push(
        Directive::new("pkcs11-module-quirks = no-deinit").because(
            "Otherwise the module is finalized after OpenSSL has been cleaned up, and SoftHSM2 crashes.",
        ),
    );
    if let Some(file) = pin_file {
        lines.push(
            Directive::new(format!("pkcs11-module-token-pin = file:{file}")).because(
                "Read once, by root. With pin-source in the key's URI each worker would read the file itself, as \
                 a user without permission, and fail its first handshake.",
            ),
        );
    }
    lines.push(Directive::new("activate = 1"));
    lines
}

/// Whether the server's OpenSSL can do what is wanted.
pub(crate) fn check(server: &Installed, spec: &ServerSpec) -> Result<(), ServerError> {
    let version = &server.openssl()?.version;
    if !version.is_at_least(3, 5, 0) {
        let keys = spec.certificates.iter().map(|one| one.algorithm);
        let mut new = keys.filter(|key| matches!(key.family(), Family::MlDsa(_)));
        let groups = spec.handshakes.groups.iter();
        let mut hybrid = groups.filter(|exchange| exchange.is_hybrid());
        let what = new.next().map(|key| key.to_string());
        let what = what.or_else(|| hybrid.next().map(KeyExchange::to_string));
        if let Some(what) = what {
            let openssl = version.clone();
            return Err(Impossible::TooNew { what, openssl }.into());
        }
    }
    // An old client's alone: with TLS 1.3 there is always something else.
    if spec.handshakes.has(TlsVersion::V1_3) {
        return Ok(());
    }
    for identity in spec.certificates.iter() {
        let Some(left) = suites_for(spec, identity.algorithm.family()) else {
            return Ok(());
        };
        if left.is_empty() && matches!(identity.algorithm.family(), Family::MlDsa(_)) {
            return Err(Impossible::NeedsTls13(identity.algorithm).into());
        }
        if left.is_empty() {
            return Err(Impossible::NoCipher {
                ciphers: spec.handshakes.ciphers.to_string(),
                algorithm: identity.algorithm,
            }
            .into());
        }
        let by_engine = identity.key_location() == KeyLocation::Token(TokenWay::Engine);
        let all_rsa = left.iter().all(|one| one.exchange == Exchange::Rsa);
        if by_engine && all_rsa && version.is_at_least(3, 0, 0) {
            let openssl = version.clone();
            return Err(Impossible::RsaExchangeByEngine { openssl }.into());
        }
    }
    Ok(())
}

/// Whether TLS 1.2 has nothing but ephemeral Diffie-Hellman.
pub(crate) fn is_dhe_alone(spec: &ServerSpec) -> bool {
    let is_dhe = |suites: Vec<Suite>| suites.iter().all(|one| one.exchange == Exchange::Dhe);
    let mut keys = spec.certificates.iter().map(|one| one.algorithm.family());
    !spec.handshakes.has(TlsVersion::V1_3)
        && keys.any(|family| suites_for(spec, family).is_some_and(is_dhe))
}

/// The suites of TLS 1.2 for a certificate with such a key; none where this OpenSSL does not know the cipher string: the
/// server's may, and says so itself when it starts.
fn suites_for(spec: &ServerSpec, family: Family) -> Option<Vec<Suite>> {
    let ciphers = with_level(&spec.handshakes.ciphers.to_string(), spec.level());
    let mut suites = ciphers::resolved(&ciphers).ok()?;
    suites.retain(|suite| suite.exchange != Exchange::Any && fits(suite.authentication, family));
    Some(suites)
}

/// EdDSA certificates go with the suites of ECDSA (RFC 8422 §5.3).
fn fits(by: Authentication, family: Family) -> bool {
    match by {
        Authentication::Rsa => matches!(family, Family::Rsa(_)),
        Authentication::Ecdsa => matches!(family, Family::Weierstrass(_) | Family::Ed25519),
        Authentication::Any | Authentication::Other => false,
    }
}

/// The cipher string as the server gets it: RSA-1024 and DH-1024 are refused at the usual level 2.
pub(crate) fn with_level(ciphers: &str, level: SecurityLevel) -> String {
    match level {
        SecurityLevel::One => format!("{ciphers}:@SECLEVEL=1"),
        SecurityLevel::Distributions => ciphers.to_owned(),
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
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn a_library_tells_version_and_directories() {
        let content = b"\0OpenSSL default\0x\0OpenSSL 3.0.19 27 Jan 2026\0ENGINESDIR: \"/e\"\0MODULESDIR: \"/m\"\0";
        let found = LinkedOpenSsl::in_content(content, Path::new("/lib")).unwrap();
        assert_eq!(found.version.to_string(), "3.0.19");
        let missing = |way| found.loadable(way).unwrap_err().to_string();
        let engine = missing(TokenWay::Engine);
        assert_says(&engine, ["no /e/pkcs11.so", "libengine-pkcs11-openssl"]);
        let provider = missing(TokenWay::Provider);
        assert_says(&provider, ["no /m/pkcs11.so", "install pkcs11-provider"]);
        assert_eq!(
            LinkedOpenSsl::in_content(b"LibreSSL 3.8.2\0", Path::new("/lib")),
            None
        );
    }
}
