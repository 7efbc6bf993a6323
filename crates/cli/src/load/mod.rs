//! Frame of runs that load servers and services: devices, plan, servers that may be loaded, observers, saving.

mod view;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use keymark_bench::runner::Runner;
use keymark_bench::{
    Case, Load, MonotonicClock, Plan, Record, RunState, Settings, StopRule, StoreIdentity,
    reference,
};
use keymark_load::LoadSettings;
use keymark_report::units;
use keymark_stacks::inventory::Inventory;
use keymark_stacks::loads::{Client, LoadFamily, Watch};
use keymark_stacks::tls::{self, Address, Keys, Remote};
use keymark_stores::device::{Run, Wish};
use keymark_stores::journal::Journals;
use keymark_stores::user::User;

use self::view::View;
use crate::args::{LoadArguments, RunArguments};
use crate::exit::{Exit, Failure, Outcome};
use crate::{frame, output, signals};

/// About what starting and draining a server takes.
const AROUND: Duration = Duration::from_millis(500);
/// About as many loads, of a quarter of the time each, find the best rate over users.
const SEARCH: u32 = 10;

/// The devices of that names, none of them missing.
pub(crate) fn devices(names: &[String], user: &User) -> Result<Inventory, Failure> {
    let inventory = Inventory::look(Some(&[]), &Wish::Named(names.to_vec()), user);
    let inventory = inventory.map_err(Failure::nothing_usable)?;
    if let Some(unknown) = inventory.unknown.first() {
        return Err(Failure::usage(keymark_stores::registry::unknown(unknown)));
    }
    Ok(inventory)
}

/// Returns the loads that are wanted, by default those of `usual` workers.
pub(crate) fn loads(wanted: &LoadArguments, usual: &[u32]) -> Result<Vec<Load>, Failure> {
    if wanted.rate.is_some() && wanted.workers.is_some() {
        let message = "--rate cannot be used with --workers: arrivals wait for no worker";
        return Err(Failure::usage(message));
    }
    let usual = if wanted.rate.is_some() { &[1] } else { usual };
    let usual: Vec<NonZeroU32> = usual.iter().copied().filter_map(NonZeroU32::new).collect();
    let numbers = wanted.at_once().unwrap_or(&usual);
    let load = |number: &NonZeroU32| Load {
        pacing: wanted.pacing(),
        ..Load::closed(*number)
    };
    Ok(numbers.iter().map(load).collect())
}

/// Returns the addresses of a running server, if it may be loaded or audited: on another owner's server that is an attack.
pub(crate) fn own(address: &Address, confirmed: bool) -> Result<Vec<SocketAddr>, Failure> {
    let addresses = address.resolve().map_err(Failure::nothing_usable)?;
    if confirmed || Remote::is_loopback(&addresses) {
        return Ok(addresses);
    }
    Err(Failure::usage(format!(
        "{address} is not this machine, and loading or auditing a server that is not yours is an attack; confirm with \
         --i-own-this-server that it is yours"
    )))
}

/// Refuses a load too short for a rate: a second passes before it counts, and a whole one has to be left.
pub(crate) fn long_enough(duration: Duration) -> Result<(), Failure> {
    const LEAST: Duration = Duration::from_secs(2);
    if duration >= LEAST {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--case-time {} is too short: the first second is not counted, and one more has to remain; the least is {}",
        units::time(duration),
        units::time(LEAST)
    )))
}

fn dry_run(cases: &[Case], duration: Duration) {
    frame::print_cases(cases);
    let mut all = Duration::ZERO;
    for case in cases {
        let searching = match case.parameters.get(tls::MOST_USERS.name) {
            Some(_) => tls::search_step(duration) * SEARCH,
            None => Duration::ZERO,
        };
        all += searching + duration + AROUND;
    }
    let all = units::time(all);
    output::line(&format!("about {all}, including starting the servers"));
}

/// Opening of devices for a run.
pub(crate) fn opening(record: &Record) -> Run {
    let mut opening = Run::new(record.plan.settings.seed);
    let journals = Journals::of_user().ok();
    opening.journals = journals.map(|journals| (journals, record.id.to_string()));
    opening
}

/// Keys of all devices of an inventory.
pub(crate) fn keys(inventory: &Inventory, opening: &Run) -> Result<Vec<Keys>, Failure> {
    inventory
        .devices
        .iter()
        .map(|found| Keys::of(found.device.as_ref(), opening).map_err(Failure::nothing_usable))
        .collect()
}

/// Run over servers or services, from its cases to its tables.
pub(crate) struct LoadRun<'a> {
    /// Cases of other stacks, which are measured first.
    pub(crate) beside: Vec<Case>,
    /// Cases of the servers or services.
    pub(crate) cases: Vec<Case>,
    pub(crate) inventory: &'a Inventory,
    /// Device outside the inventory.
    pub(crate) elsewhere: Option<StoreIdentity>,
    /// Versions of the installed programs.
    pub(crate) versions: Vec<(String, String)>,
    /// Settings of the client, with the duration of a load.
    pub(crate) client: LoadSettings,
    pub(crate) arguments: &'a RunArguments,
}

impl LoadRun<'_> {
    pub(crate) fn plan(&self) -> Plan {
        Plan {
            cases: [&self.beside[..], &self.cases].concat(),
            settings: Settings {
                stop: StopRule::For(self.client.duration),
                time_limit: None,
                warmup: 0,
                seed: self.arguments.seed(),
                ..Settings::default()
            },
        }
    }

    /// Measures the cases, saves and shows them. `family` makes the servers' keys ready; a dry run needs none.
    pub(crate) fn run<'f>(
        self,
        archive: Option<&PathBuf>,
        family: impl FnOnce(&Record) -> Result<Box<dyn LoadFamily + 'f>, Failure>,
    ) -> Outcome {
        let plan = self.plan();
        if self.arguments.dry_run {
            dry_run(&plan.cases, self.client.duration);
            return Ok(Exit::Fine);
        }
        let (interrupt, _) = signals::listen()?;
        let identities = self
            .inventory
            .devices
            .iter()
            .map(|found| found.identity.clone());
        let mut record = frame::record(plan, identities.chain(self.elsewhere).collect());
        record.environment.versions.extend(self.versions);
        let family = family(&record)?;
        let first = Plan {
            cases: self.beside,
            settings: record.plan.settings.clone(),
        };
        let stacks = self.inventory.open(&first, &opening(&record));
        let mut stacks = stacks.map_err(Failure::nothing_usable)?;
        let clock = MonotonicClock::new();
        let client = Client {
            settings: self.client,
            clock: &clock,
            interrupt: &interrupt,
        };
        let kept = (archive, self.arguments);
        Ok(frame::run(kept, record, &interrupt, |record, observers| {
            if !first.cases.is_empty() {
                let runner = Runner {
                    reference: reference::calculate,
                    clock: &clock,
                    interrupt: &interrupt,
                };
                let measured = runner.run(&first, &stacks.by_name(), observers);
                record.harness = Some(measured.harness);
                record.cases.splice(..first.cases.len(), measured.cases);
            }
            let mut kept = stacks.end();
            let mut view = View::new(record.cases.len());
            let seen_by = (observers, &mut view as &mut dyn Watch);
            client.run(&*family, &record.plan, &mut record.cases, seen_by);
            view.finish();
            record.state = if interrupt.load(Ordering::Relaxed) {
                RunState::Interrupted
            } else {
                RunState::Finished
            };
            kept.extend(family.restore());
            kept
        }))
    }
}
