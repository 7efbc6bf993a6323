//! A plan over servers, from the arguments that all such plans have to the tables.

use std::path::PathBuf;
use std::time::Duration;

use itertools::Itertools;
use keymark_bench::{Case, DeviceName, Provenance, StackName};
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::tls::{Arrangement, Keys, Servers, StartedServers, Starting, Tracing};
use keymark_stores::access::AccessKind;
use keymark_stores::device::Run;
use keymark_stores::user::User;

use crate::args::TlsRunArguments;
use crate::exit::{Failure, Outcome};
use crate::load::{self, LoadRun};

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
