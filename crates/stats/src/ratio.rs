//! Ratio of two cases' means, on the log scale.
//!
//! Bootstrap-t (Efron & Tibshirani 1993, ch. 12; Davison & Hinkley 1997,
//! §2.4) with the standard error of the log ratio by the delta method
//! (Cochran 1977, §6.3). Independent cases resample their blocks separately;
//! cases interleaved in the same rounds resample whole rounds, so that drift
//! common to both cancels. With too few units, Student's t; for independent
//! cases with the degrees of freedom of Welch 1947 and Satterthwaite 1946.

use std::collections::BTreeMap;

use crate::blocks::{Batches, Blocks, MAX_BATCHES};
use crate::dependence::{Dependence, dependence};
use crate::estimate::{Computed, Estimate, Method, TAIL};
use crate::num::Float;
use crate::quantity::Ratio;
use crate::resample::{
    Cluster, MIN_UNITS, Point, Stream, dependence_of, draw, ratio_of_sums, rng, standard_error,
    studentized, t_half_width,
};
use crate::special::t_quantile;

/// Fewer shared rounds than this are not worth pairing.
pub const MIN_ROUNDS: usize = 8;
/// Fewer shared rounds than this get Student's t: where a machine runs at two speeds, log ratios
/// fall into three heaps, and resampling so few of them calls 8 % of equal pairs different.
const RESAMPLED_ROUNDS: usize = 60;

/// Mean of `numerator` over mean of `denominator`, measured at unrelated times.
///
/// `None` if either has no samples or a mean of zero; no bounds if either is a
/// single sample.
#[must_use]
pub fn independent(numerator: &Blocks, denominator: &Blocks, seed: u64) -> Option<Estimate<Ratio>> {
    computed_independent(numerator, denominator, seed).map(Computed::widened)
}

pub(crate) fn computed_independent(
    numerator: &Blocks,
    denominator: &Blocks,
    seed: u64,
) -> Option<Computed> {
    let (top, bottom) = (absolute(&numerator.units()), absolute(&denominator.units()));
    let (a, b) = (
        log_mean(top.iter().copied())?,
        log_mean(bottom.iter().copied())?,
    );
    let point = difference(a, b);
    let (ka, kb) = (top.len(), bottom.len());
    if ka < 2 || kb < 2 {
        return Some(Computed::point(point.value.exp()));
    }
    // The more dependent side decides.
    let (one, other) = (dependence_of(&top), dependence_of(&bottom));
    let dependence = if one.widening > other.widening {
        one
    } else {
        other
    };
    if ka >= MIN_UNITS && kb >= MIN_UNITS {
        let mut rngs = (rng(seed, Stream::Numerator), rng(seed, Stream::Denominator));
        let mut picks = (vec![0; ka], vec![0; kb]);
        let interval = studentized(point, || {
            draw(&mut rngs.0, &mut picks.0);
            draw(&mut rngs.1, &mut picks.1);
            let a = log_mean(picks.0.iter().map(|&i| top[i]));
            let b = log_mean(picks.1.iter().map(|&i| bottom[i]));
            resampled(a.zip(b).map(|(a, b)| difference(a, b)), point)
        });
        if let Some(interval) = interval {
            let method = Method::LogRatioBootstrapT;
            return Some(on_ratio_scale(point, interval, dependence, method));
        }
    }
    let half = welch_half_width((a.error, ka), (b.error, kb));
    Some(on_ratio_scale(
        point,
        (point.value - half, point.value + half),
        dependence,
        Method::WelchT,
    ))
}

/// Mean of `numerator` over mean of `denominator`, over the rounds in which
/// both were measured; [`independent`] with fewer than [`MIN_ROUNDS`] of them.
#[must_use]
pub fn paired(numerator: &Blocks, denominator: &Blocks, seed: u64) -> Option<Estimate<Ratio>> {
    computed_paired(numerator, denominator, seed).map(Computed::widened)
}

pub(crate) fn computed_paired(
    numerator: &Blocks,
    denominator: &Blocks,
    seed: u64,
) -> Option<Computed> {
    let rounds = shared_rounds(numerator, denominator);
    if rounds.len() < MIN_ROUNDS {
        return computed_independent(numerator, denominator, seed);
    }
    let rounds = join(&rounds);
    let point = paired_log(rounds.iter().copied())?;
    let mut rng = rng(seed, Stream::Paired);
    let mut picks = vec![0; rounds.len()];
    let mut bootstrap = || {
        studentized(point, || {
            draw(&mut rng, &mut picks);
            resampled(paired_log(picks.iter().map(|&i| rounds[i])), point)
        })
    };
    let dependence = dependence(&paired_residuals(rounds.iter().copied()));
    let enough = rounds.len() >= RESAMPLED_ROUNDS;
    Some(
        if let Some(interval) = enough.then(&mut bootstrap).flatten() {
            on_ratio_scale(
                point,
                interval,
                dependence,
                Method::PairedLogRatioBootstrapT,
            )
        } else {
            let half = t_half_width(point.error, rounds.len());
            let interval = (point.value - half, point.value + half);
            on_ratio_scale(point, interval, dependence, Method::PairedStudentT)
        },
    )
}

/// Whether the interval excludes 1, so that the two cases differ.
#[must_use]
pub fn differs(ratio: &Estimate<Ratio>) -> bool {
    ratio.low.is_some_and(|low| low.0 > 1.0) || ratio.high.is_some_and(|high| high.0 < 1.0)
}

/// A resample whose log ratio does not exist counts as no difference.
fn resampled(star: Option<Point>, point: Point) -> Point {
    star.unwrap_or(Point {
        value: point.value,
        error: 1.0,
    })
}

fn on_ratio_scale(
    point: Point,
    interval: (f64, f64),
    dependence: Dependence,
    method: Method,
) -> Computed {
    let (low, high) = dependence.widen(point.value, interval);
    Computed::new(point.value.exp(), (low.exp(), high.exp()), method)
}

/// Clusters of unshifted durations: residuals do not cancel, squares are not needed.
fn absolute(batches: &Batches) -> Vec<Cluster> {
    let mut clusters = batches.clusters();
    for c in &mut clusters {
        c.total += c.size * batches.offset_ns;
    }
    clusters
}

/// Log of the mean with its error; `None` without samples or with a mean of zero.
fn log_mean(clusters: impl ExactSizeIterator<Item = Cluster> + Clone) -> Option<Point> {
    if clusters.len() == 0 {
        return None;
    }
    let p = ratio_of_sums(clusters);
    (p.value > 0.0).then(|| Point {
        value: p.value.ln(),
        error: p.error / p.value,
    })
}

fn difference(a: Point, b: Point) -> Point {
    Point {
        value: a.value - b.value,
        error: a.error.hypot(b.error),
    }
}

/// Half-width for two errors over `k` units each; 0 if there is no error.
fn welch_half_width((a, ka): (f64, usize), (b, kb): (f64, usize)) -> f64 {
    let variance = a * a + b * b;
    if variance <= 0.0 {
        return 0.0;
    }
    let part = |error: f64, k: usize| error.powi(4) / (k.float() - 1.0);
    let df = variance * variance / (part(a, ka) + part(b, kb));
    t_quantile(1.0 - TAIL, df) * variance.sqrt()
}

/// Numerator and denominator of one round.
type Pair = (Cluster, Cluster);

fn shared_rounds(numerator: &Blocks, denominator: &Blocks) -> Vec<Pair> {
    let (top, bottom) = (by_round(numerator), by_round(denominator));
    top.into_iter()
        .filter_map(|(round, a)| Some((a, *bottom.get(&round)?)))
        .collect()
}

fn by_round(blocks: &Blocks) -> BTreeMap<u32, Cluster> {
    let mut rounds = BTreeMap::new();
    for (round, durations) in blocks.iter() {
        let sum = rounds.entry(round).or_insert(Cluster {
            total: 0.0,
            size: 0.0,
        });
        sum.total += durations.iter().map(|&ns| ns.float()).sum::<f64>();
        sum.size += durations.len().float();
    }
    rounds
}

/// Joins neighbouring rounds beyond the number worth resampling.
fn join(rounds: &[Pair]) -> Vec<Pair> {
    let groups = rounds.len().min(MAX_BATCHES);
    let at = |i: usize| rounds.len() * i / groups;
    let add = |a: Cluster, b: Cluster| Cluster {
        total: a.total + b.total,
        size: a.size + b.size,
    };
    let zero = Cluster {
        total: 0.0,
        size: 0.0,
    };
    (0..groups)
        .map(|i| {
            let group = &rounds[at(i)..at(i + 1)];
            group
                .iter()
                .fold((zero, zero), |sum, r| (add(sum.0, r.0), add(sum.1, r.1)))
        })
        .collect()
}

/// Relative residual of each round: the difference of both sides', each as a share of that side's sum.
fn paired_residuals(rounds: impl ExactSizeIterator<Item = Pair> + Clone) -> Vec<f64> {
    let a = ratio_of_sums(rounds.clone().map(|r| r.0)).value;
    let b = ratio_of_sums(rounds.clone().map(|r| r.1)).value;
    let (na, nb) = rounds
        .clone()
        .fold((0.0, 0.0), |(na, nb), r| (na + r.0.size, nb + r.1.size));
    let residual = |c: Cluster, mean: f64, n: f64| (c.total / mean - c.size) / n;
    rounds
        .map(|r| residual(r.0, a, na) - residual(r.1, b, nb))
        .collect()
}

/// Log ratio of means with its linearised error over rounds.
fn paired_log(rounds: impl ExactSizeIterator<Item = Pair> + Clone) -> Option<Point> {
    let k = rounds.len();
    let a = ratio_of_sums(rounds.clone().map(|r| r.0));
    let b = ratio_of_sums(rounds.clone().map(|r| r.1));
    if a.value <= 0.0 || b.value <= 0.0 {
        return None;
    }
    let residuals = paired_residuals(rounds);
    let squares = residuals.iter().map(|residual| residual.powi(2)).sum();
    Some(Point {
        value: (a.value / b.value).ln(),
        error: standard_error(squares, k),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_cases() {
        let case = |ns: u64| Blocks::from_blocks((0..10).map(|i| (i, vec![ns; 3])));
        for f in [independent, paired] {
            let same = f(&case(700), &case(700), 1).unwrap();
            assert!(!differs(&same) && (same.value.0 - 1.0).abs() < 1e-12);
            let twice = f(&case(1400), &case(700), 1).unwrap();
            assert!(differs(&twice) && (twice.value.0 - 2.0).abs() < 1e-12);
            assert_eq!(f(&case(0), &case(7), 1), None);
            assert_eq!(f(&Blocks::default(), &case(7), 1), None);
        }
    }

    #[test]
    fn welch_by_hand() {
        // Equal errors of k = 3 each: df = 4, t = 2.776.
        let half = welch_half_width((0.1, 3), (0.1, 3));
        assert!((half - 2.776_445 * 0.1 * std::f64::consts::SQRT_2).abs() < 1e-5);
    }

    #[test]
    fn pairing_needs_shared_rounds() {
        let case = |first: u32| {
            Blocks::from_blocks((0..20).map(|i| (first + i, vec![100 + u64::from(i % 3)])))
        };
        let e = paired(&case(0), &case(0), 1).unwrap();
        assert_eq!((e.low, e.high), (Some(Ratio(1.0)), Some(Ratio(1.0))));
        assert_eq!(
            paired(&case(0), &case(15), 1).unwrap().method,
            Method::LogRatioBootstrapT
        );
    }
}
