//! The OpenSSL that a server uses: found as the loader finds it, and asked by what is written in it; what it cannot do; and what
//! a cipher string stands for, by keymark's own.

use std::fs;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use keymark_bench::{Algorithm, During as _, Error, Family};
use keymark_load::{CipherSuite, KeyExchange, SuiteAuthentication, SuiteExchange, TlsVersion};
use keymark_stores::places::program;
use openssl::error::ErrorStack;
use openssl::ssl::{Ssl, SslContext, SslMethod};

use crate::installed::Version;
use crate::openssl::{OpenSslBuild, TokenWay};
use crate::tls::servers::error::{Impossible, ServerError};
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

/// Checks whether the server's OpenSSL supports the request.
pub(crate) fn check(server: &InstalledServer, spec: &ServerSpec) -> Result<(), ServerError> {
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

/// Returns whether TLS 1.2 has nothing but ephemeral Diffie-Hellman.
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
    let mut suites = resolved(&spec.cipher_string()).ok()?;
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

/// The suites of a cipher string, those of TLS 1.3 included: what a client with that string offers.
///
/// # Errors
/// When no suite is left, or the string is none.
pub(crate) fn resolved(ciphers: &str) -> Result<Vec<CipherSuite>, Error> {
    let failed = |error: ErrorStack| {
        let first = error.errors().first().and_then(|error| error.reason());
        let reason = format!("'{ciphers}': {}", first.unwrap_or("no reason given"));
        Error::call("SSL_CTX_set_cipher_list", reason, "")
    };
    let mut context = SslContext::builder(SslMethod::tls_client()).map_err(failed)?;
    context.set_cipher_list(ciphers).map_err(failed)?;
    let ssl = Ssl::new(&context.build()).map_err(failed)?;
    // The crate has no SSL_get1_supported_ciphers; the first message says it as well. Who gets it says nothing.
    let hello = first_message(ssl).during("listening to OpenSSL")?;
    let ssl = SslContext::builder(SslMethod::tls_client())
        .and_then(|context| Ssl::new(&context.build()))
        .map_err(failed)?;
    let offered = offered(&hello).unwrap_or_default();
    let lists = ssl.bytes_to_cipher_list(offered, false).map_err(failed)?;
    let names = lists
        .suites
        .iter()
        .filter_map(|suite| suite.standard_name());
    Ok(names.map(CipherSuite).collect())
}

fn first_message(ssl: Ssl) -> io::Result<Vec<u8>> {
    let (client, mut nobody) = UnixStream::pair()?;
    client.set_nonblocking(true)?;
    // It waits for an answer, or has nothing to offer. The connection ends with the value.
    drop(ssl.connect(client));
    let mut said = Vec::new();
    nobody.read_to_end(&mut said)?;
    Ok(said)
}

/// `cipher_suites` of a ClientHello (RFC 8446 §4.1.2) in its record (§5.1).
fn offered(record: &[u8]) -> Option<&[u8]> {
    const HEADERS: usize = 5 + 4;
    const VERSION_AND_RANDOM: usize = 2 + 32;
    let behind = record.get(HEADERS + VERSION_AND_RANDOM..)?;
    let (session, behind) = behind.split_first()?;
    let behind = behind.get(usize::from(*session)..)?;
    let (length, suites) = behind.split_first_chunk::<2>()?;
    suites.get(..u16::from_be_bytes(*length).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    use keymark_load::{SuiteAuthentication, SuiteExchange, TlsVersion};
    use keymark_testkit::assert_says;

    fn tls12(ciphers: &str) -> Vec<CipherSuite> {
        let mut suites = resolved(ciphers).unwrap();
        suites.retain(|suite| suite.version() == TlsVersion::V1_2);
        suites
    }

    #[test]
    fn openssl_says_what_a_string_stands_for() {
        let rsa = tls12("kRSA+AESGCM");
        assert!(
            !rsa.is_empty()
                && rsa
                    .iter()
                    .all(|suite| suite.exchange() == SuiteExchange::Rsa)
        );
        let both = tls12("kECDHE+AESGCM");
        let has = |by| both.iter().any(|suite| suite.authentication() == by);
        assert!(has(SuiteAuthentication::Rsa) && has(SuiteAuthentication::Ecdsa));
        let dhe = tls12("kDHE+AESGCM+aRSA");
        assert!(
            !dhe.is_empty()
                && dhe
                    .iter()
                    .all(|suite| suite.exchange() == SuiteExchange::Dhe)
        );
        let error = resolved("NO-SUCH-CIPHER").unwrap_err().to_string();
        assert_says(&error, ["no cipher match"]);
    }
}
