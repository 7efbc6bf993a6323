//! `keymark tls serve`

use std::num::NonZeroU16;

use keymark_bench::Load;
use keymark_stacks::tls::servers::RunningServer;
use keymark_stacks::tls::{Keys, Servers, Starting};
use keymark_stores::device::Run;
use serde_json::json;

use crate::args::TlsServeArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::{load, output, signals, user};

/// Connections at once.
const ROOM: NonZeroU16 = NonZeroU16::new(256).unwrap();

pub(super) fn run(arguments: &TlsServeArguments) -> Outcome {
    let user = user::of_arguments(&arguments.card);
    let inventory = load::devices(std::slice::from_ref(&arguments.device), &user)?;
    let servers = Servers::find(&[arguments.server]).map_err(Failure::nothing_usable)?;
    let until_told = signals::until_told()?;
    let found = inventory
        .devices
        .first()
        .ok_or_else(|| Failure::nothing_usable(format!("{} is not available", arguments.device)))?;
    let keys = Keys::of(found.device.as_ref(), &Run::new(0)).map_err(Failure::nothing_usable)?;
    let handshake = super::handshake(arguments.tls, arguments.kex);
    let asked = (arguments.server, arguments.algorithm);
    let case = super::case(&found.identity, asked, handshake, Load::single());
    let starting = Starting {
        servers: &servers,
        weak: super::weak(arguments.allow_weak),
        way: arguments.openssl,
        processes: NonZeroU16::MIN,
        port: arguments.port,
    };
    let cluster = starting
        .start(&case, &[&keys], ROOM)
        .map_err(Failure::nothing_usable)?;
    tell(&cluster.first, arguments);
    until_told();
    drop(cluster);
    keys.restore()?;
    Ok(Exit::Fine)
}

fn tell(server: &RunningServer, arguments: &TlsServeArguments) {
    // PEM, what clients have to trust.
    let authority = server.spec.certificates.first.authority.to_pem();
    let authority = String::from_utf8_lossy(authority.as_deref().unwrap_or_default());
    let (address, path) = (server.process.address, server.path());
    if arguments.form.is_json() {
        let processes = server.process.processes();
        let processes: Vec<u32> = processes.iter().map(|process| process.number).collect();
        output::print_json(&json!({
            "address": address, "path": path, "authority": authority, "processes": processes,
        }));
        return;
    }
    output::heading(&format!("https://{address}{path}"));
    for (name, value) in server.describe() {
        output::entry(2, &name, 16, &value);
    }
    output::print(&authority);
    output::note("it runs until Ctrl-C, with a certificate from the authority above");
}
