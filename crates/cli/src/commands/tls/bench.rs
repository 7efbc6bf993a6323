//! `keymark tls bench`

use std::path::PathBuf;

use itertools::iproduct;
use keymark_bench::{Case, Load};
use keymark_stacks::inventory::Inventory;
use keymark_stacks::tls::{Handshake, Saturating};

use super::run::TlsRun;
use crate::args::TlsBenchArguments;
use crate::exit::{Failure, Outcome};
use crate::{load, user};

/// Workers unless a number is named.
const WORKERS: u32 = 8;

pub(super) fn run(arguments: &TlsBenchArguments, archive: Option<&PathBuf>) -> Outcome {
    let user = user::of_arguments(&arguments.run.run.card);
    let inventory = load::devices(&arguments.selection.device, &user)?;
    let run = TlsRun {
        cases: cases(arguments, &inventory)?,
        servers: &arguments.selection.server,
        inventory: &inventory,
        names: &arguments.selection.device,
        user: &user,
        duration: arguments.case_time,
        arguments: &arguments.run,
    };
    run.run(archive)
}

/// Every server with every device, certificate and key exchange, under every load.
fn cases(arguments: &TlsBenchArguments, inventory: &Inventory) -> Result<Vec<Case>, Failure> {
    let (chosen, loads) = (&arguments.selection, loads(arguments)?);
    let on = iproduct!(&chosen.server, &inventory.devices, &chosen.algorithm);
    let all = iproduct!(on, &chosen.kex, &chosen.resume, &loads);
    let cases = all.map(|((stack, found, algorithm), kex, resumed, load)| {
        let handshake = Handshake {
            search: search(arguments),
            resumed: *resumed,
            client: chosen.client_certificate,
            ..super::handshake(chosen.tls, *kex)
        };
        Case {
            input_bytes: chosen.body,
            ..super::case(&found.identity, (*stack, *algorithm), handshake, *load)
        }
    });
    Ok(cases.collect())
}

/// Search in place of a chosen load.
pub(super) fn search(arguments: &TlsBenchArguments) -> Option<Saturating> {
    let chosen = &arguments.selection;
    chosen.saturate.then_some(Saturating {
        most: chosen.most_workers,
        p99: chosen.p99,
    })
}

pub(super) fn loads(arguments: &TlsBenchArguments) -> Result<Vec<Load>, Failure> {
    let chosen = &arguments.selection;
    if chosen.saturate {
        return Ok(vec![Load::single()]);
    }
    load::loads(&chosen.load, &[WORKERS])
}
