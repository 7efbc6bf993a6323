//! `keymark token serve --pkcs11`: a token of keymark's own for programs that load a PKCS#11 module.

use std::collections::BTreeMap;
use std::path::Path;

use keymark_bench::algorithm::Algorithm;
use keymark_stacks::private_dir;
use keymark_stores::pkcs11::{OwnKind, ServedToken};
use serde::Serialize;
use signal_hook::iterator::Signals;

use super::super::Outcome;
use crate::args::ServeArguments;
use crate::exit::{Exit, Failure};
use crate::{output, signals};

/// What other programs need, for those who read JSON.
#[derive(Serialize)]
struct Told<'a> {
    device: String,
    module: &'a Path,
    /// Of the first key.
    uri: &'a str,
    token: &'a str,
    pin: &'a str,
    pin_file: &'a Path,
    environment: BTreeMap<String, String>,
    keys: Vec<ToldKey<'a>>,
}

#[derive(Serialize)]
struct ToldKey<'a> {
    algorithm: Algorithm,
    uri: &'a str,
}

pub(super) fn serve(arguments: &ServeArguments, named: &str) -> Outcome {
    let _ = private_dir::sweep();
    let mut kind = OwnKind::named(named).ok_or_else(|| {
        let known = "softhsm, kryoptic and twin:PROFILE of an HSM, such as twin:nitrokey-hsm";
        Failure::usage(format!(
            "'{named}' is no token that can be served; there are {known}"
        ))
    })?;
    if let Some(manner) = arguments.manner() {
        let of_twin = kind.with_manner(manner);
        kind = of_twin.map_err(|error| Failure::usage(error.to_string()))?;
    }
    let mut told = Signals::new(signals::SIGNALS).map_err(signals::uncaught)?;
    let token = ServedToken::make(&kind, arguments.algorithm.as_deref());
    let token = token.map_err(Failure::nothing_usable)?;
    if arguments.json {
        output::print(&json(&token)?);
    } else {
        show(&token);
    }
    let _ = told.forever().next();
    Ok(Exit::Fine)
}

fn json(token: &ServedToken) -> Result<String, Failure> {
    let keys: Vec<ToldKey<'_>> = token
        .keys()
        .iter()
        .map(|key| ToldKey {
            algorithm: key.algorithm,
            uri: &key.uri,
        })
        .collect();
    let told = Told {
        device: token.identity().device.to_string(),
        module: token.module(),
        uri: keys.first().map_or("", |key| key.uri),
        token: token.token_uri(),
        pin: token.pin().expose(),
        pin_file: token.pin_file(),
        environment: token.environment(),
        keys,
    };
    let text = serde_json::to_string(&told);
    text.map(|text| text + "\n").map_err(Failure::failed)
}

fn show(token: &ServedToken) {
    let product = &token.identity().product;
    output::heading(&format!("{} ({product})", token.identity().device));
    let entry = |name: &str, value: &str| output::entry(2, name, 12, value);
    entry("module", &token.module().display().to_string());
    entry("token", token.token_uri());
    entry("PIN", token.pin().expose());
    for (name, value) in token.environment() {
        entry("environment", &format!("{name}={value}"));
    }
    for key in token.keys() {
        entry(key.algorithm.name(), &key.uri);
    }
    output::note("it is there until Ctrl-C, and for any program that loads the module");
}
