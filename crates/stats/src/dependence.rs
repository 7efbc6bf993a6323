//! How much neighbouring units depend on each other, and by how much that widens an interval over them.
//!
//! The variance of a mean of dependent units is that of independent ones times (1+r)/(1−r), r being the lag-1
//! correlation of an autoregression (Law & Kelton 2000, §4.4 and §9.5.3). An estimate of r from few units is
//! too low: it is corrected by (1+3r)/n (Kendall, Biometrika 41, 1954), and raised by its standard error (by a quarter of
//! it for pairs), since an interval that is too narrow misleads and one that is a little wide does not. It is taken from ranks, which
//! a few slow units do not move; these, beyond Tukey's outer fences, count as independent of their neighbours.
//! Coverage in simulations stands in `tests/it/calibration.rs` and docs/methodology/statistics.md.

use serde::{Deserialize, Serialize};

use crate::estimate::TAIL;
use crate::outliers::outer_fences;
use crate::special::t_quantile;

/// Fewer units say nothing about dependence.
pub(crate) const MIN_UNITS: usize = 8;
/// What more than this would ask for is no longer told apart from a trend.
const HIGHEST: f64 = 0.95;
/// Independent units that the least are worth: a dozen units may look alike by chance, and an interval ten times as wide
/// as they spread would say nothing.
const LEAST: f64 = 3.0;
/// What is known of the dependence of neighbouring blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// Lag-1 correlation of neighbouring blocks, by ranks, corrected for their number.
    pub lag1: f64,
    /// What the half-width of an interval that takes blocks for independent is multiplied by; at least 1.
    pub widening: f64,
}

impl Dependence {
    pub(crate) const NONE: Self = Self {
        lag1: 0.0,
        widening: 1.0,
    };

    /// The interval around `value`, widened.
    pub(crate) fn widen(self, value: f64, (low, high): (f64, f64)) -> (f64, f64) {
        let away = |bound: f64| value + (bound - value) * self.widening;
        (away(low), away(high))
    }
}

/// What the units are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Units {
    /// Of one case.
    Case,
    /// Of two that took turns: what comes from the machine cancels, and what is left is symmetric.
    Pair,
}

impl Units {
    /// By how many of its standard errors the correlation is raised: as few as keep the coverage in simulations.
    const fn standard_errors(self) -> f64 {
        match self {
            Self::Case => 1.0,
            Self::Pair => 0.25,
        }
    }
}

/// The dependence of units in time order, by what each is off the mean.
pub(crate) fn dependence(residuals: &[f64], of: Units) -> Dependence {
    let n = residuals.len();
    let variance = variance(residuals);
    if n < MIN_UNITS || variance <= 0.0 {
        return Dependence::NONE;
    }
    let r = lag1(&ranks(residuals));
    let corrected = r + (1.0 + 3.0 * r) / n as f64;
    let error = ((1.0 - r * r).max(0.0) / n as f64).sqrt();
    let raised = (corrected + of.standard_errors() * error).clamp(0.0, HIGHEST);
    let independent = (n as f64 * (1.0 - raised) / (1.0 + raised)).max(LEAST);
    // Within the fences units are alike; s² of dependent ones is too small by 1 − 1/n'.
    let within = variance_within_fences(residuals).min(variance);
    let alike = within * (1.0 - 1.0 / n as f64) / (1.0 - 1.0 / independent);
    let of_mean = (variance - within) / n as f64 + alike / independent;
    let effective = (variance / of_mean).clamp(LEAST, n as f64);
    let quantile = |units: f64| t_quantile(1.0 - TAIL, units - 1.0);
    let widening =
        (of_mean / (variance / n as f64)).sqrt() * quantile(effective) / quantile(n as f64);
    Dependence {
        lag1: corrected,
        widening: widening.max(1.0),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0).max(1.0)
}

fn lag1(values: &[f64]) -> f64 {
    let mean = mean(values);
    let products: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

/// From 0; equal values share the mean of their ranks.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for group in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        let below = order.partition_point(|&i| values[i].total_cmp(&values[group[0]]).is_lt());
        let shared = below as f64 + (group.len() as f64 - 1.0) / 2.0;
        for &i in group {
            ranks[i] = shared;
        }
    }
    ranks
}

fn variance_within_fences(values: &[f64]) -> f64 {
    let (low, high) = outer_fences(values);
    let held: Vec<f64> = values.iter().map(|x| x.clamp(low, high)).collect();
    variance(&held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_by_hand() {
        // Deviations −1.5, −0.5, 0.5, 1.5: products 0.75 − 0.25 + 0.75 over squares 5.
        assert!((lag1(&[1.0, 2.0, 3.0, 4.0]) - 0.25).abs() < 1e-12);
        assert_eq!(lag1(&[7.0; 5]), 0.0);
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 0.0]), [2.5, 1.0, 2.5, 0.0]);
    }

    #[test]
    fn what_alternates_is_not_narrowed_and_what_drifts_is_widened() {
        let alternating: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert!((dependence(&alternating, Units::Case).widening - 1.0).abs() < 1e-9);
        let rising: Vec<f64> = (0..40).map(f64::from).collect();
        let found = dependence(&rising, Units::Case);
        assert!(found.lag1 > 0.9 && found.widening > 3.0, "{found:?}");
    }

    #[test]
    fn pairs_are_widened_less() {
        let values: Vec<f64> = (0..30).map(|i| f64::from(i * i % 7)).collect();
        let widening = |of| dependence(&values, of).widening;
        assert!(widening(Units::Pair) < widening(Units::Case));
    }

    #[test]
    fn too_few_or_constant_units_are_left_alone() {
        assert_eq!(dependence(&[1.0, 2.0, 3.0], Units::Case), Dependence::NONE);
        assert_eq!(dependence(&[4.0; 30], Units::Pair), Dependence::NONE);
    }

    #[test]
    fn bounds_move_away_from_the_value() {
        let twice = Dependence {
            lag1: 0.6,
            widening: 2.0,
        };
        assert_eq!(twice.widen(10.0, (9.0, 13.0)), (8.0, 16.0));
    }
}
