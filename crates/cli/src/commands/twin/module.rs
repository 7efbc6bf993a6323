//! `keymark twin serve --pkcs11`: a token of keymark's own for programs that load a PKCS#11 module.

use std::time::Duration;

use keymark_shim_protocol::pkcs11::twin::{Holder, REFUSED_AFTER, SAID_AFTER};
use keymark_stores::pkcs11::{ManagedKind, ServedToken, TokenWatch};
use serde_json::json;

use crate::args::ServeArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::{output, signals};

/// Interval at which it is looked whether a program keeps the token to itself.
const WATCHED: Duration = Duration::from_millis(500);

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
    let mut token = token.map_err(Failure::nothing_usable)?;
    if let Some(watch) = token.watch.take() {
        std::thread::spawn(move || tell_of_stuck(&watch));
    }
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

/// Says which program keeps the others from the token, and when it has given it back.
fn tell_of_stuck(watch: &TokenWatch) {
    let mut told = None;
    loop {
        let stuck = watch.stuck();
        match (stuck, told) {
            (Some(holder), told) if Some(holder) != told => {
                let (process, doing) = (holder.process, holder.doing());
                output::warning(&format!(
                    "process {process} has been {doing} for more than {} s; other programs wait for it, and fail \
                     after {} s. If it hangs, end it",
                    SAID_AFTER.as_secs(),
                    REFUSED_AFTER.as_secs()
                ));
            }
            (None, Some(holder)) => {
                let Holder { process, .. } = holder;
                output::note(&format!(
                    "process {process} no longer keeps other programs waiting"
                ));
            }
            (Some(_), _) | (None, None) => {}
        }
        told = stuck;
        std::thread::sleep(WATCHED);
    }
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
