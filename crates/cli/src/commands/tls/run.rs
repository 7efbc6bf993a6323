//! A plan over servers, from the arguments that all such plans have to the tables.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::case::{Arrangement, Case, DeviceName, Pacing, Provenance, StackName};
use keymark_bench::clock::MonotonicClock;
use keymark_bench::environment::Environment;
use keymark_bench::plan::{Order, Plan, Settings};
use keymark_bench::record::{CaseRecord, Record, RunId, RunState, SCHEMA};
use keymark_bench::runner::Observer;
use keymark_bench::stop::StopRule;
use keymark_bench::store::StoreIdentity;
use keymark_report::units;
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::servers::Port;
use keymark_stacks::tls::arrangement_of;
use keymark_stacks::tls::{Keys, Measuring, Servers, Starting, Watch};
use keymark_stats::Seconds;
use keymark_stores::device::Run;
use keymark_stores::journal::Journals;
use keymark_stores::user::User;

use super::super::saving::{self, BeingSaved, Saving, Told};
use super::super::{Outcome, show};
use super::view::View;
use crate::args::TlsRunArguments;
use crate::exit::{Exit, Failure};
use crate::observers::JsonStream;
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
        if arguments.dry_run {
            dry_run(&self.cases, self.duration);
            return Ok(Exit::Fine);
        }
        let (interrupt, _) = signals::listen()?;
        let devices = self.inventory.devices.iter();
        let devices = devices.map(|found| found.identity.clone()).collect();
        let record = head(&plan, devices, servers.versions());
        let mut opening = Run::new(plan.settings.seed);
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
                way: arguments.openssl.map(Into::into),
                processes: arguments.server_processes,
                port: Port::Free,
            },
            duration: self.duration,
            threads: arguments.client_threads,
            clock: &clock,
            interrupt: &interrupt,
        };
        let mut kept = Vec::new();
        let exit = measured(
            record,
            &interrupt,
            (arguments, archive),
            |plan, seen, view| {
                let records = measuring.run(plan, seen, view);
                kept.extend(keys.iter().filter_map(|keys| keys.restore().err()));
                records
            },
        );
        for error in &kept {
            output::error(&error.to_string());
        }
        Ok(if kept.is_empty() { exit } else { Exit::Failed })
    }

    fn installed(&self) -> Result<Servers, Failure> {
        let servers = Servers::find(self.servers).map_err(Failure::nothing_usable)?;
        let balanced = |case: &Case| matches!(arrangement_of(case), Arrangement::Balanced { .. });
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
            "{device} is not to be had twice"
        )))
    }

    /// Servers of the case with the most of them.
    fn servers_of(&self, found: &Found) -> u8 {
        let cases = self.cases.iter();
        let its = cases.filter(|case| case.device == found.identity.device);
        let arrangements = its.map(arrangement_of);
        let servers = arrangements.map(|arrangement| arrangement.servers().get());
        servers.max().unwrap_or(1)
    }
}

pub(super) fn settings(duration: Duration, arguments: &TlsRunArguments) -> Settings {
    let seed = arguments.seed;
    Settings {
        stop: StopRule::For(duration),
        order: Order::Sequential,
        time_limit: None,
        warmup: 0,
        seed: seed.unwrap_or_else(super::super::bench::fresh_seed),
        ..Settings::default()
    }
}

pub(super) fn dry_run(cases: &[Case], duration: Duration) {
    output::heading(&format!("{} cases", cases.len()));
    let mut all = Duration::ZERO;
    for case in cases {
        output::line(&format!("  {case}"));
        let searching = match case.load.pacing {
            Pacing::Saturating { .. } => Measuring::step(duration) * SEARCH,
            Pacing::Closed | Pacing::Thinking(_) | Pacing::Open(_) => Duration::ZERO,
        };
        all += searching + duration + AROUND;
    }
    let all = units::duration(Seconds(all.as_secs_f64()));
    output::line(&format!("about {all}, with starting the servers"));
}

pub(super) fn head(
    plan: &Plan,
    stores: Vec<StoreIdentity>,
    versions: BTreeMap<String, String>,
) -> Record {
    let now = jiff::Timestamp::now();
    let mut environment = Environment::capture(env!("KEYMARK_VERSION"));
    environment.view = crate::view::view();
    environment.command = crate::commands::again::typed();
    environment.versions.extend(versions);
    Record {
        schema: SCHEMA,
        id: RunId::fresh(now),
        started: now,
        state: RunState::Unfinished,
        series: None,
        plan: plan.clone(),
        environment,
        harness: None,
        stores,
        cases: plan.cases.iter().cloned().map(CaseRecord::new).collect(),
    }
}

/// Measures the cases of a record, saves and shows them.
pub(super) fn measured(
    mut record: Record,
    interrupt: &AtomicBool,
    (arguments, archive): (&TlsRunArguments, Option<&PathBuf>),
    run: impl FnOnce(&Plan, &mut dyn Observer, &mut dyn Watch) -> Vec<CaseRecord>,
) -> Exit {
    let mut saving = (!arguments.no_save).then(|| Saving::open(archive));
    let saved = measure(&mut record, interrupt, saving.as_mut(), (arguments, run));
    if !arguments.json {
        show::print(&record, &arguments.tables);
    }
    let told = Told::of(arguments.json, arguments.no_save);
    saving::conclude(&record, saved, told)
}

fn measure(
    record: &mut Record,
    interrupt: &AtomicBool,
    saving: Option<&mut Saving>,
    (arguments, run): (
        &TlsRunArguments,
        impl FnOnce(&Plan, &mut dyn Observer, &mut dyn Watch) -> Vec<CaseRecord>,
    ),
) -> Result<(), String> {
    let (plan, devices) = (record.plan.clone(), record.stores.clone());
    let mut saving = saving.map(|saving| saving.begin(record));
    let mut stream = arguments
        .json
        .then(|| JsonStream::new(&plan, &devices, interrupt));
    let mut view = View::new(plan.cases.len());
    {
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(saving.as_mut().and_then(BeingSaved::observer));
        observers.extend(stream.as_mut().map(|stream| stream as &mut dyn Observer));
        record.cases = run(&plan, &mut observers, &mut view);
    }
    view.finish();
    record.state = if interrupt.load(Ordering::Relaxed) {
        RunState::Interrupted
    } else {
        RunState::Finished
    };
    saving.map_or(Ok(()), |saving| saving.finish(record.state))
}
