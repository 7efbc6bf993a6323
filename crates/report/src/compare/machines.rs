//! Runs of several machines, by the labels that their owner gave them: each machine against the fastest.

use std::cmp::Reverse;
use std::collections::HashSet;

use keymark_bench::{Case, Record};
use keymark_stats::BetweenRuns;

use super::conditions::machine_name;
use super::{Comparison, Criteria, MissingCase, Pair, Side, cases};
use crate::grouped;

/// Kind of the sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sides {
    /// Runs and series, as they were named.
    #[default]
    Runs,
    /// Machines.
    Machines,
}

impl Side {
    /// A side for each machine, by its label; without one, by what it is.
    pub fn of_machines(runs: Vec<Record>) -> Vec<Self> {
        let named = grouped(runs, |run| {
            let environment = &run.environment;
            let label = environment.machine.clone();
            label.unwrap_or_else(|| machine_name(environment))
        });
        let sides = named.into_iter().map(|(name, runs)| Self { name, runs });
        sides.collect()
    }
}

impl Comparison {
    /// Machines against the one that takes the least, by the geometric mean over the cases in common with the one that has
    /// most. A case that the fastest lacks is compared with the next machine that has it. Of each case the slowest first.
    pub fn of_machines(mut sides: Vec<Side>, noise: BetweenRuns, criteria: Criteria) -> Self {
        sides.sort_by_key(|side| Reverse(cases(&side.runs).len()));
        let means = Self::of(&sides, noise, criteria).geometric_means();
        let faster = means.iter().filter(|mean| mean.ratio.value.0 < 1.0);
        let fastest = faster.min_by(|a, b| a.ratio.value.0.total_cmp(&b.ratio.value.0));
        if let Some(fastest) = fastest {
            sides[..=fastest.side].rotate_right(1);
        }
        let mut comparison = Self {
            sides_are: Sides::Machines,
            ..Self::of(&sides, noise, criteria)
        };
        // A machine need not have every device, but a case that it tried and failed is named.
        let tried =
            |missing: &MissingCase| cases(&sides[missing.side].runs).contains(&missing.case);
        comparison.missing.retain(tried);
        for first in 1..sides.len() {
            let known = cases_of(&sides[..first]);
            let mut others = sides[first..].to_vec();
            for run in others.iter_mut().flat_map(|side| &mut side.runs) {
                run.cases.retain(|record| !known.contains(&record.case));
            }
            let more = Self::of(&others, noise, criteria).pairs;
            comparison.pairs.extend(more.into_iter().map(|pair| Pair {
                side: pair.side + first,
                borrowed: Some(first),
                ..pair
            }));
        }
        comparison.decide();
        // Each has its own label.
        comparison
            .differences
            .retain(|known| known.what != "machine");
        for case in comparison.pairs.chunk_by_mut(|a, b| a.old == b.old) {
            case.sort_by(|a, b| b.ratio.value.0.total_cmp(&a.ratio.value.0));
        }
        comparison
    }
}

fn cases_of(sides: &[Side]) -> HashSet<Case> {
    sides.iter().flat_map(|side| cases(&side.runs)).collect()
}
