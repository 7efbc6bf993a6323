//! OpenSSL of a server: found as the loader finds it, and read for its version and the keys and groups that it lacks.

use std::fs;
use std::path::{Path, PathBuf};

use keymark_bench::{Algorithm, During as _, Error, Family};
use keymark_load::{KeyExchange, TlsVersion};
use keymark_stores::places::program;

use crate::installed::Version;
use crate::openssl::{OpenSslBuild, TokenWay};
use crate::tls::servers::impossible;
use crate::tls::servers::kind::InstalledServer;
use crate::tls::servers::spec::ServerSpec;

/// The OpenSSL of a program or a library.
///
/// # Errors
/// When it uses none.
pub(crate) fn linked(file: &Path) -> Result<OpenSslBuild, Error> {
    // A program may have it built in: then it is no library of its own.
    let holder = linked_libcrypto(file).unwrap_or_else(|| file.to_owned());
    let content = fs::read(&holder).during(format_args!("reading {}", holder.display()))?;
    OpenSslBuild::read(&content).ok_or_else(|| Error::Missing {
        what: "OpenSSL".to_owned(),
        reason: format!("{} uses none", file.display()),
        advice: "the distribution's servers use it".to_owned(),
    })
}

/// Reason why an OpenSSL older than 3.5 lacks a key or a group.
pub(crate) fn too_new(
    version: &Version,
    keys: impl IntoIterator<Item = Algorithm>,
    groups: &[KeyExchange],
) -> Option<String> {
    if version.is_at_least(3, 5, 0) {
        return None;
    }
    let mut new = keys
        .into_iter()
        .filter(|key| matches!(key.family(), Family::MlDsa(_)));
    let mut hybrid = groups.iter().filter(|exchange| exchange.is_hybrid());
    let what = new.next().map(|key| key.to_string());
    let what = what.or_else(|| hybrid.next().map(KeyExchange::to_string))?;
    Some(format!(
        "{what} is impossible here: it needs OpenSSL 3.5, and the server uses {version}"
    ))
}

/// Checks whether the server's OpenSSL supports the request.
pub(crate) fn check(server: &InstalledServer, spec: &ServerSpec) -> Result<(), Error> {
    let version = &server.openssl()?.version;
    if let Some(why) = too_new(version, spec.algorithms(), &spec.handshakes.groups) {
        return Err(impossible(why));
    }
    // An old client's alone: with TLS 1.3 there is always something else.
    if spec.handshakes.has(TlsVersion::V1_3) {
        return Ok(());
    }
    let is_new = |key: &Algorithm| matches!(key.family(), Family::MlDsa(_));
    if let Some(new) = spec.algorithms().find(is_new) {
        return Err(impossible(format!(
            "{new} is impossible with TLS 1.2: it needs TLS 1.3"
        )));
    }
    let exchange = spec.handshakes.exchange;
    for identity in spec.certificates.iter() {
        let algorithm = identity.algorithm;
        if !has_cipher(exchange, algorithm.family()) {
            let ciphers = spec.handshakes.ciphers;
            return Err(impossible(format!(
                "the cipher string '{ciphers}' has no cipher for a {algorithm} certificate"
            )));
        }
        let by_engine = identity.way() == Some(TokenWay::Engine);
        if by_engine && exchange == KeyExchange::Rsa && version.is_at_least(3, 0, 0) {
            return Err(impossible(format!(
                "RSA key exchange is impossible with a key on a token through the engine: OpenSSL {version} decrypts \
                 the premaster secret with a padding mode that engines' keys do not support; use the provider, or ECDHE"
            )));
        }
    }
    Ok(())
}

/// Returns whether TLS 1.2 has a cipher with that key exchange for such a certificate.
fn has_cipher(exchange: KeyExchange, family: Family) -> bool {
    let on_curve = matches!(family, Family::Weierstrass(_) | Family::Ed25519);
    matches!(family, Family::Rsa(_)) || on_curve && exchange.group().is_some()
}

/// `libcrypto.so.3 => /lib/x86_64-linux-gnu/libcrypto.so.3 (0x…)`, as ldd(1) says.
fn linked_libcrypto(file: &Path) -> Option<PathBuf> {
    let ldd = program::locate(None, "ldd")?;
    let mut command = program::command(&ldd);
    let said = program::run(command.arg(file), program::QUESTION).ok()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let line = said.lines().find(|line| line.contains("libcrypto.so"))?;
    let path = line.split_once("=> ")?.1.split(" (").next()?;
    Some(PathBuf::from(path.trim()))
}
