//! `keymark bench`

mod child;
mod selection;
mod series;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::reference;
use keymark_bench::runner::{Observer, Runner, Spent};
use keymark_bench::{
    Case, DeviceName, Error, MonotonicClock, Plan, PlanError, Record, RunState, Selection,
};
use keymark_report::archive::LastMeans;
use keymark_report::units;
use keymark_stacks::inventory::{Found, Inventory, OpenStacks};
use keymark_stacks::plans::NamedPlan;
use keymark_stacks::provider::Way;
use keymark_stacks::raw::LIBRARY;
use keymark_stacks::registry;
use keymark_stores::access::Library;
use keymark_stores::device::{Run, Wish};
use keymark_stores::journal::Journals;
use keymark_stores::software;
use keymark_stores::user::User;

use super::Outcome;
use crate::args::BenchArguments;
use crate::exit::{Exit, Failure};
use crate::frame::{self, Frame};
use crate::view::RunView;
use crate::{archive, leftovers, output, signals, user};

pub(super) fn run(arguments: &BenchArguments, archive: Option<&PathBuf>) -> Outcome {
    if arguments.series.is_wanted() && !arguments.run.dry_run {
        return series::run(arguments, archive);
    }
    let (wish, user) = (wish(arguments), user::of_arguments(&arguments.run.card));
    // Who has no home writes to no token.
    let journals = Journals::of_user().ok();
    let inventory = look(arguments, &wish, &user, journals.as_ref())?;
    let consent_fits = || {
        let present = inventory.present_tokens();
        user::consent_fits(&arguments.run.card, &present).map_err(Failure::usage)
    };
    // Of what cannot be seen the plan says more.
    if inventory.unseen.is_none() {
        consent_fits()?;
    }
    let (plan, selections) = plan(arguments, &inventory)?;
    consent_fits()?;
    user::pins_fit(&arguments.run.card.pins, &inventory.tokens(&plan)).map_err(Failure::usage)?;
    inventory.check(&plan).map_err(Failure::usage)?;
    if arguments.run.dry_run {
        dry_run(&plan, &inventory, archive);
        series::foresee(&arguments.series);
        return Ok(Exit::Fine);
    }
    say_what_is_missing(&inventory, &wish, &plan, &selections);
    inventory.agree(&plan)?;
    let (interrupt, _) = signals::listen()?;
    let record = record(plan, &inventory);
    let mut opening = Run::new(record.plan.settings.seed);
    opening.journals = journals.map(|journals| (journals, record.id.to_string()));
    let mut stacks = inventory
        .open(&record.plan, &opening)
        .map_err(Failure::nothing_usable)?;
    let frame = Frame {
        archive,
        arguments: &arguments.run,
        report: arguments.report,
    };
    Ok(frame.run(record, &interrupt, |record, observers| {
        let cost = costs(&inventory, archive);
        let view = RunView::of(&record.plan, &cost);
        measure(record, &stacks, &interrupt, view, observers);
        stacks.end()
    }))
}

/// What is here, once what killed runs have left on tokens is removed from those that may be written to.
fn look(
    arguments: &BenchArguments,
    wish: &Wish,
    user: &User,
    journals: Option<&Journals>,
) -> Result<Inventory, Failure> {
    let of_plan = arguments.named_plan().map(NamedPlan::stacks);
    let stacks = of_plan.as_deref().or(arguments.selection.stack.as_deref());
    let look = || Inventory::look(stacks, wish, user).map_err(Failure::nothing_usable);
    let mut inventory = look()?;
    let Some(journals) = journals.filter(|_| !arguments.run.dry_run) else {
        return Ok(inventory);
    };
    if !leftovers::tidy(journals, &inventory, &arguments.run.card)? {
        return Ok(inventory);
    }
    // A test key that is gone is no key to measure. Its owner's programs get the token back after the run.
    let borrowed = inventory.borrowed.take();
    drop(inventory);
    let mut inventory = look()?;
    inventory.borrowed = inventory.borrowed.take().or(borrowed);
    Ok(inventory)
}

/// Which devices are looked for.
fn wish(arguments: &BenchArguments) -> Wish {
    match &arguments.selection.device {
        None if arguments.named_plan().is_some() => Wish::Default,
        None => Wish::Software,
        Some(names) if names.iter().any(|name| name == "all") => Wish::All,
        Some(names) => Wish::Named(names.clone()),
    }
}

/// The plan, and the selections that it was made of.
fn plan(
    arguments: &BenchArguments,
    inventory: &Inventory,
) -> Result<(Plan, Vec<Selection>), Failure> {
    let offers = inventory.offers();
    let seed = arguments.run.seed();
    let devices = selected(arguments, inventory)?;
    let selections = selection::selections(arguments, &offers, devices);
    let missing = missing(inventory, &selections).map(|(_, _, error)| error);
    let missing = missing.chain(&inventory.unseen);
    let settings = selection::settings(arguments, seed);
    let plan = Plan::build(&selections, &offers, settings).map_err(|error| {
        let mut message = error.to_string();
        message.extend(missing.take(1).map(|missing| format!("\n  {missing}")));
        match error {
            PlanError::LacksOperation { .. }
            | PlanError::UnknownDevice(_)
            | PlanError::NoProcesses(_) => Failure::usage(message),
            PlanError::NotOffered { .. } | PlanError::Nothing => Failure::nothing_usable(message),
        }
    })?;
    // Ratios to anything else would not be what was asked for.
    if let Some(baseline) = &arguments.baseline
        && (0..plan.cases.len()).all(|index| plan.baseline(index).is_none())
    {
        return Err(Failure::usage(format!(
            "the baseline '{baseline}' is not in the plan; measure it, too, or name another --baseline"
        )));
    }
    Ok((plan, selections))
}

/// The ways that were wanted and are missing.
fn missing<'a>(
    inventory: &'a Inventory,
    selections: &'a [Selection],
) -> impl Iterator<Item = (&'a DeviceName, &'a Way, &'a Error)> {
    inventory.missing().filter(|(device, way, _)| {
        let sets = (
            registry::dimensions_of(way.stack),
            way.parameters.as_slice(),
        );
        let wanted = |selection: &Selection| {
            selection.wants_device(device) && selection.wants_way(way.stack, way.standing, sets)
        };
        selections.iter().any(wanted)
    })
}

/// The devices of the selection, by the names that the plan knows them by.
fn selected(
    arguments: &BenchArguments,
    inventory: &Inventory,
) -> Result<Option<Vec<DeviceName>>, Failure> {
    if let Some(unknown) = inventory.unknown.first() {
        let message = PlanError::UnknownDevice(DeviceName::new(unknown)).to_string();
        // It may well be a card that nobody could look for.
        let unseen = inventory.unseen.as_ref().map(ToString::to_string);
        let occupied = inventory.occupied.first();
        let occupied = occupied.map(|reader| format!("{reader}; {}", reader.advice()));
        return Err(match unseen.or(occupied) {
            Some(why) => Failure::nothing_usable(format!("{message}\n  {why}")),
            None => Failure::usage(message),
        });
    }
    let named = arguments.selection.device.as_ref();
    Ok(named.map(|_| inventory.names()))
}

fn say_what_is_missing(inventory: &Inventory, wish: &Wish, plan: &Plan, selections: &[Selection]) {
    for (device, way, error) in missing(inventory, selections) {
        output::warning(&format!("skipping stack {way} on {device}: {error}"));
    }
    // Of a device that was asked for by name, no row would tell.
    if let Wish::Named(_) = wish {
        let planned = |name: &DeviceName| plan.cases.iter().any(|case| case.device == *name);
        for name in inventory.names().iter().filter(|name| !planned(name)) {
            output::warning(&format!(
                "skipping {name}: it offers nothing of this selection; 'keymark devices' lists what it offers"
            ));
        }
    }
}

/// The record before anything is measured.
fn record(plan: Plan, inventory: &Inventory) -> Record {
    let planned = |device: &&Found| {
        let mut cases = plan.cases.iter();
        cases.any(|case| case.device == device.identity.device)
    };
    let stores = inventory.devices.iter().filter(planned);
    let stores = stores.map(|device| device.identity.clone()).collect();
    let mut record = frame::record(plan, stores);
    let versions = &mut record.environment.versions;
    for device in &inventory.devices {
        // A device's own firmware is its own affair, and stands with the device.
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
    let cases = plan.cases.iter();
    let named = cases.filter_map(|case| case.parameters.read::<Library>(&LIBRARY).ok()?);
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

/// What a run took, as `dry_run` promises it.
fn took(spent: Spent) -> String {
    let [all, preparing, measuring, checking] = [
        spent.total(),
        spent.preparing,
        spent.measuring,
        spent.checking,
    ]
    .map(units::time);
    format!(
        "took {all}: {preparing} to prepare keys and agents, {measuring} to measure, {checking} to check the \
         results"
    )
}

/// What one operation of a case costs: what it took last, or a guess.
fn costs(inventory: &Inventory, archive: Option<&PathBuf>) -> impl Fn(&Case) -> Duration {
    // Only a guess is at stake, so an archive that cannot be read is no failure here.
    let means: LastMeans = archive::open(archive)
        .and_then(|archive| archive.last_means())
        .unwrap_or_default();
    move |case| {
        let known = means.get(&case.key()).copied();
        known.unwrap_or_else(|| inventory.guess(case))
    }
}

fn dry_run(plan: &Plan, inventory: &Inventory, archive: Option<&PathBuf>) {
    frame::print_cases(&plan.cases);
    let cost = costs(inventory, archive);
    let (preparing, measuring) = (
        plan.expected_preparation(&cost),
        plan.expected_duration(&cost),
    );
    let all = preparing.saturating_add(measuring);
    let [all, preparing, measuring] = [all, preparing, measuring].map(units::time);
    output::line(&format!(
        "takes up to {all}: about {preparing} to prepare keys and agents, {measuring} to measure"
    ));
    output::line(&format!("seed {}", plan.settings.seed));
}
