//! Runs of several machines, by the labels that their owner gave them: each machine against the fastest.

use keymark_bench::Record;
use keymark_stats::BetweenRuns;

use super::{Comparison, Criteria, Side};
use crate::{grouped, history};

/// What the sides of a comparison are.
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
            label.unwrap_or_else(|| history::machine(environment))
        });
        let sides = named.into_iter();
        sides.map(|(name, runs)| Self { name, runs }).collect()
    }
}

impl Comparison {
    /// Machines against the one that takes the least, by the geometric mean over what it has in common with the first;
    /// of each case the slowest first.
    pub fn of_machines(mut sides: Vec<Side>, noise: BetweenRuns, criteria: Criteria) -> Self {
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
        // Each has its own label.
        let told = |what: &str| what != "machine";
        comparison.differences.retain(|known| told(&known.what));
        let cases = comparison.pairs.chunk_by_mut(|a, b| a.old == b.old);
        for case in cases {
            case.sort_by(|a, b| b.ratio.value.0.total_cmp(&a.ratio.value.0));
        }
        comparison
    }
}
