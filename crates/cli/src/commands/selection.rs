//! From the arguments of `keymark bench` to selections and settings.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::algorithm::{Algorithm, Curve, Family, SlhVariant};
use keymark_bench::case::{DeviceName, Pacing, Protection, StackName, StoreKind};
use keymark_bench::operation::Operation;
use keymark_bench::plan::{AlgorithmChoice, Offer, Order, Selection, Settings};
use keymark_bench::stop::{Precision, StopRule};

use crate::args::{AlgorithmArgument, BenchArguments};

/// Measuring time of a plan that does not say how long.
const TOTAL_TIME: Duration = Duration::from_secs(100);

/// How the plan is measured.
pub(super) fn settings(arguments: &BenchArguments, seed: u64) -> Settings {
    let stop = match arguments.runs {
        Some(runs) => StopRule::Runs(runs),
        None => StopRule::Precision {
            target: arguments.precision.unwrap_or(Precision::ONE_PERCENT),
            max_time: arguments.max_time,
        },
    };
    let unlimited = arguments.runs.is_some() || arguments.max_time.is_some();
    Settings {
        stop,
        time_limit: arguments.total_time.or((!unlimited).then_some(TOTAL_TIME)),
        warmup: arguments.warmup,
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
    if arguments.is_default_plan() {
        return default_plan(&common, offers);
    }
    vec![Selection {
        algorithms: match &arguments.algorithm {
            Some(AlgorithmArgument::Listed(listed)) => AlgorithmChoice::Listed(listed.clone()),
            Some(AlgorithmArgument::Longest) => AlgorithmChoice::Longest,
            Some(AlgorithmArgument::All) | None => AlgorithmChoice::All,
        },
        operations: arguments.operation.clone(),
        devices,
        stacks: arguments.stack.clone(),
        concurrency: arguments
            .concurrency
            .clone()
            .unwrap_or(vec![NonZeroU32::MIN]),
        pacing: arguments.rate.map_or(Pacing::Closed, Pacing::Open),
        protection: arguments
            .protection
            .clone()
            .unwrap_or(vec![Protection::None]),
        ..common
    }]
}

/// What the virtual card is compared with this CPU for.
const ON_CARD: [Family; 5] = [
    Family::Rsa(2048),
    Family::Rsa(4096),
    Family::Cv25519,
    Family::Ed25519,
    Family::Weierstrass(Curve::NistP256),
];

/// Every algorithm of GnuPG on its three layers, alone and in parallel; S2K once, because it costs
/// the same whatever the key; post-quantum keys in the library, as GnuPG does not have them; some
/// on the virtual card.
fn default_plan(common: &Selection, offers: &[Offer]) -> Vec<Selection> {
    let common = &Selection {
        devices: Some(vec![DeviceName::software()]),
        ..common.clone()
    };
    let offered = |stack: StackName| {
        let offers = offers
            .iter()
            .filter(move |offer| offer.stack == stack && offer.device == DeviceName::software());
        offers
            .flat_map(|offer| &offer.capabilities)
            .map(|capability| capability.algorithm)
    };
    let mut gnupg: Vec<Algorithm> = offered(StackName::Gnupg)
        .filter(|algorithm| by_default(*algorithm))
        .collect();
    gnupg.dedup();
    let workers = |number: u32| NonZeroU32::new(number).into_iter().collect();
    let only = |stack: StackName| Some(vec![stack]);
    let new_keys = offered(StackName::Raw)
        .filter(|algorithm| is_post_quantum(*algorithm))
        .collect();
    let mut selections = vec![Selection {
        algorithms: AlgorithmChoice::Listed(new_keys),
        stacks: only(StackName::Raw),
        ..common.clone()
    }];
    selections.extend(on_card(common, offers));
    if gnupg.is_empty() {
        // Without GnuPG there is still the library.
        let classical = offered(StackName::Raw).filter(|algorithm| by_default(*algorithm));
        let classical = classical.filter(|algorithm| !is_post_quantum(*algorithm));
        selections.push(Selection {
            algorithms: AlgorithmChoice::Listed(classical.collect()),
            stacks: only(StackName::Raw),
            ..common.clone()
        });
        return selections;
    }
    let listed = |algorithms: Vec<Algorithm>| AlgorithmChoice::Listed(algorithms);
    let offers_cv25519 = gnupg
        .iter()
        .copied()
        .find(|algorithm| algorithm.family() == Family::Cv25519);
    selections.extend([
        Selection {
            algorithms: listed(gnupg.clone()),
            ..common.clone()
        },
        Selection {
            algorithms: listed(gnupg.clone()),
            stacks: only(StackName::Gnupg),
            concurrency: workers(4),
            ..common.clone()
        },
        Selection {
            algorithms: AlgorithmChoice::Longest,
            operations: Some(vec![Operation::Sign]),
            stacks: only(StackName::Gnupg),
            concurrency: workers(10),
            ..common.clone()
        },
        Selection {
            algorithms: listed(offers_cv25519.into_iter().collect()),
            stacks: only(StackName::Agent),
            protection: vec![Protection::Cached],
            ..common.clone()
        },
    ]);
    selections
}

/// The virtual card's keys, raw and through gpg where that can reach it.
fn on_card(common: &Selection, offers: &[Offer]) -> Vec<Selection> {
    let cards = offers
        .iter()
        .filter(|offer| offer.store == StoreKind::OpenpgpCard);
    let stacks = [StackName::Raw, StackName::Gnupg];
    cards
        .filter(|offer| stacks.contains(&offer.stack) && !offer.capabilities.is_empty())
        .map(|offer| Selection {
            algorithms: AlgorithmChoice::Listed(
                ON_CARD
                    .iter()
                    .filter_map(|family| Algorithm::of(*family))
                    .collect(),
            ),
            operations: Some(vec![Operation::Decrypt, Operation::Sign]),
            devices: Some(vec![offer.device.clone()]),
            stacks: Some(vec![offer.stack]),
            ..common.clone()
        })
        .collect()
}

/// Left out: Elgamal groups of 3072 bits and more, which gpg takes up to a minute to find, and
/// lengths that nobody should make keys of any more.
fn by_default(algorithm: Algorithm) -> bool {
    !matches!(
        algorithm.family(),
        Family::Elgamal(3072..) | Family::Rsa(..2048) | Family::Dsa(..3072)
    )
}

const fn is_post_quantum(algorithm: Algorithm) -> bool {
    matches!(
        algorithm.family(),
        Family::MlKem(_) | Family::MlDsa(_) | Family::SlhDsa(128, SlhVariant::Fast)
    )
}
