//! Two cases that took turns, cut into stretches of the run in which both were measured.
//!
//! What the machine does to both of them in a stretch cancels. Cases that cost unequal times are visited unequally
//! often, so that they share few rounds: a stretch ends with the first round by which each was visited since the last
//! one ended, and no block between is lost. Stretches are the units of a paired interval (batch means over common time:
//! Law & Kelton 2000, §9.5.3 and §10.2.1).
//!
//! And the difference of two means: of cases that took turns, from what each stretch says of it; of estimates with
//! independent errors, from their intervals, kept in shape by MOVER, the method of variance estimates recovery: Zou &
//! Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008), eq. 5.

use std::collections::BTreeMap;

use crate::blocks::{Blocks, MAX_BATCHES, evenly};
use crate::dependence::{Weights, dependence};
use crate::estimate::{Estimate, Method, NS, Quantity, Seconds};
use crate::resample::{Cluster, ratio_of_sums, standard_error, t_half_width};

/// Fewer shared stretches than this are not worth pairing.
pub(crate) const MIN_STRETCHES: usize = 8;

/// Fewer than this hardly show what neighboring stretches have in common, and are paired only where that gives the
/// narrower interval: it covers all the same (`tests/it/calibration.rs`).
pub(crate) const ENOUGH_STRETCHES: usize = 20;

/// The two sides of a stretch.
pub(crate) type Pair = (Cluster, Cluster);

const NOTHING: Cluster = Cluster {
    total: 0.0,
    size: 0.0,
};

/// Two cases side by side, in time order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stretches {
    /// Rounds in which both were measured.
    pub shared: Vec<Pair>,
    /// Stretches in which only one of them was measured, in pieces of about as many rounds.
    pub alone: Vec<Pair>,
}

impl Stretches {
    /// Pairs two sides by their rounds.
    pub fn new(one: &[(u32, Cluster)], other: &[(u32, Cluster)]) -> Self {
        let mut rounds: BTreeMap<u32, Pair> = BTreeMap::new();
        let of_one = one.iter().map(|(round, of)| (*round, (*of, NOTHING)));
        let of_other = other.iter().map(|(round, of)| (*round, (NOTHING, *of)));
        for (round, pair) in of_one.chain(of_other) {
            let sum = rounds.entry(round).or_insert((NOTHING, NOTHING));
            *sum = both(*sum, pair);
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
            one
        } else {
            other
        };
        let in_stretches = blocks.len().saturating_sub(open.len());
        let piece = (in_stretches / shared.len().max(1)).max(1);
        Self {
            shared: join(&shared),
            alone: open.chunks(piece).map(sum).collect(),
        }
    }
}

/// Returns the terms of the linearised log ratio: each stretch's distance from the means of both sides, as a share of
/// that side's sum.
pub(crate) fn relative_residuals(stretches: &[Pair]) -> Vec<f64> {
    let (a, b) = means(stretches);
    let residuals = residuals(stretches, (a, b));
    residuals.map(|(of_a, of_b)| of_a / a - of_b / b).collect()
}

/// Returns the terms of the difference of the means, in nanoseconds.
fn difference_residuals(stretches: &[Pair]) -> Vec<f64> {
    let residuals = residuals(stretches, means(stretches));
    residuals.map(|(of_a, of_b)| of_a - of_b).collect()
}

/// Means of both sides.
pub(crate) fn means(stretches: &[Pair]) -> (f64, f64) {
    let a = ratio_of_sums(stretches.iter().map(|stretch| stretch.0));
    let b = ratio_of_sums(stretches.iter().map(|stretch| stretch.1));
    (a.value, b.value)
}

fn residuals(stretches: &[Pair], (a, b): (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    let (all_a, all_b) = sum(stretches);
    let residual = |cluster: &Cluster, mean: f64, n: f64| (cluster.total - mean * cluster.size) / n;
    stretches
        .iter()
        .map(move |(of_a, of_b)| (residual(of_a, a, all_a.size), residual(of_b, b, all_b.size)))
}

/// Joins neighbors beyond the number worth resampling.
fn join(stretches: &[Pair]) -> Vec<Pair> {
    let groups = evenly(stretches.len(), stretches.len().min(MAX_BATCHES));
    groups.map(|group| sum(&stretches[group])).collect()
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

/// The mean of `a` less that of `b`, given with their blocks; as [`difference`] has it where there are too few
/// stretches in which both were measured.
pub fn paired_difference(
    (a, blocks_of_a): (&Estimate<Seconds>, &Blocks),
    (b, blocks_of_b): (&Estimate<Seconds>, &Blocks),
) -> Estimate<Seconds> {
    let Stretches { shared, alone } = Stretches::new(&blocks_of_a.visits(), &blocks_of_b.visits());
    let stretches = shared.len();
    let of_pairs =
        (stretches >= MIN_STRETCHES).then(|| of_stretches(a.value.0 - b.value.0, shared, alone));
    let apart = recovered(a, b);
    let chosen =
        of_pairs.filter(|pairs| stretches >= ENOUGH_STRETCHES || pairs.is_narrower_than(&apart));
    chosen.unwrap_or(apart).widened()
}

fn of_stretches(value: f64, mut shared: Vec<Pair>, alone: Vec<Pair>) -> Estimate<f64> {
    // The means are those of all blocks, so what one did alone is part of the error.
    let units = shared.len();
    shared.extend(alone);
    let interval = interval(value, &difference_residuals(&shared), units, NS);
    Estimate::new(value, interval, Method::PairedDifference)
}

/// Returns Student's t interval over these terms of a value, given in a unit that is the `per`-th part of its own; widened
/// for the dependence of neighbors.
pub(crate) fn interval(value: f64, residuals: &[f64], units: usize, per: f64) -> (f64, f64) {
    let squares = residuals.iter().map(|residual| residual.powi(2)).sum();
    let half = t_half_width(standard_error(squares, residuals.len()), units) / per;
    let dependence = dependence(residuals, &Weights::of_pairs());
    dependence.widen(value, (value - half, value + half))
}

/// `a - b`; a side without the bounds it needs stays open.
pub fn difference<T: Quantity>(a: &Estimate<T>, b: &Estimate<T>) -> Estimate<T> {
    recovered(a, b).widened()
}

fn recovered<T: Quantity>(a: &Estimate<T>, b: &Estimate<T>) -> Estimate<f64> {
    let (value_a, value_b) = (a.value.to_f64(), b.value.to_f64());
    let value = value_a - value_b;
    let reach = |from_a: Option<T>, from_b: Option<T>| {
        let (da, db) = (value_a - from_a?.to_f64(), from_b?.to_f64() - value_b);
        Some(da.hypot(db))
    };
    let low = reach(a.low, b.high).map(|reach| value - reach);
    let high = reach(a.high, b.low).map(|reach| value + reach);
    Estimate::bounded(value, (low, high), Method::Mover)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(rounds: &[(u32, u64)]) -> Vec<(u32, Cluster)> {
        Blocks::from_blocks(rounds.iter().map(|&(round, ns)| (round, vec![ns]))).visits()
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
    fn residuals_by_hand() {
        let pair = |a, b| (of(a, 1.0), of(b, 1.0));
        let stretches = [pair(9.0, 1.0), pair(11.0, 3.0)];
        // Means 10 and 2; each half of the difference of a stretch from the mean difference.
        assert_eq!(difference_residuals(&stretches), [0.0, 0.0]);
        // −0.1/2 + 0.5/2, and the other way round.
        let relative = relative_residuals(&stretches);
        assert!((relative[0] - 0.2).abs() < 1e-12 && (relative[1] + 0.2).abs() < 1e-12);
    }

    fn estimate(value: f64, low: f64, high: f64) -> Estimate<f64> {
        Estimate::new(value, (low, high), Method::StudentT).widened()
    }

    #[test]
    fn half_widths_add_in_quadrature() {
        // By hand: sqrt(3² + 4²) = 5 below, sqrt(6² + 8²) = 10 above.
        let d = difference(&estimate(100.0, 97.0, 106.0), &estimate(40.0, 32.0, 44.0));
        assert_eq!((d.value, d.low, d.high), (60.0, Some(55.0), Some(70.0)));
    }

    #[test]
    fn an_open_side_stays_open() {
        let open = Estimate {
            high: None,
            ..estimate(100.0, 97.0, 106.0)
        };
        let d = difference(&open, &estimate(40.0, 36.0, 44.0));
        assert_eq!((d.low, d.high), (Some(55.0), None));
    }
}
