//! A plan over servers, from the arguments that all such plans have to the tables.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::case::{Case, DeviceName, Provenance, StackName};
use keymark_bench::clock::MonotonicClock;
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::{CaseRecord, Record, RunState};
use keymark_bench::runner::Observer;
use keymark_bench::stop::StopRule;
use keymark_report::units;
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::tls::servers::Port;
use keymark_stacks::tls::{
    self, Arrangement, Client, Keys, Measuring, Servers, Starting, Timeouts, Watch,
};
use keymark_stores::device::Run;
use keymark_stores::journal::Journals;
use keymark_stores::user::User;

use super::super::Outcome;
use super::view::View;
use crate::args::TlsRunArguments;
use crate::exit::{Exit, Failure};
use crate::frame::{self, Frame};
use crate::{output, signals};

/// About what starting and draining a server takes.
const AROUND: Duration = Duration::from_millis(500);
/// About as many loads, of a quarter of the time each, find the best rate over users.
const SEARCH: u32 = 10;

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
        let arguments = self.arguments;
        let servers = self.installed()?;
        let tracing = super::trace::tracing(arguments.trace, self.inventory)?;
        let plan = self.plan();
        if arguments.run.dry_run {
            dry_run(&self.cases, self.duration);
            return Ok(Exit::Fine);
        }
        let (interrupt, _) = signals::listen()?;
        let devices = self.inventory.devices.iter();
        let devices = devices.map(|found| found.identity.clone()).collect();
        let mut record = frame::record(plan, devices);
        record.environment.versions.extend(servers.versions());
        let mut opening = Run::new(record.plan.settings.seed);
        let journals = Journals::of_user().ok();
        opening.journals = journals.map(|journals| (journals, record.id.to_string()));
        let (keys, _others) = self.keys(&opening)?;
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
                port: Port::Free,
            },
            client: Client {
                duration: self.duration,
                threads: arguments.client_threads,
                timeouts: Timeouts::default(),
                weak: super::weak(arguments.allow_weak),
                clock: &clock,
                interrupt: &interrupt,
            },
        };
        let how = (arguments, archive);
        Ok(measured(record, &interrupt, how, |plan, seen, view| {
            let records = measuring.run(plan, seen, view);
            let kept = keys.iter().filter_map(|keys| keys.restore().err());
            (records, kept.collect())
        }))
    }

    fn installed(&self) -> Result<Servers, Failure> {
        let servers = Servers::find(self.servers).map_err(Failure::nothing_usable)?;
        let balanced = |case: &Case| matches!(Arrangement::of(case), Arrangement::Balanced { .. });
        if self.cases.iter().any(balanced) {
            return servers.and_balancer().map_err(Failure::nothing_usable);
        }
        Ok(servers)
    }

    fn plan(&self) -> Plan {
        Plan {
            cases: self.cases.clone(),
            settings: settings(self.duration, self.arguments),
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
            let more = match found.identity.provenance {
                Provenance::Twin => self.servers_of(found) - 1,
                Provenance::Measured
                | Provenance::Virtual
                | Provenance::Predicted
                | Provenance::Published => 0,
            };
            let device = &found.identity.device;
            for _ in 0..more {
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
            let inventory = super::devices(std::slice::from_ref(name), self.user)?;
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

pub(super) fn settings(duration: Duration, arguments: &TlsRunArguments) -> Settings {
    Settings {
        stop: StopRule::For(duration),
        time_limit: None,
        warmup: 0,
        seed: arguments.run.seed(),
        ..Settings::default()
    }
}

pub(super) fn dry_run(cases: &[Case], duration: Duration) {
    frame::print_cases(cases);
    let mut all = Duration::ZERO;
    for case in cases {
        let searching = match case.parameters.get(tls::SEARCH.name) {
            Some(_) => Measuring::step(duration) * SEARCH,
            None => Duration::ZERO,
        };
        all += searching + duration + AROUND;
    }
    let all = units::time(all);
    output::line(&format!("about {all}, including starting the servers"));
}

/// Measures the cases of a record, saves and shows them. `run` returns the cases, and what it could not undo.
pub(super) fn measured<E: Display>(
    record: Record,
    interrupt: &AtomicBool,
    (arguments, archive): (&TlsRunArguments, Option<&PathBuf>),
    run: impl FnOnce(&Plan, &mut dyn Observer, &mut dyn Watch) -> (Vec<CaseRecord>, Vec<E>),
) -> Exit {
    let frame = Frame {
        archive,
        arguments: &arguments.run,
        report: false,
    };
    frame.run(record, interrupt, |record, observers| {
        let mut view = View::new(record.cases.len());
        let (cases, kept) = run(&record.plan, observers, &mut view);
        view.finish();
        record.cases = cases;
        record.state = if interrupt.load(Ordering::Relaxed) {
            RunState::Interrupted
        } else {
            RunState::Finished
        };
        kept
    })
}
