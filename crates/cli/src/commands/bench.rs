//! `keymark bench`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use keymark_bench::case::{Case, DeviceName};
use keymark_bench::clock::MonotonicClock;
use keymark_bench::environment::Environment;
use keymark_bench::error::Error;
use keymark_bench::plan::{Plan, PlanError, Selection};
use keymark_bench::record::{CaseRecord, Record, RunId, RunState, SCHEMA};
use keymark_bench::reference;
use keymark_bench::runner::{Measured, Observer, Runner, Spent};
use keymark_report::archive::LastMeans;
use keymark_report::units;
use keymark_stacks::inventory::{Inventory, OpenStacks};
use keymark_stacks::provider::Way;
use keymark_stacks::raw::LIBRARY;
use keymark_stacks::registry;
use keymark_stats::Seconds;
use keymark_stores::device::{Run, Wish};
use keymark_stores::journal::Journals;
use keymark_stores::software::library;
use keymark_stores::software::library::Library;
use keymark_stores::user::User;

use super::saving::{self, BeingSaved, Saving, Told};
use super::{Outcome, again, leftovers, open_archive, report, selection, series, show};
use crate::args::BenchArguments;
use crate::exit::{Exit, Failure};
use crate::observers::JsonStream;
use crate::view::{self, RunView};
use crate::{output, signals, user};

pub(super) fn run(arguments: &BenchArguments, archive: Option<&PathBuf>) -> Outcome {
    if arguments.series.is_wanted() && !arguments.dry_run {
        return series::run(arguments, archive);
    }
    let (wish, user) = (wish(arguments), user::of_arguments(&arguments.card));
    // Who has no home writes to no token.
    let journals = Journals::of_user().ok();
    let inventory = look(arguments, &wish, &user, journals.as_ref())?;
    let consent_fits = || {
        let present = inventory.present_tokens();
        user::consent_fits(&arguments.card, &present).map_err(Failure::usage)
    };
    // Of what cannot be seen the plan says more.
    if inventory.unseen.is_none() {
        consent_fits()?;
    }
    let (plan, selections) = plan(arguments, &inventory)?;
    consent_fits()?;
    user::pins_fit(&arguments.card.pins, &inventory.tokens(&plan)).map_err(Failure::usage)?;
    inventory.check(&plan).map_err(Failure::usage)?;
    if arguments.dry_run {
        dry_run(&plan, &inventory, archive);
        series::foresee(&arguments.series);
        return Ok(Exit::Fine);
    }
    say_what_is_missing(&inventory, &wish, &plan, &selections);
    inventory.agree(&plan).map_err(Failure::failed)?;
    let (interrupt, _) = signals::listen()?;
    let mut record = head(&plan, &inventory);
    let mut opening = Run::new(plan.settings.seed);
    opening.journals = journals.map(|journals| (journals, record.id.to_string()));
    let mut stacks = inventory
        .open(&plan, &opening)
        .map_err(Failure::nothing_usable)?;
    let mut saving = if arguments.no_save {
        None
    } else {
        Some(Saving::open(archive))
    };
    let saved = measure(&mut record, &stacks, &interrupt, saving.as_mut(), arguments);
    // Agents and test keys are gone before the user reads that all is done.
    let kept = stacks.end();
    if !arguments.json {
        show::print(&record, &arguments.tables);
    }
    let told = Told::of(arguments.json, arguments.no_save);
    let is_saved = saved.is_ok() && saving.is_some();
    let exit = saving::conclude(&record, saved, told);
    if arguments.report {
        report(is_saved.then_some(&record.id), archive);
    }
    if kept.is_empty() {
        return Ok(exit);
    }
    for error in &kept {
        output::error(&error.to_string());
    }
    Ok(Exit::Failed)
}

/// Writes the report of a run that is in the archive, and says where it is. The run is worth more than its report.
pub(super) fn report(run: Option<&RunId>, archive: Option<&PathBuf>) {
    let Some(run) = run else {
        output::warning("there is no report of a run that is not in the archive");
        return;
    };
    let written = open_archive(archive).map_err(Failure::failed);
    match written.and_then(|archive| report::beside(&archive, run)) {
        Ok(path) => output::note(&format!("report: {}", path.display())),
        Err(failure) => output::warning(&failure.message),
    }
}

/// What is here, once what killed runs have left on tokens is removed from those that may be written to.
fn look(
    arguments: &BenchArguments,
    wish: &Wish,
    user: &User,
    journals: Option<&Journals>,
) -> Result<Inventory, Failure> {
    let look =
        || Inventory::look(arguments.stack.as_deref(), wish, user).map_err(Failure::nothing_usable);
    let mut inventory = look()?;
    let Some(journals) = journals.filter(|_| !arguments.dry_run) else {
        return Ok(inventory);
    };
    if !leftovers::tidy(journals, &inventory, &arguments.card).map_err(Failure::failed)? {
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
    match &arguments.device {
        None if arguments.is_default_plan() => Wish::Default,
        None => Wish::Software,
        Some(names) if names.iter().any(|name| name == "all") => Wish::All,
        Some(names) => Wish::Named(names.clone()),
    }
}

/// What everything random is drawn from.
pub(super) fn seed(arguments: &BenchArguments) -> u64 {
    arguments.seed.unwrap_or_else(fresh_seed)
}

/// One that nobody has chosen.
pub(super) fn fresh_seed() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // Short enough to be typed again.
    now.as_nanos() as u64 % 1_000_000_007
}

/// The plan, and the selections that it was made of.
fn plan(
    arguments: &BenchArguments,
    inventory: &Inventory,
) -> Result<(Plan, Vec<Selection>), Failure> {
    let offers = inventory.offers();
    let seed = seed(arguments);
    let devices = selected(arguments, inventory)?;
    let selections = selection::selections(arguments, &offers, devices);
    let missing = missing(inventory, &selections).map(|(_, _, error)| error);
    let missing = missing.chain(&inventory.unseen);
    let settings = selection::settings(arguments, seed);
    let plan = Plan::build(&selections, &offers, settings).map_err(|error| {
        let mut message = error.to_string();
        for missing in missing.take(1) {
            message = format!("{message}\n  {missing}");
        }
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
            "no case of the plan is '{baseline}', to which the others could be compared; measure it, too, or name another --baseline"
        )));
    }
    Ok((plan, selections))
}

/// The ways that were wanted and are missing.
fn missing<'a>(
    inventory: &'a Inventory,
    selections: &'a [Selection],
) -> impl Iterator<Item = (&'a DeviceName, &'a Way, &'a Error)> {
    inventory.missing().filter(|(_, way, _)| {
        let sets = (
            registry::dimensions_of(way.stack),
            way.parameters.as_slice(),
        );
        let wanted = |selection: &Selection| selection.wants_way(way.stack, way.standing, sets);
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
        let held = inventory.held.first();
        let held = held.map(|held| format!("{held}; {}", held.advice()));
        return Err(match unseen.or(held) {
            Some(why) => Failure::nothing_usable(format!("{message}\n  {why}")),
            None => Failure::usage(message),
        });
    }
    Ok(arguments.device.as_ref().map(|_| inventory.names()))
}

fn say_what_is_missing(inventory: &Inventory, wish: &Wish, plan: &Plan, selections: &[Selection]) {
    for (device, way, error) in missing(inventory, selections) {
        output::warning(&format!("stack {way} to {device} is left out: {error}"));
    }
    // Of a device that was asked for by name, no row would tell.
    if let Wish::Named(_) = wish {
        let planned = |name: &DeviceName| plan.cases.iter().any(|case| case.device == *name);
        for name in inventory.names().iter().filter(|name| !planned(name)) {
            output::warning(&format!(
                "{name} is left out: it has nothing of what was asked for; 'keymark devices' lists what it has"
            ));
        }
    }
}

/// The record before anything is measured.
fn head(plan: &Plan, inventory: &Inventory) -> Record {
    let now = jiff::Timestamp::now();
    let mut environment = Environment::capture(env!("KEYMARK_VERSION"));
    environment.command = again::typed();
    environment.view = view::view();
    for device in &inventory.devices {
        // A device's own firmware is its own affair, and stands with the device.
        let programs = device.identity.versions.iter().filter(|(name, _)| {
            !device.device.identity().versions.contains_key(*name) || *name == "openssl"
        });
        let programs = programs.map(|(name, version)| (name.clone(), version.clone()));
        environment.versions.extend(programs);
    }
    for (name, version) in libraries(plan) {
        // GnuPG's may be another than the one that the loader finds.
        let known = environment.versions.get(&name);
        let alike = known.is_none_or(|known| *known == version);
        let name = if alike {
            name
        } else {
            format!("{name} loaded")
        };
        environment.versions.insert(name, version);
    }
    let planned = |device: &&keymark_stacks::inventory::Found| {
        let mut cases = plan.cases.iter();
        cases.any(|case| case.device == device.identity.device)
    };
    let stores = inventory.devices.iter().filter(planned);
    Record {
        schema: SCHEMA,
        id: RunId::fresh(now),
        started: now,
        state: RunState::Unfinished,
        series: None,
        plan: plan.clone(),
        environment,
        harness: None,
        stores: stores.map(|device| device.identity.clone()).collect(),
        cases: plan.cases.iter().cloned().map(CaseRecord::new).collect(),
    }
}

/// Versions of the libraries that a plan has loaded.
fn libraries(plan: &Plan) -> BTreeMap<String, String> {
    let named = plan
        .cases
        .iter()
        .filter_map(|case| case.parameters.read::<Library>(&LIBRARY).ok()?);
    let version = |library: Library| {
        // One that is missing has no case.
        let loaded = library::load(library).ok()?;
        Some((library.to_string(), loaded.version()))
    };
    named.filter_map(version).collect()
}

/// Runs the plan into the record. An error is why the run is not, or not wholly, in the archive.
fn measure(
    record: &mut Record,
    stacks: &OpenStacks,
    interrupt: &AtomicBool,
    saving: Option<&mut Saving>,
    arguments: &BenchArguments,
) -> Result<(), String> {
    let clock = MonotonicClock::new();
    let (plan, devices) = (record.plan.clone(), record.stores.clone());
    let mut view = RunView::of(&plan);
    let mut stream = arguments
        .json
        .then(|| JsonStream::new(&plan, &devices, interrupt));
    let mut saving = saving.map(|saving| saving.begin(record));
    let mut observers: Vec<&mut dyn Observer> = vec![&mut view];
    observers.extend(saving.as_mut().and_then(BeingSaved::observer));
    observers.extend(stream.as_mut().map(|stream| stream as &mut dyn Observer));
    let runner = Runner {
        reference: reference::calculate,
        clock: &clock,
        interrupt,
    };
    let Measured {
        harness,
        cases,
        interrupted,
        spent,
    } = runner.run(&plan, &stacks.by_name(), &mut observers);
    drop(view);
    output::note(&took(spent));
    record.harness = Some(harness);
    record.cases = cases;
    record.state = if interrupted {
        RunState::Interrupted
    } else {
        RunState::Finished
    };
    saving.map_or(Ok(()), |saving| saving.finish(record.state))
}

/// What a run took, as `dry_run` promises it.
fn took(spent: Spent) -> String {
    let [all, preparing, measuring, checking] = [
        spent.total(),
        spent.preparing,
        spent.measuring,
        spent.checking,
    ]
    .map(|time| units::duration(Seconds(time.as_secs_f64())));
    format!(
        "took {all}: {preparing} to make keys and agents ready, {measuring} of measuring, {checking} of \
         checking the results"
    )
}

fn dry_run(plan: &Plan, inventory: &Inventory, archive: Option<&PathBuf>) {
    output::heading(&format!("{} cases", plan.cases.len()));
    for case in &plan.cases {
        output::line(&format!("  {case}"));
    }
    // Only a guess is at stake, so an archive that cannot be read is no failure here.
    let means: LastMeans = open_archive(archive)
        .and_then(|archive| archive.last_means())
        .unwrap_or_default();
    let cost = |case: &Case| -> Duration {
        let known = means.get(&case.key()).copied();
        known.unwrap_or_else(|| inventory.guess(case))
    };
    let (preparing, measuring) = (
        plan.expected_preparation(&cost),
        plan.expected_duration(&cost),
    );
    let all = preparing.saturating_add(measuring);
    let [all, preparing, measuring] =
        [all, preparing, measuring].map(|time| units::duration(Seconds(time.as_secs_f64())));
    output::line(&format!(
        "takes up to {all}: about {preparing} to make keys and agents ready, {measuring} of measuring"
    ));
    output::line(&format!("seed {}", plan.settings.seed));
}
