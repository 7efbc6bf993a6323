//! `keymark tls bench`

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use itertools::iproduct;
use keymark_bench::{Case, CaseRecord, Load, MonotonicClock, Plan};
use keymark_load::{LoadProgress, LoadSettings};
use keymark_stacks::inventory::Inventory;
use keymark_stacks::loads::{Client, Watch};
use keymark_stacks::tls::{
    Address, CONNECT, ClientLine, Clients, Handshake, Remote, RemoteServer, Saturating, Tried,
    clients,
};

use super::run::TlsRun;
use crate::args::TlsBenchArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::load::{self, LoadRun};
use crate::{output, signals, user};

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
fn search(arguments: &TlsBenchArguments) -> Option<Saturating> {
    let chosen = &arguments.selection;
    chosen.saturate.then_some(Saturating {
        most: chosen.most_workers,
        p99: chosen.p99,
    })
}

fn loads(arguments: &TlsBenchArguments) -> Result<Vec<Load>, Failure> {
    let chosen = &arguments.selection;
    if chosen.saturate {
        return Ok(vec![Load::single()]);
    }
    load::loads(&chosen.load, &[WORKERS])
}

/// Measures a server that runs already.
pub(super) fn connect(
    address: &Address,
    arguments: &TlsBenchArguments,
    archive: Option<&PathBuf>,
) -> Outcome {
    let remote = remote(address, arguments);
    let addresses = load::own(address, arguments.remote.i_own_this_server)?;
    let (interrupt, _) = signals::listen()?;
    let clock = MonotonicClock::new();
    let tries = arguments.selection.kex.iter().map(|kex| {
        let wanted = (super::version(arguments.selection.tls, *kex), *kex);
        let reached = remote.reach(&addresses, wanted, (&clock, &interrupt));
        (wanted, reached)
    });
    let reached: Vec<Tried> = tries.collect();
    if interrupt.load(Ordering::Relaxed) {
        output::note(&format!(
            "ended before {} answered; nothing was measured",
            remote.address
        ));
        return Ok(Exit::Interrupted);
    }
    let told = arguments.remote.told.as_ref().map(told).transpose()?;
    let user = user::of_arguments(&arguments.run.run.card);
    let load = LoadRun {
        beside: Vec::new(),
        cases: cases_of(&remote, &reached, arguments)?,
        inventory: &load::devices(&[], &user)?,
        elsewhere: Some(remote.address.identity()),
        versions: Vec::new(),
        client: LoadSettings {
            ramp: arguments.remote.ramp.unwrap_or_default(),
            ..super::client(&arguments.run, arguments.case_time)
        },
        arguments: &arguments.run.run,
    };
    let server = RemoteServer {
        told: told.as_ref(),
        remote: &remote,
        reached: &reached,
    };
    if arguments.remote.tell && !arguments.run.run.dry_run {
        let client = Client {
            settings: load.client.clone(),
            clock: &clock,
            interrupt: &interrupt,
        };
        return tell(&client, &server, &load.plan());
    }
    load.run(archive, |_| Ok(Box::new(server)))
}

/// Reads the reports of several clients.
fn told(file: &PathBuf) -> Result<Clients, Failure> {
    let opened = File::open(file).map_err(|error| {
        Failure::nothing_usable(format!("cannot read {}: {error}", file.display()))
    })?;
    clients(BufReader::new(opened)).map_err(Failure::nothing_usable)
}

/// Prints what one load tells.
fn tell(client: &Client<'_>, server: &RemoteServer<'_>, plan: &Plan) -> Outcome {
    let [_] = plan.cases.as_slice() else {
        return Err(Failure::usage(
            "--tell needs one key exchange and one number of users, or a rate",
        ));
    };
    let mut cases: Vec<CaseRecord> = plan.cases.iter().cloned().map(CaseRecord::new).collect();
    let mut teller = Teller(|line| output::print_json(&line));
    client.run(server, plan, &mut cases, (&mut (), &mut teller));
    match cases.pop().as_ref().and_then(CaseRecord::failure) {
        Some(failure) => Err(Failure::failed(failure)),
        None => Ok(Exit::Fine),
    }
}

/// Passes lines on.
struct Teller(fn(ClientLine));

impl Watch for Teller {
    fn progress(&mut self, _: &Case, _: &LoadProgress) {}

    fn lines(&mut self) -> Option<&mut dyn FnMut(ClientLine)> {
        Some(&mut self.0)
    }
}

fn remote(address: &Address, arguments: &TlsBenchArguments) -> Remote {
    Remote {
        address: address.clone(),
        server_name: arguments.remote.server_name.clone(),
        path: arguments.remote.path.clone(),
        authority: arguments.remote.authority.clone(),
        weak: super::weak(arguments.run.allow_weak),
    }
}

/// Every key exchange under every load. The algorithm is that of the certificate's key.
fn cases_of(
    remote: &Remote,
    reached: &[Tried],
    arguments: &TlsBenchArguments,
) -> Result<Vec<Case>, Failure> {
    let identity = remote.address.identity();
    let first = reached.iter().find_map(|(_, found)| found.as_ref().ok());
    let Some(first) = first else {
        let mut errors = reached.iter().filter_map(|(_, found)| found.as_ref().err());
        let error = errors.next().map(ToString::to_string);
        return Err(Failure::nothing_usable(error.unwrap_or_default()));
    };
    let loads = loads(arguments)?;
    let mut cases = Vec::new();
    for ((version, key_exchange), found) in reached {
        let server = found.as_ref().unwrap_or(first);
        let algorithm = server.key().ok_or_else(|| {
            Failure::nothing_usable("keymark does not support the key of the server's certificate")
        })?;
        let each = iproduct!(&arguments.selection.resume, &loads);
        cases.extend(each.map(|(resumed, load)| {
            let handshake = Handshake {
                search: search(arguments),
                resumed: *resumed,
                ..Handshake::one(*version, *key_exchange)
            };
            Case {
                input_bytes: server.body(),
                ..super::case(&identity, (CONNECT, algorithm), handshake, *load)
            }
        }));
    }
    Ok(cases)
}
