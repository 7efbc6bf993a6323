//! `keymark tls config`

use std::path::PathBuf;

use keymark_stacks::tls::servers::administrator::{KeySource, guide};
use keymark_stacks::tls::servers::{InstalledServer, SearchPath, TokenWay, kind};
use keymark_stores::pkcs11::uri::Pkcs11Uri;
use keymark_stores::pkcs11::{ProgramKey, variables};

use crate::args::TlsConfigArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

pub(super) fn run(arguments: &TlsConfigArguments) -> Outcome {
    let kind = kind(arguments.server.word()).map_err(Failure::usage)?;
    let installed = InstalledServer::find(kind, &SearchPath::usual());
    let installed = installed.map_err(Failure::nothing_usable)?;
    let usual = installed.openssl().map(|openssl| openssl.usual_way());
    let way = arguments.openssl.or(usual.ok()).unwrap_or(TokenWay::Engine);
    let tokens = arguments.device.iter().map(|device| {
        (device != "software")
            .then(|| token_key(device))
            .transpose()
    });
    let tokens: Vec<Option<ProgramKey>> = tokens.collect::<Result<_, Failure>>()?;
    let mut sources = tokens.iter().flat_map(|token| match token {
        Some(key) => vec![KeySource::Token(key, way)],
        // A file of each algorithm.
        None => arguments
            .algorithm
            .iter()
            .copied()
            .map(KeySource::File)
            .collect(),
    });
    let (first, second, third) = (sources.next(), sources.next(), sources.next());
    let (Some(first), None) = (first, third) else {
        return Err(Failure::usage(
            "a host has one key or two: an RSA and an ECDSA key",
        ));
    };
    let guide = guide(
        &installed,
        (first, second),
        &arguments.host,
        &arguments.directory,
    );
    output::print(&guide.map_err(Failure::nothing_usable)?.to_string());
    Ok(Exit::Fine)
}

/// A key on a token, with what its module reads of keymark's own environment. Nothing is asked of the token.
fn token_key(device: &str) -> Result<ProgramKey, Failure> {
    let uri: Pkcs11Uri = device.parse().map_err(|error| {
        Failure::usage(format!(
            "'{device}' must be 'software' or a pkcs11: URI: {error}"
        ))
    })?;
    let module: PathBuf = uri.module_path.clone().ok_or_else(|| {
        Failure::usage(format!(
            "'{device}' names no module; add ?module-path=/FILE, as 'keymark devices' lists it"
        ))
    })?;
    let environment = variables(&module);
    let mut key = ProgramKey::of_uri(module, uri).map_err(Failure::usage)?;
    key.environment = environment;
    Ok(key)
}
