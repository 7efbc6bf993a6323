//! Throughput at each concurrency with its variance, ready to fit a law to.
//!
//! A few windows give wild variances, and weights made of them favour levels
//! that look steady by chance. So variances are shrunk to the pooled one, as
//! far as they differ no more than chance allows: Smyth, "Linear Models and
//! Empirical Bayes Methods", 2004, eq. 3 and §6.2.

use std::collections::BTreeMap;

use crate::resample::{Cluster, ratio_of_sums};
use crate::throughput::{Window, clusters};

/// Windows measured at one concurrency.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Number of workers, N ≥ 1.
    pub concurrency: u32,
    /// What they completed.
    pub windows: Vec<Window>,
}

/// One level, ready to fit.
pub(crate) struct Point {
    pub n: f64,
    pub clusters: Vec<Cluster>,
    pub rate: f64,
    /// Relative variance of the rate; 1 for all levels if it is not known.
    pub variance: f64,
}

/// Relative variance of one window of a level, with its degrees of freedom.
#[derive(Clone, Copy)]
struct Spread {
    variance: f64,
    df: f64,
}

/// Levels with completions in order of concurrency, equal ones joined, and
/// whether their variances are known.
pub(crate) fn points(levels: &[Level]) -> (Vec<Point>, bool) {
    let mut joined: BTreeMap<u32, Vec<Cluster>> = BTreeMap::new();
    for level in levels.iter().filter(|level| level.concurrency > 0) {
        joined
            .entry(level.concurrency)
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
/// many, if the variances differ no more than chance would have it.
fn prior_df(spreads: &[Spread]) -> Option<f64> {
    let usable = || spreads.iter().filter(|s| s.df > 0.0 && s.variance > 0.0);
    let count = usable().count() as f64;
    if count < 2.0 {
        return None;
    }
    let mean = usable().map(|s| s.variance.ln()).sum::<f64>() / count;
    let seen = usable()
        .map(|s| (s.variance.ln() - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    let chance = usable().map(|s| trigamma(s.df / 2.0)).sum::<f64>() / count;
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
