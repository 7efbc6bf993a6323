//! Two cases that took turns, cut into stretches of the run in which both were measured.
//!
//! What the machine does to both of them in a stretch cancels. Cases that cost unequal times are visited unequally
//! often, so that they share few rounds: a stretch ends with the first round by which each was visited since the last
//! one ended, and no block between is lost. Stretches are the units of a paired interval (batch means over common time:
//! Law & Kelton 2000, §9.5.3 and §10.2.1).

use std::collections::BTreeMap;

use crate::blocks::{Blocks, MAX_BATCHES};
use crate::resample::{Cluster, ratio_of_sums};

/// What both did in a stretch.
pub(crate) type Pair = (Cluster, Cluster);

const NOTHING: Cluster = Cluster {
    total: 0.0,
    size: 0.0,
};

/// Two cases side by side, in time order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stretches {
    /// Those in which both were measured.
    pub shared: Vec<Pair>,
    /// What one of them did when the other was done, in pieces of about as many rounds.
    pub alone: Vec<Pair>,
}

impl Stretches {
    /// Of durations in nanoseconds.
    pub fn new(one: &Blocks, other: &Blocks) -> Self {
        fn clusters(blocks: &Blocks) -> impl Iterator<Item = (u32, Cluster)> {
            let blocks = blocks.iter();
            blocks.map(|(round, durations)| (round, cluster(durations)))
        }
        let counts = (one.block_count(), other.block_count());
        Self::of_clusters(clusters(one), clusters(other), counts)
    }

    /// Of clusters with their rounds; `counts` says how many of them each side has.
    pub fn of_clusters(
        one: impl Iterator<Item = (u32, Cluster)>,
        other: impl Iterator<Item = (u32, Cluster)>,
        counts: (usize, usize),
    ) -> Self {
        let mut rounds: BTreeMap<u32, Pair> = BTreeMap::new();
        for (round, cluster) in one {
            let pair = rounds.entry(round).or_insert((NOTHING, NOTHING));
            pair.0 = add(pair.0, cluster);
        }
        for (round, cluster) in other {
            let pair = rounds.entry(round).or_insert((NOTHING, NOTHING));
            pair.1 = add(pair.1, cluster);
        }
        let (mut shared, mut open): (Vec<Pair>, Vec<Pair>) = (Vec::new(), Vec::new());
        let mut stretch = (NOTHING, NOTHING);
        for pair in rounds.into_values() {
            open.push(pair);
            stretch = both(stretch, pair);
            if stretch.0.size > 0.0 && stretch.1.size > 0.0 {
                shared.push(std::mem::replace(&mut stretch, (NOTHING, NOTHING)));
                open.clear();
            }
        }
        // Of the one that went on, a piece holds what a stretch does.
        let blocks = if open.first().is_some_and(|pair| pair.0.size > 0.0) {
            counts.0
        } else {
            counts.1
        };
        let in_stretches = blocks.saturating_sub(open.len());
        let piece = (in_stretches / shared.len().max(1)).max(1);
        Self {
            shared: join(&shared),
            alone: open.chunks(piece).map(sum).collect(),
        }
    }
}

/// What each stretch is off the means of both sides, as a share of that side's sum: the terms of the linearised log ratio.
pub(crate) fn relative_residuals(
    stretches: impl ExactSizeIterator<Item = Pair> + Clone,
) -> Vec<f64> {
    let (a, b) = means(stretches.clone());
    let residuals = residuals(stretches, (a, b));
    residuals.map(|(of_a, of_b)| of_a / a - of_b / b).collect()
}

/// The same in nanoseconds: the terms of the difference of the means.
pub(crate) fn difference_residuals(
    stretches: impl ExactSizeIterator<Item = Pair> + Clone,
) -> Vec<f64> {
    let means = means(stretches.clone());
    let residuals = residuals(stretches, means);
    residuals.map(|(of_a, of_b)| of_a - of_b).collect()
}

/// Means of both sides.
pub(crate) fn means(stretches: impl ExactSizeIterator<Item = Pair> + Clone) -> (f64, f64) {
    let a = ratio_of_sums(stretches.clone().map(|stretch| stretch.0));
    let b = ratio_of_sums(stretches.map(|stretch| stretch.1));
    (a.value, b.value)
}

fn residuals(
    stretches: impl ExactSizeIterator<Item = Pair> + Clone,
    (a, b): (f64, f64),
) -> impl Iterator<Item = (f64, f64)> {
    let (na, nb) = stretches
        .clone()
        .fold((0.0, 0.0), |(na, nb), (a, b)| (na + a.size, nb + b.size));
    let residual = |cluster: Cluster, mean: f64, n: f64| (cluster.total - mean * cluster.size) / n;
    stretches.map(move |stretch| (residual(stretch.0, a, na), residual(stretch.1, b, nb)))
}

/// Joins neighbours beyond the number worth resampling.
fn join(stretches: &[Pair]) -> Vec<Pair> {
    let groups = stretches.len().min(MAX_BATCHES);
    let at = |i: usize| stretches.len() * i / groups;
    (0..groups)
        .map(|i| sum(&stretches[at(i)..at(i + 1)]))
        .collect()
}

fn sum(pairs: &[Pair]) -> Pair {
    pairs.iter().copied().fold((NOTHING, NOTHING), both)
}

fn both(one: Pair, other: Pair) -> Pair {
    (add(one.0, other.0), add(one.1, other.1))
}

fn add(a: Cluster, b: Cluster) -> Cluster {
    Cluster {
        total: a.total + b.total,
        size: a.size + b.size,
    }
}

fn cluster(durations: &[u64]) -> Cluster {
    Cluster {
        total: durations.iter().map(|&ns| ns as f64).sum(),
        size: durations.len() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(rounds: &[(u32, u64)]) -> Blocks {
        Blocks::from_blocks(rounds.iter().map(|&(round, ns)| (round, vec![ns])))
    }

    fn of(total: f64, size: f64) -> Cluster {
        Cluster { total, size }
    }

    #[test]
    fn a_stretch_ends_when_both_were_visited() {
        let often = case(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]);
        let seldom = case(&[(0, 100), (3, 200), (4, 300)]);
        let stretches = Stretches::new(&seldom, &often);
        assert_eq!(
            stretches.shared,
            [
                (of(100.0, 1.0), of(1.0, 1.0)),
                (of(200.0, 1.0), of(9.0, 3.0)),
                (of(300.0, 1.0), of(5.0, 1.0)),
            ]
        );
        // Two of seven rounds are left; five went into three stretches.
        let alone = [(NOTHING, of(6.0, 1.0)), (NOTHING, of(7.0, 1.0))];
        assert_eq!(stretches.alone, alone);
    }

    #[test]
    fn rounds_that_both_have_are_stretches() {
        let rounds: Vec<(u32, u64)> = (0..20).map(|round| (round, 100)).collect();
        let stretches = Stretches::new(&case(&rounds), &case(&rounds));
        assert_eq!((stretches.shared.len(), stretches.alone.len()), (20, 0));
    }

    #[test]
    fn residuals_by_hand() {
        let pair = |a, b| (of(a, 1.0), of(b, 1.0));
        let stretches = [pair(9.0, 1.0), pair(11.0, 3.0)];
        // Means 10 and 2; each half of the difference of a stretch from the mean difference.
        assert_eq!(difference_residuals(stretches.iter().copied()), [0.0, 0.0]);
        // −0.1/2 + 0.5/2, and the other way round.
        let relative = relative_residuals(stretches.iter().copied());
        assert!((relative[0] - 0.2).abs() < 1e-12 && (relative[1] + 0.2).abs() < 1e-12);
    }
}
