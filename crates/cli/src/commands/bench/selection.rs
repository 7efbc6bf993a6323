//! From the arguments of `keymark bench` to selections and settings.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::case::{DeviceName, Pacing, ParameterChoice};
use keymark_bench::plan::{AlgorithmChoice, Offer, Order, Selection, Settings};
use keymark_bench::stop::{Precision, StopRule};
use keymark_stacks::gnupg::PROTECTION;
use keymark_stacks::plans::NamedPlan;
use keymark_stacks::raw::{LIBRARY, SCHEME};

use crate::args::{AlgorithmArgument, BenchArguments};

/// Measuring time of a plan that does not say how long.
const TOTAL_TIME: Duration = Duration::from_secs(75);
/// That of the complete plan.
const COMPLETE: Duration = Duration::from_secs(104);
/// That of a run of a series, at least: they share the time of one run.
const SHORTEST: Duration = Duration::from_secs(10);

/// Measuring time of the plan, of each run of a series.
pub(super) fn time_limit(arguments: &BenchArguments) -> Option<Duration> {
    let unlimited = arguments.extent.runs.is_some() || arguments.extent.max_time.is_some();
    let whole = match arguments.plan {
        Some(NamedPlan::Complete) => COMPLETE,
        Some(NamedPlan::Default) | None => TOTAL_TIME,
    };
    let share = whole / arguments.series.runs_in_all();
    arguments
        .extent
        .total_time
        .or((!unlimited).then_some(share.max(SHORTEST)))
}

/// How the plan is measured.
pub(super) fn settings(arguments: &BenchArguments, seed: u64) -> Settings {
    let stop = match arguments.extent.runs {
        Some(runs) => StopRule::Runs(runs),
        None => StopRule::Precision {
            target: arguments.extent.precision.unwrap_or(Precision::USUAL),
            max_time: arguments.extent.max_time,
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
        baseline: arguments.baseline.clone().unwrap_or_default(),
        tolerance: arguments.tolerance,
    }
}

/// What was asked for, or the default plan.
pub(super) fn selections(
    arguments: &BenchArguments,
    offers: &[Offer],
    devices: Option<Vec<DeviceName>>,
) -> Vec<Selection> {
    let replicas = arguments
        .replicas
        .and_then(NonZeroU32::new)
        .unwrap_or(NonZeroU32::MIN);
    let common = Selection {
        input_bytes: arguments.input_size,
        replicas,
        ..Selection::default()
    };
    if let Some(named) = arguments.named_plan() {
        return named.selections(&common, offers);
    }
    vec![Selection {
        algorithms: match &arguments.selection.algorithm {
            Some(AlgorithmArgument::Listed(listed)) => AlgorithmChoice::Listed(listed.clone()),
            Some(AlgorithmArgument::Longest) => AlgorithmChoice::Longest,
            Some(AlgorithmArgument::All) | None => AlgorithmChoice::All,
        },
        operations: arguments.selection.operation.clone(),
        devices,
        stacks: arguments.selection.stack.clone(),
        // Who names processes only wants no threads.
        concurrency: match (
            &arguments.selection.concurrency,
            &arguments.selection.processes,
        ) {
            (Some(named), _) => named.clone(),
            (None, Some(_)) => Vec::new(),
            (None, None) => vec![NonZeroU32::MIN],
        },
        processes: arguments.selection.processes.clone().unwrap_or_default(),
        pacing: match (arguments.selection.rate, arguments.selection.think) {
            (Some(rate), _) => Pacing::Open(rate),
            (None, Some(longest)) => Pacing::Thinking(longest),
            (None, None) => Pacing::Closed,
        },
        parameters: parameters(arguments),
        ..common
    }]
}

/// What was said of parameters.
fn parameters(arguments: &BenchArguments) -> Vec<ParameterChoice> {
    let options = [
        (PROTECTION, &arguments.selection.protection),
        (LIBRARY, &arguments.selection.library),
        (SCHEME, &arguments.selection.scheme),
    ];
    let named = options.into_iter().filter_map(|(dimension, words)| {
        let words = words.clone()?;
        Some(ParameterChoice { dimension, words })
    });
    arguments
        .selection
        .parameter
        .iter()
        .cloned()
        .chain(named)
        .collect()
}
