//! Universal Scalability Law.
//!
//! Gunther, "Guerrilla Capacity Planning", 2007, eq. 4.31 and ch. 5:
//! X(N) = λN / (1 + σ(N−1) + κN(N−1)). As N/X = a + b(N−1) + cN(N−1) it is
//! linear in a = 1/λ, b = σ/λ, c = κ/λ and fitted by weighted least squares with
//! b, c ≥ 0 (every active set is tried: Lawson & Hanson, "Solving Least Squares
//! Problems", 1974, ch. 23), weighted by the delta method from the variance of
//! the windows. Intervals: percentile bootstrap over windows, its deviations
//! scaled by √(k/(k−1)) for k windows (Rao & Wu, "Resampling Inference With
//! Complex Survey Data", 1988, §2).
//!
//! A few windows give wild variances, and weights made of them favor levels that look steady by chance. So variances are
//! shrunk to the pooled one, as far as chance explains their differences: Smyth, "Linear Models and Empirical Bayes
//! Methods", 2004, eq. 3 and §6.2.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::dependence::variance;
use crate::estimate::{Estimate, Method, PerSecond};
use crate::resample::{Cluster, Stream, draw, percentile, ratio_of_sums, rng};
use crate::special::chi_square_sf;
use crate::throughput::{Window, clusters};

const RESAMPLES: usize = 500;
/// A fit is rejected at this probability of a worse one.
const REJECT: f64 = 0.01;

/// Why no law could be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UslError {
    /// Three unknowns need three levels.
    #[error("{0} distinct concurrencies with completions; the scalability law needs at least 3")]
    TooFewLevels(usize),
    /// No law with a positive rate comes near the data.
    #[error("no scalability law with a positive rate fits the throughputs")]
    NoFit,
}

/// A fitted scalability law.
#[derive(Debug, Clone, PartialEq)]
pub struct Usl {
    /// λ: throughput of one worker.
    pub lambda: Estimate<PerSecond>,
    /// σ: contention, the share of work done one at a time.
    pub sigma: Estimate<f64>,
    /// κ: coherency, the cost of each pair of workers.
    pub kappa: Estimate<f64>,
    /// Probability of a worse fit if the law holds, by a χ² test against the windows' own variance; `None` without residual
    /// degrees of freedom or variance.
    pub p_value: Option<f64>,
}

impl Usl {
    /// Returns whether the law does not describe these data; its parameters then mean little.
    pub fn rejected(&self) -> bool {
        self.p_value.is_some_and(|p_value| p_value < REJECT)
    }

    /// Throughput the law gives for `n` workers.
    pub fn throughput(&self, n: f64) -> PerSecond {
        let cost = 1.0 + self.sigma.value * (n - 1.0) + self.kappa.value * n * (n - 1.0);
        PerSecond(self.lambda.value.0 * n / cost)
    }
}

/// Fits the law; levels of equal number of workers are joined, those that completed
/// nothing left out. No bounds unless every level has two windows.
///
/// # Errors
/// Fewer than three distinct concurrencies, or no law with a positive rate.
pub fn fit(levels: &[Level], seed: u64) -> Result<Usl, UslError> {
    let (points, known) = points(levels);
    if points.len() < 3 {
        return Err(UslError::TooFewLevels(points.len()));
    }
    let rates: Vec<f64> = points.iter().map(|p| p.rate).collect();
    let best = solve(&points, &rates).ok_or(UslError::NoFit)?;
    let mut draws = resample(&points, seed);
    let mut estimate = |i: usize| match percentile(&mut draws[i]) {
        Some(bounds) => Estimate::new(best[i], bounds, Method::UslBootstrap),
        None => Estimate::bare(best[i]),
    };
    let mut usl = Usl {
        lambda: estimate(0).widened(),
        sigma: estimate(1).widened(),
        kappa: estimate(2).widened(),
        p_value: None,
    };
    usl.p_value = known.then(|| p_value(&points, &usl)).flatten();
    Ok(usl)
}

/// λ, σ, κ of the best feasible active set for the given rates.
fn solve(points: &[Point], rates: &[f64]) -> Option<[f64; 3]> {
    let row = |p: &Point| [1.0, p.n - 1.0, p.n * (p.n - 1.0)];
    let mut best: Option<(f64, [f64; 3])> = None;
    for active in [&[0][..], &[0, 1], &[0, 2], &[0, 1, 2]] {
        let mut normal = [[0.0; 4]; 3];
        for (p, rate) in points.iter().zip(rates) {
            let y = p.n / rate;
            let weight = 1.0 / (y * y * p.variance);
            for &i in active {
                for &j in active {
                    normal[i][j] += weight * row(p)[i] * row(p)[j];
                }
                normal[i][3] += weight * row(p)[i] * y;
            }
        }
        let Some(x) = gauss(normal, active) else {
            continue;
        };
        if x[0] <= 0.0 || x[1] < 0.0 || x[2] < 0.0 {
            continue;
        }
        let residual = |(p, rate): (&Point, &f64)| {
            let r = row(p);
            let fitted = x[0] * r[0] + x[1] * r[1] + x[2] * r[2];
            (fitted * rate / p.n - 1.0).powi(2) / p.variance
        };
        let squares: f64 = points.iter().zip(rates).map(residual).sum();
        if best.is_none_or(|(least, _)| squares < least) {
            best = Some((squares, [1.0 / x[0], x[1] / x[0], x[2] / x[0]]));
        }
    }
    best.map(|(_, x)| x)
}

/// Gauss-Jordan elimination on the active rows, scaled to a unit diagonal
/// (positive definite, so no pivoting is needed); inactive unknowns are 0.
fn gauss(mut m: [[f64; 4]; 3], active: &[usize]) -> Option<[f64; 3]> {
    let scale: [f64; 3] = std::array::from_fn(|i| m[i][i].sqrt());
    for &i in active {
        for &j in active {
            m[i][j] /= scale[i] * scale[j];
        }
        m[i][3] /= scale[i];
    }
    for &i in active {
        let pivot = m[i];
        if pivot[i].is_nan() || pivot[i] < 1e-14 {
            return None;
        }
        for &j in active.iter().filter(|&&j| j != i) {
            let factor = m[j][i] / pivot[i];
            for (cell, p) in m[j].iter_mut().zip(pivot) {
                *cell -= factor * p;
            }
        }
    }
    let mut x = [0.0; 3];
    for &i in active {
        x[i] = m[i][3] / m[i][i] / scale[i];
    }
    Some(x)
}

/// Resampled λ, σ and κ; empty if a level has a single window.
fn resample(points: &[Point], seed: u64) -> [Vec<f64>; 3] {
    let mut draws = [const { Vec::new() }; 3];
    if points.iter().any(|p| p.clusters.len() < 2) {
        return draws;
    }
    let mut rng = rng(seed, Stream::Usl);
    for _ in 0..RESAMPLES {
        let mut rate = |p: &Point| {
            let mut picks = vec![0; p.clusters.len()];
            draw(&mut rng, &mut picks);
            let star = ratio_of_sums(picks.iter().map(|&i| p.clusters[i])).value;
            let k = picks.len() as f64;
            // Resampling k windows gives only (k − 1)/k of the variance.
            p.rate + (star - p.rate) * (k / (k - 1.0)).sqrt()
        };
        let rates: Vec<f64> = points.iter().map(&mut rate).collect();
        if rates.iter().all(|&rate| rate > 0.0)
            && let Some(x) = solve(points, &rates)
        {
            for (draws, x) in draws.iter_mut().zip(x) {
                draws.push(x);
            }
        }
    }
    draws
}

fn p_value(points: &[Point], usl: &Usl) -> Option<f64> {
    // A parameter held at its bound of zero is not a fitted one.
    let free = 1 + usize::from(usl.sigma.value > 0.0) + usize::from(usl.kappa.value > 0.0);
    let df = points.len().checked_sub(free).filter(|&df| df > 0)?;
    let term = |p: &Point| (p.rate / usl.throughput(p.n).0 - 1.0).powi(2) / p.variance;
    let chi: f64 = points.iter().map(term).sum();
    Some(chi_square_sf(chi, df as f64))
}

/// Windows measured at one number of workers.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Number of workers, N ≥ 1.
    pub workers: u32,
    /// What they completed.
    pub windows: Vec<Window>,
}

/// One level, ready to fit.
struct Point {
    n: f64,
    clusters: Vec<Cluster>,
    rate: f64,
    /// Relative variance of the rate; 1 for all levels if it is not known.
    variance: f64,
}

/// Relative variance of one window of a level, with its degrees of freedom.
#[derive(Clone, Copy)]
struct Spread {
    variance: f64,
    df: f64,
}

/// Levels with completions in order of workers, equal ones joined, and
/// whether their variances are known.
fn points(levels: &[Level]) -> (Vec<Point>, bool) {
    let mut joined: BTreeMap<u32, Vec<Cluster>> = BTreeMap::new();
    for level in levels.iter().filter(|level| level.workers > 0) {
        joined
            .entry(level.workers)
            .or_default()
            .extend(clusters(&level.windows));
    }
    let (mut points, mut spreads) = (Vec::new(), Vec::new());
    for (n, clusters) in joined {
        let rate = ratio_of_sums(clusters.iter().copied());
        if rate.value > 0.0 {
            let k = clusters.len() as f64;
            let error = if k > 1.0 {
                rate.error / rate.value
            } else {
                0.0
            };
            spreads.push(Spread {
                variance: error * error * k,
                df: k - 1.0,
            });
            points.push(Point {
                n: f64::from(n),
                clusters,
                rate: rate.value,
                variance: 1.0,
            });
        }
    }
    let shrunk = shrink(&spreads);
    for (point, variance) in points.iter_mut().zip(shrunk.iter().flatten()) {
        point.variance = variance / point.clusters.len() as f64;
    }
    (points, shrunk.is_some())
}

/// Variances shrunk to the pooled one; `None` if nothing varies at all.
fn shrink(spreads: &[Spread]) -> Option<Vec<f64>> {
    let df: f64 = spreads.iter().map(|s| s.df).sum();
    let pooled = spreads.iter().map(|s| s.variance * s.df).sum::<f64>() / df;
    if df <= 0.0 || pooled <= 0.0 {
        return None;
    }
    let prior = prior_df(spreads);
    let shrink = |s: &Spread| match prior {
        Some(prior) => (s.variance * s.df + pooled * prior) / (s.df + prior),
        None => pooled,
    };
    Some(spreads.iter().map(shrink).collect())
}

/// Degrees of freedom the pooled variance is worth; `None` for infinitely
/// many, if chance explains the differences of the variances.
fn prior_df(spreads: &[Spread]) -> Option<f64> {
    let usable = || spreads.iter().filter(|s| s.df > 0.0 && s.variance > 0.0);
    let logs: Vec<f64> = usable().map(|s| s.variance.ln()).collect();
    if logs.len() < 2 {
        return None;
    }
    let seen = variance(&logs);
    let chance = usable().map(|s| trigamma(s.df / 2.0)).sum::<f64>() / logs.len() as f64;
    // Smyth's starting value of the inverse trigamma, 1/2 + 1/x, is near enough for a weight.
    (seen > chance).then(|| 2.0 * (0.5 + 1.0 / (seen - chance)))
}

/// Second derivative of ln Γ (Abramowitz & Stegun 1964, 6.4.6 and 6.4.12).
fn trigamma(x: f64) -> f64 {
    if x < 6.0 {
        return trigamma(x + 1.0) + 1.0 / (x * x);
    }
    let r = 1.0 / x;
    r + r * r / 2.0 + r.powi(3) / 6.0 - r.powi(5) / 30.0 + r.powi(7) / 42.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigamma_known_values() {
        let pi2 = std::f64::consts::PI.powi(2);
        assert!((trigamma(1.0) - pi2 / 6.0).abs() < 1e-8);
        assert!((trigamma(0.5) - pi2 / 2.0).abs() < 1e-8);
    }

    #[test]
    fn like_variances_are_pooled_unlike_ones_are_not() {
        let spread = |variance| Spread { variance, df: 9.0 };
        let like = shrink(&[spread(1.0), spread(1.2), spread(0.8)]).unwrap();
        assert!(like.iter().all(|v| (v - 1.0).abs() < 1e-12));
        let unlike = shrink(&[spread(1.0), spread(100.0), spread(1e4)]).unwrap();
        assert!(unlike[0] < unlike[1] && unlike[1] < unlike[2]);
        assert!(shrink(&[spread(0.0), spread(0.0)]).is_none());
    }
}
