//! A plan over servers, from the arguments that all such plans have to the tables.

use std::path::PathBuf;
use std::time::Duration;

use keymark_bench::{Case, DeviceName, MonotonicClock, Plan, Provenance, StackName};
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::tls::{Arrangement, Keys, Measuring, Servers, Starting};
use keymark_stores::device::Run;
use keymark_stores::user::User;

use super::super::Outcome;
use crate::args::TlsRunArguments;
use crate::exit::{Exit, Failure};
use crate::{frame, load, signals};

/// What is to be measured.
pub(super) struct Wanted<'a> {
    pub(super) cases: Vec<Case>,
    pub(super) servers: &'a [StackName],
    pub(super) inventory: &'a Inventory,
    /// By which the devices of the inventory were asked for.
    pub(super) names: &'a [String],
    pub(super) user: &'a User,
    pub(super) duration: Duration,
    pub(super) arguments: &'a TlsRunArguments,
}

impl Wanted<'_> {
    /// Measures it and shows what came of it.
    pub(super) fn run(self, archive: Option<&PathBuf>) -> Outcome {
        load::long_enough(self.duration)?;
        let arguments = self.arguments;
        let servers = self.installed()?;
        let tracing = super::trace::tracing(arguments.trace, self.inventory)?;
        let plan = self.plan();
        if arguments.run.dry_run {
            load::dry_run(&self.cases, self.duration);
            return Ok(Exit::Fine);
        }
        let (interrupt, _) = signals::listen()?;
        let devices = self.inventory.devices.iter();
        let devices = devices.map(|found| found.identity.clone()).collect();
        let mut record = frame::record(plan, devices);
        record.environment.versions.extend(servers.versions());
        let (keys, _others) = self.keys(&load::opening(&record))?;
        let keys = keys.into_iter().map(|keys| keys.with_tracing(tracing));
        let keys: Vec<Keys> = keys.collect();
        let clock = MonotonicClock::new();
        let measuring = Measuring {
            keys: &keys,
            starting: Starting {
                servers: &servers,
                weak: super::weak(arguments.allow_weak),
                way: arguments.openssl,
                processes: arguments.server_processes,
                port: None,
            },
            client: super::client((arguments, self.duration), &clock, &interrupt),
        };
        let how = (&arguments.run, archive);
        Ok(load::measured(
            record,
            &interrupt,
            how,
            |record, seen, view| {
                record.cases = measuring.run(&record.plan, seen, view);
                let kept = keys.iter().filter_map(|keys| keys.restore().err());
                kept.collect::<Vec<_>>()
            },
        ))
    }

    fn installed(&self) -> Result<Servers, Failure> {
        let servers = Servers::find(self.servers).map_err(Failure::nothing_usable)?;
        let mut cases = self.cases.iter();
        if let Some(reason) = cases.find_map(|case| servers.too_old_for(case)) {
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

    fn plan(&self) -> Plan {
        Plan {
            cases: self.cases.clone(),
            settings: load::settings(self.duration, &self.arguments.run),
        }
    }

    /// The keys of every device. Several servers have a twin each, as they would have HSMs; of other devices there
    /// is but one, which they share. With them, the devices that are not the inventory's: their tokens are gone with them.
    fn keys(&self, opening: &Run) -> Result<(Vec<Keys>, Vec<Inventory>), Failure> {
        let open = |found: &Found| {
            Keys::of(found.device.as_ref(), opening).map_err(Failure::nothing_usable)
        };
        let (mut keys, mut others) = (Vec::new(), Vec::new());
        for found in &self.inventory.devices {
            keys.push(open(found)?);
            let device = &found.identity.device;
            let is_twin = found.identity.provenance == Provenance::Twin;
            for _ in 1..if is_twin { self.servers_of(found) } else { 1 } {
                let another = self.another(device)?;
                let same = |found: &&Found| found.identity.device == *device;
                for found in another.devices.iter().filter(same) {
                    keys.push(open(found)?);
                }
                others.push(another);
            }
        }
        Ok((keys, others))
    }

    /// One more of a twin. Its name may be another than that by which it was asked for, such as that of a profile's file.
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
        let cases = self.cases.iter();
        let its = cases.filter(|case| case.device == found.identity.device);
        let arrangements = its.map(Arrangement::of);
        let servers = arrangements.map(|arrangement| arrangement.servers().get());
        servers.max().unwrap_or(1)
    }
}
