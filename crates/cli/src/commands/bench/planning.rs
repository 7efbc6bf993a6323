//! Makes a plan from arguments and the devices here.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use keymark_bench::series::PAUSES;
use keymark_bench::{
    AlgorithmChoice, Baseline, Case, DeviceName, Error, Offer, Order, ParameterChoice, Plan,
    PlanError, Precision, Selection, Settings, StopRule,
};
use keymark_records::archive::LastMeans;
use keymark_report::units;
use keymark_stacks::gnupg::PROTECTION;
use keymark_stacks::inventory::{self, Inventory};
use keymark_stacks::plans::NamedPlan;
use keymark_stacks::provider::Way;
use keymark_stacks::raw::{LIBRARY, SCHEME};
use keymark_stacks::registry;
use keymark_stores::device::Wish;
use keymark_stores::journal::Journals;
use keymark_stores::software;
use keymark_stores::user::User;

use crate::args::{BenchArguments, LibraryChoice, SeriesArguments};
use crate::exit::Failure;
use crate::{archive, frame, leftovers, output, user};

/// A plan, and what it was made of.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) inventory: Inventory,
    pub(super) journals: Option<Journals>,
    wish: Wish,
    selections: Vec<Selection>,
}

impl Planned {
    /// Plans the selected cases, if they can be measured and the user's consent and PINs fit.
    pub(super) fn of(arguments: &BenchArguments) -> Result<Self, Failure> {
        name_builds(arguments)?;
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
        user::pins_fit(&arguments.run.card.pins, &inventory.tokens(&plan))
            .map_err(Failure::usage)?;
        inventory.check(&plan).map_err(Failure::usage)?;
        Ok(Self {
            plan,
            inventory,
            journals,
            wish,
            selections,
        })
    }

    /// Prints the cases and the expected time.
    pub(super) fn print(&self, series: &SeriesArguments, archive: Option<&PathBuf>) {
        let plan = &self.plan;
        frame::print_cases(&plan.cases);
        let cost = Self::costs(archive);
        let (preparing, measuring) = (
            plan.expected_preparation(&cost),
            plan.expected_duration(&cost),
        );
        let all = preparing.saturating_add(measuring);
        let [all, preparing, measuring] = [all, preparing, measuring].map(units::time);
        output::line(&format!(
            "takes up to {all} ({preparing} preparing, {measuring} measuring)"
        ));
        output::line(&format!("seed {}", plan.settings.seed));
        if series.is_wanted() {
            let runs = series.runs_in_all();
            let by_both = ", by the two programs in turn";
            let by = series.against.as_ref().map_or("", |_| by_both);
            let [least, most] =
                [PAUSES.start, PAUSES.end].map(|factor| units::time(series.pause.mul_f64(factor)));
            output::line(&format!(
                "that {runs} times{by}, with pauses of {least} to {most} between"
            ));
        }
    }

    /// Returns the time of one operation of a case: the last measured mean, or a guess.
    pub(super) fn costs(archive: Option<&PathBuf>) -> impl Fn(&Case) -> Duration + use<> {
        // Only a guess is at stake, so an archive that cannot be read is no failure here.
        let means: LastMeans = archive::open_to_read(archive)
            .and_then(|archive| archive.last_means())
            .unwrap_or_default();
        move |case| {
            let known = means.get(&case.key()).copied();
            known.unwrap_or_else(|| inventory::guess(case))
        }
    }

    /// Says what is not measured, though it is wanted.
    pub(super) fn say_what_is_missing(&self) {
        for (device, way, error) in missing(&self.inventory, &self.selections) {
            output::warning(&format!("skipping stack {way} on {device}: {error}"));
        }
        // Of a device that was asked for by name, no row would tell.
        if let Wish::Named(_) = self.wish {
            let planned =
                |name: &DeviceName| self.plan.cases.iter().any(|case| case.device == *name);
            for name in self.inventory.names().iter().filter(|name| !planned(name)) {
                output::warning(&format!(
                    "skipping {name}: it offers nothing of this selection; 'keymark devices' lists what it offers"
                ));
            }
        }
    }
}

/// Looks for devices, and removes leftovers of killed runs from tokens that may be written to.
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
    let selections = selections(arguments, &offers, devices);
    let missing = missing(inventory, &selections).map(|(_, _, error)| error);
    let missing = missing.chain(&inventory.unseen);
    let settings = settings(arguments, seed);
    let plan = Plan::build(&selections, &offers, settings).map_err(|error| {
        let bare = without_keys(inventory).filter(|_| matches!(error, PlanError::Nothing));
        let mut message = bare.unwrap_or_else(|| error.to_string());
        message.extend(missing.take(1).map(|missing| format!("\n  {missing}")));
        match error {
            PlanError::Impossible(_) => Failure::usage(message),
            PlanError::NotOffered(_) | PlanError::Nothing => Failure::nothing_usable(message),
        }
    })?;
    // Ratios to anything else would not be what was asked for.
    if let Some(baseline) = &arguments.baseline
        && (0..plan.cases.len()).all(|index| plan.baseline(index).is_none())
    {
        return Err(Failure::usage(format!(
            "the baseline '{baseline}' is not in the plan; add it, or name another --baseline"
        )));
    }
    Ok((plan, selections))
}

/// The token that was named and has no key, which is why nothing can be planned.
fn without_keys(inventory: &Inventory) -> Option<String> {
    let mut tokens = inventory.devices.iter().filter_map(|found| {
        let is_bare = found.device.capabilities().is_empty();
        Some((&found.identity, found.device.token().filter(|_| is_bare)?))
    });
    let (identity, token) = tokens.next()?;
    Some(format!(
        "{} {} has no key that can be measured; --write-to {} lets keymark put test keys on it, and removes them",
        identity.product,
        identity.device,
        token.serial()
    ))
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
        let message = keymark_stores::registry::unknown(unknown);
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

/// Measuring time of a plan that does not say how long.
const TOTAL_TIME: Duration = Duration::from_secs(75);
/// Measuring time of the complete plan.
const COMPLETE: Duration = Duration::from_secs(104);
/// Shortest measuring time of a run of a series.
const SHORTEST: Duration = Duration::from_secs(10);

/// Measuring time of the plan, of each run of a series.
pub(super) fn time_limit(arguments: &BenchArguments) -> Option<Duration> {
    let extent = &arguments.extent;
    let unlimited = extent.samples.is_some() || extent.case_time.is_some();
    let whole = match arguments.plan {
        Some(NamedPlan::Complete) => COMPLETE,
        Some(NamedPlan::Default) | None => TOTAL_TIME,
    };
    let share = whole / arguments.series.runs_in_all();
    extent.time.or((!unlimited).then_some(share.max(SHORTEST)))
}

fn settings(arguments: &BenchArguments, seed: u64) -> Settings {
    let stop = match arguments.extent.samples {
        Some(runs) => StopRule::Runs(runs),
        None => StopRule::Precision {
            target: arguments.extent.precision.unwrap_or(Precision::USUAL),
            max_time: arguments.extent.case_time,
        },
    };
    Settings {
        stop,
        time_limit: time_limit(arguments),
        warmup: arguments.extent.warmup,
        order: if arguments.sequential {
            Order::Sequential
        } else {
            Order::Interleaved
        },
        seed,
        baseline: baseline(arguments),
        tolerance: arguments.tolerance,
    }
}

/// The baseline that is named; where builds of a library are, the first library.
fn baseline(arguments: &BenchArguments) -> Baseline {
    let chosen = arguments.selection.library.as_deref().unwrap_or_default();
    let is_build = |library: &LibraryChoice| matches!(library, LibraryChoice::Build(_));
    let words = LibraryChoice::words(chosen);
    let first = words.first().filter(|_| chosen.iter().any(is_build));
    let of_builds =
        first.and_then(|word| registry::baseline(&format!("{}={word}", LIBRARY.name)).ok());
    let named = arguments.baseline.clone();
    named.or(of_builds).unwrap_or_default()
}

/// Names the builds of a library that are to be compared, and loads them.
///
/// # Errors
/// More than two, or one that is no libcrypto of OpenSSL 3.
fn name_builds(arguments: &BenchArguments) -> Result<(), Failure> {
    let chosen = arguments.selection.library.iter().flatten();
    let files = chosen.filter_map(|library| match library {
        LibraryChoice::Build(file) => Some(file.clone()),
        LibraryChoice::Known(_) => None,
    });
    let files: Vec<PathBuf> = files.collect();
    if files.len() > LibraryChoice::BUILDS.len() {
        return Err(Failure::usage("--library takes at most two openssl=FILE"));
    }
    let named = files.len();
    software::name_builds(files);
    let mut builds = LibraryChoice::BUILDS.into_iter().take(named);
    builds.try_for_each(|build| software::load(build).map(drop).map_err(Failure::usage))
}

fn selections(
    arguments: &BenchArguments,
    offers: &[Offer],
    devices: Option<Vec<DeviceName>>,
) -> Vec<Selection> {
    let replicas = arguments.replicas.and_then(NonZeroU32::new);
    let common = Selection {
        input_bytes: arguments.input_size,
        replicas: replicas.unwrap_or(NonZeroU32::MIN),
        ..Selection::default()
    };
    if let Some(named) = arguments.named_plan() {
        return named.selections(&common, offers);
    }
    let wanted = &arguments.selection;
    let libraries = wanted.library.as_deref();
    let given = [
        (PROTECTION, wanted.protection.clone()),
        (LIBRARY, libraries.map(LibraryChoice::words)),
        (SCHEME, wanted.scheme.clone()),
    ];
    let given = given.into_iter().filter_map(|(dimension, words)| {
        let words = words?;
        Some(ParameterChoice { dimension, words })
    });
    vec![Selection {
        algorithms: wanted.algorithm.clone().unwrap_or(AlgorithmChoice::All),
        operations: wanted.operation.clone(),
        devices,
        stacks: wanted.stack.clone(),
        // Who names processes only wants no threads.
        workers: match (wanted.load.at_once(), &wanted.processes) {
            (Some(named), _) => named.to_vec(),
            (None, Some(_)) => Vec::new(),
            (None, None) => vec![NonZeroU32::MIN],
        },
        processes: wanted.processes.clone().unwrap_or_default(),
        pacing: wanted.load.pacing(),
        parameters: wanted.parameter.iter().cloned().chain(given).collect(),
        ..common
    }]
}
