//! `keymark tls bench`, and what it shares with the suites: a plan over servers.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use itertools::{Itertools, iproduct};
use keymark_bench::{
    Case, CaseRecord, DeviceName, Load, MonotonicClock, Plan, Provenance, StackName,
};
use keymark_load::{LoadProgress, LoadSettings, Observer};
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::loads::{Client, Watch};
use keymark_stacks::tls::{
    Address, Arrangement, CONNECT, ClientLine, Clients, Handshake, Keys, Remote, RemoteServer,
    Saturating, Servers, StartedServers, Starting, Tracing, Tried, clients,
};
use keymark_stores::access::AccessKind;
use keymark_stores::device::Run;
use keymark_stores::user::User;

use crate::args::{TlsBenchArguments, TlsRunArguments};
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
    fn begin(&mut self, _: &Case) {}
}

impl Observer for Teller {
    fn progress(&mut self, _: &LoadProgress) {}

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

/// Cases over servers, and how they are measured.
pub(super) struct TlsRun<'a> {
    pub(super) cases: Vec<Case>,
    pub(super) servers: &'a [StackName],
    pub(super) inventory: &'a Inventory,
    /// Names under which the devices of the inventory were requested.
    pub(super) names: &'a [String],
    pub(super) user: &'a User,
    pub(super) duration: Duration,
    pub(super) arguments: &'a TlsRunArguments,
}

impl TlsRun<'_> {
    /// Measures the cases and shows the result.
    pub(super) fn run(self, archive: Option<&PathBuf>) -> Outcome {
        load::long_enough(self.duration)?;
        let arguments = self.arguments;
        let servers = self.installed()?;
        let tracing = tracing(arguments.trace, self.inventory)?;
        let load = LoadRun {
            beside: Vec::new(),
            cases: self.cases.clone(),
            inventory: self.inventory,
            elsewhere: None,
            versions: servers.versions().into_iter().collect(),
            client: super::client(arguments, self.duration),
            arguments: &arguments.run,
        };
        load.run(archive, |record| {
            let (keys, copies) = self.keys(&load::opening(record))?;
            let keys = keys.into_iter().map(|keys| keys.with_tracing(tracing));
            Ok(Box::new(StartedServers {
                keys: keys.collect(),
                copies,
                starting: Starting {
                    servers: &servers,
                    weak: super::weak(arguments.allow_weak),
                    way: arguments.openssl,
                    processes: arguments.server_processes,
                    port: None,
                },
            }))
        })
    }

    fn installed(&self) -> Result<Servers, Failure> {
        let servers = Servers::find(self.servers).map_err(Failure::nothing_usable)?;
        if let Some(reason) = self.cases.iter().find_map(|case| servers.too_old_for(case)) {
            return Err(Failure::nothing_usable(format!(
                "{reason}. Caddy has X25519MLKEM768 on every machine: 'make caddy', then --server caddy"
            )));
        }
        let balanced = |case: &Case| matches!(Arrangement::of(case), Arrangement::Balanced { .. });
        if self.cases.iter().any(balanced) {
            return servers.and_balancer().map_err(Failure::nothing_usable);
        }
        Ok(servers)
    }

    /// The keys of every device. Several servers have a twin each, as they would have HSMs; of other devices there
    /// is but one, which they share. With them, the devices that are not the inventory's: their tokens are gone with them.
    fn keys(&self, opening: &Run) -> Result<(Vec<Keys>, Vec<Inventory>), Failure> {
        let mut keys = load::keys(self.inventory, opening)?;
        let mut copies = Vec::new();
        for found in &self.inventory.devices {
            let device = &found.identity.device;
            let is_twin = found.identity.provenance == Provenance::Twin;
            for _ in 1..if is_twin { self.servers_of(found) } else { 1 } {
                let another = self.another(device)?;
                let more = load::keys(&another, opening)?.into_iter();
                keys.extend(more.filter(|keys| keys.identity().device == *device));
                copies.push(another);
            }
        }
        Ok((keys, copies))
    }

    /// Opens another copy of a twin. Its requested name may differ from its own, such as the name of a profile's
    /// file.
    fn another(&self, device: &DeviceName) -> Result<Inventory, Failure> {
        for name in self.names {
            let inventory = load::devices(std::slice::from_ref(name), self.user)?;
            let mut found = inventory.devices.iter();
            if found.any(|found| found.identity.device == *device) {
                return Ok(inventory);
            }
        }
        Err(Failure::nothing_usable(format!(
            "{device} cannot be used twice"
        )))
    }

    /// Servers of the case with the most of them.
    fn servers_of(&self, found: &Found) -> u8 {
        let its = self
            .cases
            .iter()
            .filter(|case| case.device == found.identity.device);
        let arrangements = its.map(Arrangement::of);
        let servers = arrangements.map(|arrangement| arrangement.servers().get());
        servers.max().unwrap_or(1)
    }
}

/// Returns whether calls are counted, which takes a key behind a PKCS#11 module.
fn tracing(wanted: bool, inventory: &Inventory) -> Result<Tracing, Failure> {
    if !wanted {
        return Ok(Tracing::Off);
    }
    if inventory
        .devices
        .iter()
        .any(|found| found.device.has(AccessKind::Module))
    {
        return Ok(Tracing::Calls);
    }
    let names = inventory.devices.iter().map(|found| &found.identity.device);
    Err(Failure::usage(format!(
        "--trace counts calls to PKCS#11 tokens, but the key of '{}' is not on one",
        names.format("', '")
    )))
}
