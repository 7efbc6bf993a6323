//! `keymark bench`

mod child;
mod planning;
mod series;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use keymark_bench::runner::{Observer, Runner, Spent};
use keymark_bench::{MonotonicClock, Plan, Record, RunState, reference};
use keymark_report::units;
use keymark_stacks::inventory::{Found, Inventory, OpenStacks};
use keymark_stacks::raw::LIBRARY;
use keymark_stores::access::Library;
use keymark_stores::device::Run;
use keymark_stores::software;

use self::planning::Planned;
use crate::args::BenchArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::view::RunView;
use crate::{frame, output, signals};

pub(super) fn run(arguments: &BenchArguments, archive: Option<&PathBuf>) -> Outcome {
    if arguments.series.is_wanted() && !arguments.run.dry_run {
        return series::run_series(arguments, archive);
    }
    let planned = Planned::of(arguments)?;
    if arguments.run.dry_run {
        planned.print(&arguments.series, archive);
        return Ok(Exit::Fine);
    }
    measure_plan(&planned, arguments, archive)
}

/// Measures a plan into a record, which is saved and shown.
fn measure_plan(
    planned: &Planned,
    arguments: &BenchArguments,
    archive: Option<&PathBuf>,
) -> Outcome {
    planned.say_what_is_missing();
    let Planned {
        plan, inventory, ..
    } = planned;
    inventory.agree(plan)?;
    let (interrupt, _) = signals::listen()?;
    let record = record(plan.clone(), inventory);
    let mut opening = Run::new(record.plan.settings.seed);
    opening.journals = planned
        .journals
        .clone()
        .map(|journals| (journals, record.id.to_string()));
    let mut stacks = inventory
        .open(&record.plan, &opening)
        .map_err(Failure::nothing_usable)?;
    let kept = (archive, &arguments.run);
    Ok(frame::run(kept, record, &interrupt, |record, observers| {
        let cost = Planned::costs(archive);
        let view = RunView::of(&record.plan, &cost);
        measure(record, &stacks, &interrupt, view, observers);
        stacks.end()
    }))
}

/// The record before anything is measured.
fn record(plan: Plan, inventory: &Inventory) -> Record {
    let planned = |device: &&Found| {
        plan.cases
            .iter()
            .any(|case| case.device == device.identity.device)
    };
    let stores = inventory.devices.iter().filter(planned);
    let stores = stores.map(|device| device.identity.clone()).collect();
    let mut record = frame::record(plan, stores);
    let versions = &mut record.environment.versions;
    for device in &inventory.devices {
        // A device's own firmware is its own affair, and is shown with the device.
        let programs = device.identity.versions.iter().filter(|(name, _)| {
            !device.device.identity().versions.contains_key(*name) || *name == "openssl"
        });
        let programs = programs.map(|(name, version)| (name.clone(), version.clone()));
        versions.extend(programs);
    }
    for (name, version) in libraries(&record.plan) {
        // GnuPG's may be another than the one that the loader finds.
        let known = versions.get(&name);
        let alike = known.is_none_or(|known| *known == version);
        let name = if alike {
            name
        } else {
            format!("{name} loaded")
        };
        versions.insert(name, version);
    }
    record
}

/// Versions of the libraries that a plan has loaded.
fn libraries(plan: &Plan) -> BTreeMap<String, String> {
    let named = plan
        .cases
        .iter()
        .filter_map(|case| case.parameters.read::<Library>(&LIBRARY).ok()?);
    let version = |library: Library| {
        // One that is missing has no case.
        let loaded = software::load(library).ok()?;
        Some((library.to_string(), loaded.version()))
    };
    named.filter_map(version).collect()
}

/// Runs the plan into the record.
fn measure(
    record: &mut Record,
    stacks: &OpenStacks,
    interrupt: &AtomicBool,
    mut view: RunView,
    observers: &mut dyn Observer,
) {
    let clock = MonotonicClock::new();
    let mut all: Vec<&mut dyn Observer> = vec![&mut view, observers];
    let runner = Runner {
        reference: reference::calculate,
        clock: &clock,
        interrupt,
    };
    let measured = runner.run(&record.plan, &stacks.by_name(), &mut all);
    drop(view);
    output::note(&took(measured.spent));
    record.harness = Some(measured.harness);
    record.cases = measured.cases;
    record.state = if measured.interrupted {
        RunState::Interrupted
    } else {
        RunState::Finished
    };
}

fn took(spent: Spent) -> String {
    let [all, preparing, measuring, checking] = [
        spent.total(),
        spent.preparing,
        spent.measuring,
        spent.checking,
    ]
    .map(units::time);
    format!("{all} ({preparing} preparing, {measuring} measuring, {checking} checking results)")
}
