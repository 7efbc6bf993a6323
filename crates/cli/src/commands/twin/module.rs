//! `keymark twin serve --pkcs11`: a token of keymark's own for programs that load a PKCS#11 module.

use keymark_stores::pkcs11::{ManagedKind, ServedToken};
use serde_json::json;

use crate::args::ServeArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::{output, signals};

/// The usual programs, with the directory of the module as `$D`.
const WHAT_TO_TYPE: &str = include_str!("what-to-type.txt");

pub(super) fn serve(arguments: &ServeArguments, named: &str) -> Outcome {
    let mut kind = ManagedKind::named(named).ok_or_else(|| {
        let known = "softhsm, kryoptic and twin:PROFILE of an HSM, such as twin:nitrokey-hsm";
        Failure::usage(format!("'{named}' cannot be served; choose from {known}"))
    })?;
    if let Some(lanes) = arguments.lanes {
        kind = kind
            .with_lanes(lanes)
            .map_err(|error| Failure::usage(error.to_string()))?;
    }
    let until_told = signals::until_told()?;
    let token = ServedToken::make(&kind, arguments.algorithm.as_deref());
    let token = token.map_err(Failure::nothing_usable)?;
    if arguments.form.is_json() {
        output::print_json(&json!({
            "device": token.identity().device,
            "module": token.module,
            "uri": token.keys.first().map_or("", |key| &key.uri),
            "token": token.token_uri,
            "pin": token.pin.expose(),
            "pin_file": token.pin_file,
            "keys": token.keys,
        }));
    } else {
        show(&token);
    }
    until_told();
    Ok(Exit::Fine)
}

fn show(token: &ServedToken) {
    let product = &token.identity().product;
    output::heading(&format!("{} ({product})", token.identity().device));
    let entry = |name: &str, value: &str| output::entry(2, name, 12, value);
    entry("module", &token.module.display().to_string());
    entry("token", &token.token_uri);
    entry("PIN", token.pin.expose());
    for key in &token.keys {
        entry(key.algorithm.name(), &key.uri);
    }
    if let Some(place) = token.module.parent() {
        output::line(&format!("what to type, with D={}:", place.display()));
        for (program, line) in WHAT_TO_TYPE
            .lines()
            .filter_map(|line| line.split_once(" | "))
        {
            output::entry(2, program, 12, line);
        }
    }
    output::note(
        "it runs until Ctrl-C; programs that load the module need no environment variables",
    );
}
