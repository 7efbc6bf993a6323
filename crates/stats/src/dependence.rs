//! How much neighbouring units depend on each other, and by how much that widens an interval over them.
//!
//! Units follow an autoregression of lag-1 correlation ρ (Law & Kelton 2000, §4.4). Given ρ, the variance of their mean
//! is known but for σ², whose estimate from whitened units has n − 1 degrees of freedom, so that Student's t holds exactly
//! (Prais & Winsten 1954; likelihood of ρ: Harville, Biometrika 61, 1974). A dozen units hardly show ρ: the
//! interval is over all values it may have, each with its probability by those units and by a
//! [prior](crate::prior), which the other cases of the run tell. Units count by the normal scores of their ranks (van der
//! Waerden 1952), which a few slow ones do not move; these, beyond Tukey's outer fences, count as independent of their neighbours.
//! Coverage and width in simulations stand in `tests/it/coverage.rs` and docs/methodology/statistics.md.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::estimate::TAIL;
use crate::outliers::outer_fences;
use crate::prior::Weights;
use crate::special::{t_quantile, t_sf};

/// Fewer units have no spread to speak of.
pub(crate) const MIN_UNITS: usize = 3;
/// Values of ρ that are considered: 0, 0.05, …, 0.95. What more would ask for is no longer told apart from a trend.
pub(crate) const GRID: usize = 20;
const STEP: f64 = 0.05;
/// Values less probable than this are left out.
const NEGLIGIBLE: f64 = 1e-4;

/// What is known of the dependence of neighbouring blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// Lag-1 correlation of neighbouring blocks: its expected value, by these blocks and by the run's other cases.
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

/// The dependence of units in time order, by what each is off the mean.
pub(crate) fn dependence(residuals: &[f64], prior: &Weights) -> Dependence {
    let Some(series) = Series::of(residuals) else {
        return Dependence::NONE;
    };
    let posterior = prior.given(&relative(series.log_likelihood));
    let squared = series.widening(&posterior).powi(2);
    let variance = variance(residuals);
    let within = variance_within_fences(residuals).min(variance) / variance;
    Dependence {
        lag1: posterior.mean(),
        widening: (1.0 + (squared - 1.0) * within).sqrt(),
    }
}

/// Likelihoods over the highest of them.
pub(crate) fn relative(log_likelihood: [f64; GRID]) -> [f64; GRID] {
    let highest = log_likelihood.into_iter().fold(f64::NEG_INFINITY, f64::max);
    log_likelihood.map(|log| (log - highest).exp())
}

/// The lag-1 correlation at a place of the grid.
pub(crate) fn rho(place: usize) -> f64 {
    STEP * place as f64
}

/// What units in time order say of each value of ρ.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    units: usize,
    /// Logarithm of the likelihood, mean and variance integrated out.
    pub(crate) log_likelihood: [f64; GRID],
    /// Standard error of the mean over that of independent units.
    errors: [f64; GRID],
}

impl Series {
    /// `None` with too few units or none that differ.
    pub(crate) fn of(units: &[f64]) -> Option<Self> {
        if units.len() < MIN_UNITS || variance(units) <= 0.0 {
            return None;
        }
        let scores = normal_scores(units);
        let n = scores.len() as f64;
        let variance = variance(&scores);
        let (mut log_likelihood, mut errors) = ([0.0; GRID], [0.0; GRID]);
        for (place, (likelihood, error)) in log_likelihood.iter_mut().zip(&mut errors).enumerate() {
            let rho = rho(place);
            let innovation = 1.0 - rho * rho;
            let (information, squares) = whitened(&scores, rho);
            *likelihood = -0.5 * ((n - 1.0) * (innovation.ln() + squares.ln()) + information.ln());
            *error = (of_mean(rho, scores.len()) * squares / (n - 1.0) / variance).sqrt();
        }
        Some(Self {
            units: scores.len(),
            log_likelihood,
            errors,
        })
    }

    /// Half-width of the interval over all values of ρ, over that of Student's t for independent units.
    fn widening(&self, posterior: &Weights) -> f64 {
        let freedom = self.units as f64 - 1.0;
        let usual = t_quantile(1.0 - TAIL, freedom);
        let pairs = posterior.0.iter().zip(self.errors);
        let likely: Vec<(f64, f64)> = pairs
            .filter(|(weight, _)| **weight > NEGLIGIBLE)
            .map(|(weight, error)| (*weight, error))
            .collect();
        let all: f64 = likely.iter().map(|(weight, _)| weight).sum();
        let beyond = |widening: f64| {
            let of_each = likely.iter();
            let tail =
                of_each.map(|(weight, error)| weight * t_sf(usual * widening / error, freedom));
            tail.sum::<f64>() / all
        };
        let errors = || likely.iter().map(|(_, error)| *error);
        let mut low = errors().fold(f64::INFINITY, f64::min);
        let mut high = errors().fold(0.0, f64::max);
        // To a thousandth of what they differ by, and no further than what can be seen of a width.
        for _ in 0..10 {
            let middle = f64::midpoint(low, high);
            if beyond(middle) > TAIL {
                low = middle;
            } else {
                high = middle;
            }
        }
        high.max(1.0)
    }
}

/// Information on the mean and sum of squares around it, in units of the variance of one unit, of units whitened by the
/// transformation of Prais and Winsten.
fn whitened(units: &[f64], rho: f64) -> (f64, f64) {
    let innovation = 1.0 - rho * rho;
    let first = innovation.sqrt();
    let (mut dd, mut dw, mut ww) = (innovation, 0.0, 0.0);
    if let Some(unit) = units.first() {
        let whitened = first * unit;
        dw += first * whitened;
        ww += whitened * whitened;
    }
    let design = 1.0 - rho;
    for pair in units.windows(2) {
        let whitened = pair[1] - rho * pair[0];
        dd += design * design;
        dw += design * whitened;
        ww += whitened * whitened;
    }
    (
        dd / innovation,
        (ww - dw * dw / dd).max(f64::MIN_POSITIVE) / innovation,
    )
}

/// Variance of the mean of `n` units times n, over the variance of one.
fn of_mean(rho: f64, n: usize) -> f64 {
    let n = n as f64;
    // The sum over all lags, of a geometric series.
    let far = rho * (1.0 - rho.powf(n)) / (n * (1.0 - rho));
    (1.0 + rho - 2.0 * far) / (1.0 - rho)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0).max(1.0)
}

/// What standard normal values of these ranks would be about (Blom 1958).
pub(crate) fn normal_scores(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let normal = Normal::standard();
    let score = |rank: f64| normal.inverse_cdf((rank + 0.625) / (n + 0.25));
    ranks(values).into_iter().map(score).collect()
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

    fn found(values: &[f64]) -> Dependence {
        dependence(values, &Weights::unknown())
    }

    #[test]
    fn by_hand() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 0.0]), [2.5, 1.0, 2.5, 0.0]);
        // Two units: 1 + ρ; three: (3 + 4ρ + 2ρ²) / 3.
        assert!((of_mean(0.5, 2) - 1.5).abs() < 1e-12);
        assert!((of_mean(0.5, 3) - 5.5 / 3.0).abs() < 1e-12);
        assert!((of_mean(0.0, 7) - 1.0).abs() < 1e-12);
        // Independent units are as they are: 2 − 2²/2 around their mean, and two say twice as much as one.
        assert_eq!(whitened(&[0.0, 2.0], 0.0), (2.0, 2.0));
        // Of two, the information is 2/(1+ρ), and half their difference squared counts by 1/(1−ρ).
        let (information, squares) = whitened(&[0.0, 2.0], 0.5);
        assert!((information - 2.0 / 1.5).abs() < 1e-12 && (squares - 2.0 / 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_alternates_is_not_narrowed_and_what_drifts_is_widened() {
        let alternating: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        let widening = found(&alternating).widening;
        assert!((1.0..1.05).contains(&widening), "{widening}");
        let rising: Vec<f64> = (0..40).map(f64::from).collect();
        let found = found(&rising);
        assert!(found.lag1 > 0.85 && found.widening > 2.5, "{found:?}");
    }

    #[test]
    fn too_few_or_constant_units_are_left_alone() {
        assert_eq!(found(&[1.0, 2.0]), Dependence::NONE);
        assert_eq!(found(&[4.0; 30]), Dependence::NONE);
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
