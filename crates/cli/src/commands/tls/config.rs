//! `keymark tls config`

use std::path::PathBuf;

use keymark_servers::administrator::{Source, guide};
use keymark_servers::{Installed, SearchPath, TokenKey, TokenWay};
use keymark_stacks::tls::SERVERS;
use keymark_stores::pkcs11::uri::Pkcs11Uri;

use super::super::Outcome;
use crate::args::TlsConfigArguments;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) fn run(arguments: &TlsConfigArguments) -> Outcome {
    let mut servers = SERVERS.iter();
    let found = servers.find(|(name, _)| *name == arguments.server);
    let (_, software) = found.ok_or_else(|| Failure::usage("no such server"))?;
    let installed = Installed::find(*software, &SearchPath::usual());
    let installed = installed.map_err(Failure::nothing_usable)?;
    let key = token_key(&arguments.device)?;
    let way = arguments.openssl.map(TokenWay::from);
    let way = way.unwrap_or_else(|| installed.openssl.usual_way());
    let source = key
        .as_ref()
        .map_or(Source::File, |key| Source::Token(key, way));
    let guide = guide(&installed, source, &arguments.host, &arguments.directory);
    output::print(&guide.map_err(Failure::nothing_usable)?.to_string());
    Ok(Exit::Fine)
}

/// The key on a token that is meant; none where it is in a file. Nothing is asked of the token.
fn token_key(device: &str) -> Result<Option<TokenKey>, Failure> {
    if device == "software" {
        return Ok(None);
    }
    let uri: Pkcs11Uri = device.parse().map_err(|error| {
        Failure::usage(format!("'{device}' is neither software nor a URI: {error}"))
    })?;
    let module: PathBuf = uri.module_path.clone().ok_or_else(|| {
        Failure::usage(format!(
            "'{device}' does not say which module it is behind; add ?module-path=/FILE, as 'keymark devices' lists it"
        ))
    })?;
    let key = TokenKey::new(&module, device, None).map_err(Failure::usage)?;
    Ok(Some(key))
}
