//! Plan: the validated matrix of cases of one run.

mod selection;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::store::Capability;
use crate::{
    Algorithm, Baseline, Case, DeviceName, Dimension, Parameters, Precision, Provenance, StackName,
    StopRule, StoreKind, Worker,
};

pub use selection::{AlgorithmChoice, Selection, default_input_bytes};

/// Offer of one device through one stack.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Device that has the keys.
    pub device: DeviceName,
    /// Its kind.
    pub store: StoreKind,
    /// The kind of figure it yields.
    pub provenance: Provenance,
    /// The way to it.
    pub stack: StackName,
    /// Algorithms and operations on offer.
    pub capabilities: Vec<Capability>,
    /// Operations that are the same work under another name: measured only if the user names them.
    pub synonyms: Vec<Capability>,
    /// Dimensions of the stack's family.
    pub dimensions: &'static [Dimension],
    /// The sets of parameters that make a difference there.
    pub parameters: Vec<Parameters>,
    /// Kinds of workers that are possible.
    pub workers: &'static [Worker],
    /// Part of a plan that names no stack, or not.
    pub standing: Standing,
}

/// Part of a plan that names no stack, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Part of every plan.
    Usual,
    /// Part of a plan that names it.
    OnRequest,
}

/// Order of measuring cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Rounds over all cases, shuffled anew each round, so that drift hits all alike.
    Interleaved,
    /// Case by case.
    Sequential,
}

/// Settings for measuring the cases of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Rule that ends a case.
    pub stop: StopRule,
    /// Measuring time of the whole plan.
    pub time_limit: Option<Duration>,
    /// Operations each worker does first, uncounted.
    pub warmup: u32,
    /// Interleaved or not.
    pub order: Order,
    /// Seed of everything random.
    pub seed: u64,
    /// Case to which ratios are taken.
    pub baseline: Baseline,
    /// Longest time of an operation that users tolerate.
    pub tolerance: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stop: StopRule::Precision {
                target: Precision::USUAL,
                max_time: None,
            },
            time_limit: Some(Duration::from_secs(90)),
            warmup: 2,
            order: Order::Interleaved,
            seed: 0,
            baseline: Baseline::default(),
            tolerance: Duration::from_secs(2),
        }
    }
}

/// The validated matrix of cases of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Cases in table order; a [`crate::case::CaseId`] is an index.
    pub cases: Vec<Case>,
    /// Settings of the measurement.
    pub settings: Settings,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A selection that nothing can have, here or elsewhere.
    #[error("{0}")]
    Impossible(String),
    /// Nothing selected offers the algorithm.
    #[error("{0}")]
    NotOffered(String),
    /// Nothing at all fits.
    #[error(
        "nothing here offers this selection; 'keymark devices' lists what is available and what is missing"
    )]
    Nothing,
}

impl Plan {
    /// The union of the selections' cases that the offers allow.
    ///
    /// # Errors
    /// When a selection names something that cannot be had, or nothing is left.
    pub fn build(
        selections: &[Selection],
        offers: &[Offer],
        settings: Settings,
    ) -> Result<Self, PlanError> {
        let mut cases: Vec<Case> = Vec::new();
        for selection in selections {
            selection.check(offers)?;
            for case in selection.cases(offers) {
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
        if cases.is_empty() {
            return Err(PlanError::Nothing);
        }
        // Offers come in the order in which their stacks and words are registered.
        cases.sort_by_cached_key(|case| {
            let place = Algorithm::all().position(|known| known == case.algorithm);
            let of_stack = |offer: &&Offer| offer.stack == case.stack;
            let stack = offers.iter().position(|offer| of_stack(&offer));
            let mut sets = offers
                .iter()
                .filter(of_stack)
                .flat_map(|offer| &offer.parameters);
            let way = (stack, sets.position(|set| *set == case.parameters));
            let load = (case.load.worker, case.workers());
            (
                case.operation,
                place,
                case.device.clone(),
                way,
                load,
                case.replica,
            )
        });
        Ok(Self { cases, settings })
    }

    /// Returns the index of the baseline of the case at this index.
    pub fn baseline(&self, index: usize) -> Option<usize> {
        self.settings
            .baseline
            .of(self.cases.get(index)?, &self.cases)
    }

    /// Returns the expected time of preparation, given the cost of one operation of a case: the warm-up of each
    /// worker, and keys, with a home and an agent for those of programs.
    pub fn expected_preparation(&self, cost: &dyn Fn(&Case) -> Duration) -> Duration {
        /// Time to make a key with its home: 0.2 s for curves, and up to a second for RSA.
        const HOME: Duration = Duration::from_millis(500);
        let of_programs = self
            .cases
            .iter()
            .filter(|case| case.stack != StackName::RAW);
        let homes: BTreeSet<_> = of_programs
            .map(|case| (&case.device, case.algorithm, &case.parameters))
            .collect();
        let warm_up = |case: &Case| {
            let operations = self.settings.warmup.saturating_add(1);
            cost(case).saturating_mul(operations.saturating_mul(case.workers()))
        };
        let warm_ups = self.cases.iter().map(warm_up);
        let homes = HOME * u32::try_from(homes.len()).unwrap_or(u32::MAX);
        warm_ups.fold(homes, Duration::saturating_add)
    }

    /// Returns the expected time of measuring, given the cost of one operation of a case. With a precision rule this
    /// is an upper bound.
    pub fn expected_duration(&self, cost: &dyn Fn(&Case) -> Duration) -> Duration {
        let of_each = self.cases.iter().map(|case| self.expected_of(case, cost));
        let total = of_each.fold(Duration::ZERO, Duration::saturating_add);
        self.settings
            .time_limit
            .map_or(total, |limit| total.min(limit))
    }

    /// Returns the expected time of one case, if only its own stop rule limits it.
    pub(crate) fn expected_of(&self, case: &Case, cost: &dyn Fn(&Case) -> Duration) -> Duration {
        match self.settings.stop {
            StopRule::Runs(runs) => {
                let per_worker = runs.get().div_ceil(case.workers());
                let working = cost(case).saturating_mul(per_worker);
                let pause = case.load.pacing.pause().unwrap_or_default();
                // Arrivals are waited for.
                let arriving = case.load.pacing.rate().map(|rate| {
                    let seconds = f64::from(runs.get()) / rate.per_second();
                    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
                });
                (working + pause / 2 * per_worker).max(arriving.unwrap_or_default())
            }
            StopRule::Precision { max_time, .. } => max_time.unwrap_or(Duration::MAX / 1_000_000),
            StopRule::For(length) => length,
        }
    }
}
