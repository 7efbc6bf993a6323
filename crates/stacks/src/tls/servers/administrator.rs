//! A working configuration for an administrator, with a line on each trap: by the code that configures keymark's own
//! servers.

use std::fmt;
use std::path::Path;

use askama::Template;
use keymark_bench::{Algorithm, Curve, Error, Family};
use keymark_stores::pkcs11::ProgramKey;

use crate::installed::BroughtBy;
use crate::openssl::TokenWay;
use crate::templates::{Comments, plain, written};
use crate::tls::servers::certificate;
use crate::tls::servers::identity::Certificates;
use crate::tls::servers::kind::InstalledServer;
use crate::tls::servers::spec::{Handshakes, is_weak};
use crate::tls::servers::text::{Pair, Tls, comment};
use crate::tls::servers::token::{self, uri_pem};
use crate::tls::servers::{TWO_MODULES, impossible};

/// Place of the administrator's key.
#[allow(missing_debug_implementations, reason = "a token's key may hold a PIN")]
#[derive(Clone, Copy)]
pub enum KeySource<'k> {
    /// A file, made for that algorithm.
    File(Algorithm),
    /// A token, reached that way. The text needs no PIN and contains none.
    Token(&'k ProgramKey, TokenWay),
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideSection {
    /// Its purpose.
    pub title: String,
    /// Place of its text, in words: a shell, a file, or a part of one.
    pub place: String,
    /// The text; comments begin with `#`.
    pub text: String,
}

/// All steps, from the packages to the server. `Display` writes them one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    /// Its result.
    pub title: String,
    /// The steps.
    pub sections: Vec<GuideSection>,
}

impl fmt::Display for Guide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&comment(&self.title))?;
        for (number, section) in (1..).zip(&self.sections) {
            let head = format!("--- {number}. {}: {}", section.title, section.place);
            write!(f, "\n{}{}", comment(&head), section.text)?;
        }
        Ok(())
    }
}

impl Guide {
    /// Reads a text in which each section begins with a line of its place, behind a mark, and one of its title; the
    /// title of all is before the first.
    fn read(text: &str) -> Self {
        let mut parts = text.split("\n--- ");
        let title = parts.next().unwrap_or_default();
        let section = |part: &str| {
            let (place, rest) = part.split_once('\n')?;
            // One with nothing but a title has nothing to do.
            let (title, text) = rest.split_once('\n')?;
            Some(GuideSection {
                title: title.to_owned(),
                place: place.to_owned(),
                text: format!("{}\n", text.trim_end()),
            })
        };
        Self {
            title: title.split_whitespace().collect::<Vec<_>>().join(" "),
            sections: parts.filter_map(section).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "guide.txt", escape = "none")]
struct Steps<'g> {
    server: &'g InstalledServer,
    library: &'g str,
    /// The keys, in a sentence.
    subject: &'g str,
    tls: &'g Tls<'g>,
    has_files: bool,
    host: &'g str,
    directory: &'g str,
    /// OpenSSL's configuration, where a key is on a token.
    openssl: Option<String>,
    keys: &'g [GuideKey],
    /// Steps of the kind of server.
    steps: String,
}

struct GuideKey {
    /// Suffix of a second key's files.
    which: &'static str,
    origin: KeyOrigin,
}

enum KeyOrigin {
    /// Options of `openssl genpkey`.
    File(String),
    /// The key's URI, and the file that names it to the provider.
    Token(String, String),
}

/// Name of the directory in messages.
const DIRECTORY: &str = "the directory of the server's files";

/// The steps for a server of that name (`www.example.org`), with its files in `directory`. Two keys are an RSA and an ECDSA
/// one, each with a certificate.
///
/// # Errors
/// When the server is none for TLS, the engine or provider is missing, two keys cannot be had together, or a name is invalid in
/// a configuration.
pub fn guide(
    installed: &InstalledServer,
    (source, second): (KeySource<'_>, Option<KeySource<'_>>),
    host: &str,
    directory: &Path,
) -> Result<Guide, Error> {
    let named = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    if host.is_empty() || host.starts_with('-') || !host.chars().all(named) {
        return Err(impossible(
            "a host name may have only letters, digits, '.' and '-'",
        ));
    }
    if let Some(second) = second {
        check_two(source, second)?;
    }
    let sources: Vec<KeySource<'_>> = [source].into_iter().chain(second).collect();
    let on_token = token_of(&sources);
    let (mut openssl, mut variables) = (None, Vec::new());
    if let Some((key, way)) = on_token {
        let pin_file = directory.join("pin");
        let pin_file = plain(DIRECTORY, &pin_file)?;
        openssl = Some(installed.openssl()?.configuration(
            way,
            key.module(),
            Some(pin_file),
            1,
            Comments::Written,
        )?);
        variables = assignments(key, directory)?;
    }
    let directory = plain(DIRECTORY, directory)?;
    let which = sources.iter().zip(["", "-2"]);
    let made = which.map(|(source, which)| key(source, which, directory));
    let (keys, pairs): (Vec<_>, _) = made.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    let handshakes = Handshakes::usual();
    let tls = Tls {
        pairs,
        ciphers: handshakes.ciphers.to_owned(),
        handshakes: &handshakes,
        dh: None,
        variables,
    };
    let in_file = |source: &KeySource<'_>| matches!(source, KeySource::File(_));
    let steps = Steps {
        server: installed,
        library: match installed.library.name {
            "openssl" => "OpenSSL",
            name => name,
        },
        subject: match keys.len() {
            1 => "its key",
            _ => "two keys, one RSA and one ECDSA,",
        },
        tls: &tls,
        has_files: sources.iter().any(in_file),
        host,
        directory,
        openssl,
        keys: &keys,
        steps: (installed.kind.configuration)(installed.kind, &tls, None)?,
    };
    Ok(Guide::read(&written(&steps, Comments::Written)?))
}

/// A key, and what the server is told of it.
fn key(
    source: &KeySource<'_>,
    which: &'static str,
    directory: &str,
) -> Result<(GuideKey, Pair), Error> {
    let (key, way, origin) = match source {
        KeySource::File(algorithm) => {
            let key = format!("{directory}/key{which}.pem");
            (key, None, KeyOrigin::File(genpkey(*algorithm)?))
        }
        KeySource::Token(key, way) => {
            let pin_file = format!("{directory}/pin");
            let uri = token::uri(key, *way, Some(Path::new(&pin_file)));
            let named = match way {
                TokenWay::Engine => uri.clone(),
                TokenWay::Provider => format!("{directory}/key-uri{which}.pem"),
            };
            let file = uri_pem(&uri)?;
            (named, Some(*way), KeyOrigin::Token(uri, file))
        }
    };
    let certificate = format!("{directory}/certificate{which}.pem");
    let pair = Pair {
        certificate,
        key,
        way,
    };
    Ok((GuideKey { which, origin }, pair))
}

/// The first key on a token. All of them share module, way and PIN.
fn token_of<'k>(sources: &[KeySource<'k>]) -> Option<(&'k ProgramKey, TokenWay)> {
    sources.iter().find_map(|source| match source {
        KeySource::File(_) => None,
        KeySource::Token(key, way) => Some((*key, *way)),
    })
}

/// Checks whether a host can have both keys, without asking a token.
fn check_two(first: KeySource<'_>, second: KeySource<'_>) -> Result<(), Error> {
    match (first, second) {
        (KeySource::File(one), KeySource::File(other)) => Certificates::check_two(one, other),
        (KeySource::Token(one, way), KeySource::Token(other, other_way)) => {
            let beside =
                one.module() == other.module() && one.uri.of_token() == other.uri.of_token();
            (way == other_way && beside)
                .then_some(())
                .ok_or_else(|| impossible(TWO_MODULES))
        }
        (KeySource::File(_), KeySource::Token(..)) | (KeySource::Token(..), KeySource::File(_)) => {
            Ok(())
        }
    }
}

/// Options of `openssl genpkey` for the algorithm.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "distributions' OpenSSL makes no others for servers"
)]
fn genpkey(algorithm: Algorithm) -> Result<String, Error> {
    certificate::check(algorithm)?;
    if is_weak(algorithm) {
        return Err(impossible(format!(
            "{algorithm} is weak: it has 80 bits of security or less; rsa2048 is not"
        )));
    }
    let kind = match algorithm.family() {
        Family::Rsa(bits) => {
            return Ok(format!("-algorithm RSA -pkeyopt rsa_keygen_bits:{bits}"));
        }
        Family::Weierstrass(Curve::NistP256) => "EC -pkeyopt ec_paramgen_curve:P-256",
        Family::Weierstrass(Curve::NistP384) => "EC -pkeyopt ec_paramgen_curve:P-384",
        Family::Ed25519 => "ED25519",
        _ => {
            return Err(impossible(format!(
                "distributions' openssl makes no {algorithm} key for servers"
            )));
        }
    };
    Ok(format!("-algorithm {kind}"))
}

/// Environment of modules and OpenSSL, for a line of shell.
fn assignments(key: &ProgramKey, directory: &Path) -> Result<Vec<(String, String)>, Error> {
    let configuration = directory.join("openssl.cnf");
    let configuration = plain(DIRECTORY, &configuration)?;
    let mut all = vec![("OPENSSL_CONF".to_owned(), configuration.to_owned())];
    for (name, value) in token::variables(&key.environment) {
        let value = plain("a variable of the module", Path::new(&value))?;
        all.push((name, value.to_owned()));
    }
    Ok(all)
}
