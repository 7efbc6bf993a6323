//! Selections and settings by the arguments of `keymark bench`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use keymark_bench::{
    AlgorithmChoice, Baseline, DeviceName, Offer, Order, Pacing, ParameterChoice, Precision,
    Selection, Settings, StopRule,
};
use keymark_stacks::gnupg::PROTECTION;
use keymark_stacks::plans::NamedPlan;
use keymark_stacks::raw::{LIBRARY, SCHEME};
use keymark_stacks::registry;
use keymark_stores::software;

use crate::args::{BenchArguments, LibraryChoice};
use crate::exit::Failure;

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

pub(super) fn settings(arguments: &BenchArguments, seed: u64) -> Settings {
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
pub(super) fn name_builds(arguments: &BenchArguments) -> Result<(), Failure> {
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

pub(super) fn selections(
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
        pacing: match (wanted.load.rate, wanted.load.think) {
            (Some(rate), _) => Pacing::Open(rate),
            (None, Some(longest)) => Pacing::Thinking(longest),
            (None, None) => Pacing::Closed,
        },
        parameters: wanted.parameter.iter().cloned().chain(given).collect(),
        ..common
    }]
}
