//! `keymark tls serve`

use std::net::SocketAddr;
use std::num::NonZeroU16;

use keymark_bench::Load;
use keymark_stacks::tls::servers::RunningServer;
use keymark_stacks::tls::{Keys, Servers, Starting};
use keymark_stores::device::Run;
use serde::Serialize;

use crate::args::TlsServeArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::{load, output, signals, user};

/// Connections at once.
const ROOM: NonZeroU16 = NonZeroU16::new(256).unwrap();

/// Description of the server in JSON, for other programs.
#[derive(Serialize)]
struct Description {
    address: SocketAddr,
    path: String,
    /// PEM, what clients have to trust.
    authority: String,
    processes: Vec<u32>,
}

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
    tell(&cluster.first, arguments)?;
    until_told();
    drop(cluster);
    keys.restore()?;
    Ok(Exit::Fine)
}

fn tell(server: &RunningServer, arguments: &TlsServeArguments) -> Result<(), Failure> {
    let authority = server
        .spec
        .certificates
        .iter()
        .next()
        .and_then(|one| one.authority_pem());
    let told = Description {
        address: server.process.address,
        path: server.path(),
        authority: authority.unwrap_or_default(),
        processes: (server.process.processes())
            .iter()
            .map(|process| process.number)
            .collect(),
    };
    if arguments.form.is_json() {
        output::print_json(&told);
        return Ok(());
    }
    output::heading(&format!("https://{}{}", told.address, told.path));
    for (name, value) in server.describe() {
        output::entry(2, &name, 16, &value);
    }
    output::print(&told.authority);
    output::note("it runs until Ctrl-C, with a certificate from the authority above");
    Ok(())
}
