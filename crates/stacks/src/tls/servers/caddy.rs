//! Caddy, which has the TLS of Go: <https://caddyserver.com/docs/json/apps/http/servers/tls_connection_policies/>. It
//! has X25519MLKEM768 whatever OpenSSL the machine has. Its keys are in files.

use std::path::Path;
use std::process::Command;

use askama::Template;
use keymark_bench::{Curve, Error, Family, StackName};
use keymark_load::KeyExchange;

use crate::installed::{BroughtBy, Program, Version};
use crate::templates::written;
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::impossible;
use crate::tls::servers::kind::{CryptoLibrary, InstalledServer, ServerKind};
use crate::tls::servers::spec::ServerSpec;
use crate::tls::servers::text::{ServerFrame, Tls};

const PROGRAM: Program = Program {
    name: "Caddy",
    files: &["caddy"],
    brought_by: BroughtBy::Other(
        "'make caddy' builds it where Go is installed, or install it from caddyserver.com",
    ),
    // What was built from its module says only there which it is.
    version: &[
        (BUILD, "github.com/caddyserver/caddy/v2\tv"),
        ("version", "v"),
    ],
};
const BUILD: &str = "build-info";
/// Suites of TLS 1.2 that it can be told to have.
const SUITES: [&str; 6] = [
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];

/// Caddy.
pub(crate) const KIND: ServerKind = ServerKind {
    stack: StackName::of("caddy"),
    program: PROGRAM,
    library,
    check,
    configuration,
    command,
    mpm: None,
};

#[derive(Template)]
#[template(path = "caddy.json", escape = "none")]
struct CaddyConfig<'c> {
    tls: &'c Tls<'c>,
    frame: Option<&'c ServerFrame<'c>>,
    oldest: &'c str,
    newest: &'c str,
    suites: Vec<&'static str>,
    curves: Vec<&'static str>,
}

fn library(_: &ServerKind, program: &Path) -> Result<CryptoLibrary, Error> {
    let said = PROGRAM.said(program, &[BUILD])?;
    let version = Version::behind("go\tgo", &said);
    let untold = || PROGRAM.missing("it does not say which Go has built it".to_owned());
    Ok(CryptoLibrary {
        name: "go",
        version: version.ok_or_else(untold)?,
        openssl: None,
    })
}

fn check(server: &InstalledServer, spec: &ServerSpec) -> Result<(), Error> {
    let lacks = |what: String| {
        let name = server.name();
        Err(impossible(format!("{name} does not support {what}")))
    };
    for identity in spec.certificates.iter().chain(&spec.client) {
        let algorithm = identity.algorithm;
        if identity.token().is_some() {
            // It has none.
            server.openssl()?;
        }
        let known = matches!(
            algorithm.family(),
            Family::Rsa(_)
                | Family::Ed25519
                | Family::Weierstrass(Curve::NistP256 | Curve::NistP384 | Curve::NistP521)
        );
        if !known {
            return lacks(format!("certificates with {algorithm}"));
        }
    }
    if let Some(dh) = spec.handshakes.dh {
        return lacks(format!("DHE ({} bits)", dh.bits));
    }
    if spec.handshakes.exchange == KeyExchange::Rsa {
        return lacks("RSA key exchange".to_owned());
    }
    for exchange in &spec.handshakes.groups {
        if curve(*exchange).is_none() {
            return lacks(format!("the key exchange {exchange}"));
        }
    }
    Ok(())
}

fn configuration(
    _: &ServerKind,
    tls: &Tls<'_>,
    frame: Option<&ServerFrame<'_>>,
) -> Result<String, Error> {
    let asked = tls.handshakes;
    let [oldest, newest] = [asked.versions.first(), asked.versions.last()];
    let configuration = CaddyConfig {
        tls,
        frame,
        oldest: oldest.map_or("", |version| version.word()),
        newest: newest.map_or("", |version| version.word()),
        suites: suites(asked.ciphers),
        curves: asked.groups.iter().copied().filter_map(curve).collect(),
    };
    written(&configuration, ServerFrame::comments(frame))
}

fn command(command: &mut Command, directory: &ServerDirectory) {
    let processors = directory.capacity.processes.to_string();
    command
        .env("GOMAXPROCS", processors)
        .env("HOME", directory.private.path())
        .arg("run")
        .arg("--config")
        .arg(&directory.configuration);
}

/// Caddy's name of a curve.
fn curve(exchange: KeyExchange) -> Option<&'static str> {
    const CURVES: [(KeyExchange, &str); 5] = [
        (KeyExchange::X25519, "x25519"),
        (KeyExchange::EcdheP256, "secp256r1"),
        (KeyExchange::EcdheP384, "secp384r1"),
        (KeyExchange::EcdheP521, "secp521r1"),
        (KeyExchange::X25519MlKem768, "x25519mlkem768"),
    ];
    let known = CURVES.iter().find(|(known, _)| *known == exchange);
    known.map(|(_, name)| *name)
}

/// Suites that Caddy has for a cipher string with AES in GCM, by their names in the registry.
fn suites(ciphers: &str) -> Vec<&'static str> {
    let with_chacha = ciphers.contains("CHACHA20");
    let mut suites = SUITES.to_vec();
    suites.retain(|name| with_chacha || !name.contains("CHACHA20"));
    suites
}
