//! The OpenSSL that a server uses: found as the loader finds it, and asked by what is written in it; and what it cannot
//! do.

use std::fs;
use std::path::{Path, PathBuf};

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::error::Error;
use keymark_load::{CipherSuite, KeyExchange, SuiteAuthentication, SuiteExchange, TlsVersion};
use keymark_stores::places::program;

use crate::openssl::{Loadables, TokenWay};
use crate::tls::servers::ciphers;
use crate::tls::servers::error::{Impossible, ServerError};
use crate::tls::servers::kind::Installed;
use crate::tls::servers::program::Version;
use crate::tls::servers::spec::{SecurityLevel, ServerSpec};

/// An OpenSSL, as a library or within a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedOpenSsl {
    /// `3.0.19`
    pub version: Version,
    /// The file that holds it.
    pub file: PathBuf,
    /// How it gets at keys on tokens.
    pub loadables: Loadables,
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
            loadables: Loadables {
                version: version.to_string(),
                engines: directory(b"ENGINESDIR"),
                providers: directory(b"MODULESDIR"),
            },
            version,
            file: holder.to_owned(),
        })
    }
}

/// What came with OpenSSL 3.5, of an older one.
pub(crate) fn too_new(
    version: &Version,
    keys: impl IntoIterator<Item = Algorithm>,
    groups: &[KeyExchange],
) -> Option<Impossible> {
    if version.is_at_least(3, 5, 0) {
        return None;
    }
    let mut new = keys
        .into_iter()
        .filter(|key| matches!(key.family(), Family::MlDsa(_)));
    let mut hybrid = groups.iter().filter(|exchange| exchange.is_hybrid());
    let what = new.next().map(|key| key.to_string());
    let what = what.or_else(|| hybrid.next().map(KeyExchange::to_string))?;
    let openssl = version.clone();
    Some(Impossible::TooNew { what, openssl })
}

/// Whether the server's OpenSSL can do what is wanted.
pub(crate) fn check(server: &Installed, spec: &ServerSpec) -> Result<(), ServerError> {
    let version = &server.openssl()?.version;
    let keys = spec.certificates.iter().map(|one| one.algorithm);
    if let Some(why) = too_new(version, keys, &spec.handshakes.groups) {
        return Err(why.into());
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
        let by_engine = identity.way() == Some(TokenWay::Engine);
        let all_rsa = left.iter().all(|one| one.exchange() == SuiteExchange::Rsa);
        if by_engine && all_rsa && version.is_at_least(3, 0, 0) {
            let openssl = version.clone();
            return Err(Impossible::RsaExchangeByEngine { openssl }.into());
        }
    }
    Ok(())
}

/// Whether TLS 1.2 has nothing but ephemeral Diffie-Hellman.
pub(crate) fn is_dhe_alone(spec: &ServerSpec) -> bool {
    let all = |suites: Vec<CipherSuite>, by| suites.iter().all(|one| one.exchange() == by);
    let is_dhe = |suites| all(suites, SuiteExchange::Dhe);
    let mut keys = spec.certificates.iter().map(|one| one.algorithm.family());
    !spec.handshakes.has(TlsVersion::V1_3)
        && keys.any(|family| suites_for(spec, family).is_some_and(is_dhe))
}

/// The suites of TLS 1.2 for a certificate with such a key; none where this OpenSSL does not know the cipher string: the
/// server's may, and says so itself when it starts.
fn suites_for(spec: &ServerSpec, family: Family) -> Option<Vec<CipherSuite>> {
    let ciphers = with_level(&spec.handshakes.ciphers.to_string(), spec.level());
    let mut suites = ciphers::resolved(&ciphers).ok()?;
    suites.retain(|suite| fits(suite.authentication(), family));
    Some(suites)
}

fn fits(by: SuiteAuthentication, family: Family) -> bool {
    match by {
        SuiteAuthentication::Rsa => matches!(family, Family::Rsa(_)),
        SuiteAuthentication::Ecdsa => matches!(family, Family::Weierstrass(_) | Family::Ed25519),
        SuiteAuthentication::Apart | SuiteAuthentication::Other => false,
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
    use super::*;

    #[test]
    fn a_library_tells_version_and_directories() {
        let content = b"\0OpenSSL default\0x\0OpenSSL 3.0.19 27 Jan 2026\0ENGINESDIR: \"/e\"\0MODULESDIR: \"/m\"\0";
        let found = LinkedOpenSsl::in_content(content, Path::new("/lib")).unwrap();
        assert_eq!(found.version.to_string(), "3.0.19");
        assert_eq!(found.loadables.engines, Some("/e".into()));
        assert_eq!(found.loadables.providers, Some("/m".into()));
        assert_eq!(
            LinkedOpenSsl::in_content(b"LibreSSL 3.8.2\0", Path::new("/lib")),
            None
        );
    }
}
