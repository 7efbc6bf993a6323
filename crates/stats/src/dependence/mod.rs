//! Dependence of neighboring units, and the widening of an interval over them.
//!
//! Units follow an autoregression of lag-1 correlation ρ (Law & Kelton 2000, §4.4). Given ρ, the variance of their mean
//! is known but for σ², whose estimate from whitened units has n − 1 degrees of freedom, so that Student's t holds exactly
//! (Prais & Winsten 1954; likelihood of ρ: Harville, Biometrika 61, 1974). A dozen units hardly show ρ: the
//! interval is over all values it may have, each with its probability by those units and by a
//! [prior](RunDependence), which the other cases of the run tell. Units count by the normal scores of their ranks (van der
//! Waerden 1952), which a few slow ones do not move; these, beyond Tukey's outer fences, count as independent of their neighbors.
//!
//! Which correlations neighboring blocks have in this run, before one case's own blocks are asked, is empirical Bayes: the
//! distribution of ρ over the cases of a run is the one under which their blocks are most probable
//! (Kiefer & Wolfowitz, Ann. Math. Statist. 27, 1956), found by expectation and maximization (Laird, JASA 73, 1978), and
//! smoothed by what is known without a run, which counts as one case more. Blocks depend on each other the
//! less the farther apart they are, so that cases are compared at equal distances: those that are visited more often
//! are thinned. Cases that see the same drift say the same: they count as the number that the variance of their sum
//! shows (design effect: Kish, "Survey Sampling", 1965, §5.4).
//!
//! Coverage and width in simulations are in `tests/it/coverage.rs` and docs/methodology/statistics.md.

mod run;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::estimate::TAIL;
use crate::special::{t_quantile, t_sf};
use crate::spread::outer_fences;

pub use run::RunDependence;

/// Fewer units have no spread to speak of.
const MIN_UNITS: usize = 3;
/// Values of ρ that are considered: 0, 0.05, …, 0.95. What more would ask for is no longer told apart from a trend.
const GRID: usize = 20;
const STEP: f64 = 0.05;
/// Values less probable than this are left out.
const NEGLIGIBLE: f64 = 1e-4;

/// The dependence of neighboring blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// Lag-1 correlation of neighboring blocks: its expected value, by these blocks and by the run's other cases.
    pub lag1: f64,
    /// Factor of the half-width of an interval that takes blocks for independent; at least 1.
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
fn relative(log_likelihood: [f64; GRID]) -> [f64; GRID] {
    let highest = log_likelihood.into_iter().fold(f64::NEG_INFINITY, f64::max);
    log_likelihood.map(|log| (log - highest).exp())
}

/// The lag-1 correlation at a place of the grid.
fn rho(place: usize) -> f64 {
    STEP * place as f64
}

/// The likelihood of each value of ρ by units in time order.
#[derive(Debug, Clone)]
struct Series {
    units: usize,
    /// Logarithm of the likelihood, mean and variance integrated out.
    log_likelihood: [f64; GRID],
    /// Standard error of the mean over that of independent units.
    errors: [f64; GRID],
}

impl Series {
    /// `None` with too few units or none that differ.
    fn of(units: &[f64]) -> Option<Self> {
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
            let tail = likely
                .iter()
                .map(|(weight, error)| weight * t_sf(usual * widening / error, freedom));
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

/// Mean, and sum of the squared deviations from it.
pub(crate) fn mean_and_squares(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum())
}

/// Variance with n − 1.
pub(crate) fn variance(values: &[f64]) -> f64 {
    mean_and_squares(values).1 / (values.len() as f64 - 1.0).max(1.0)
}

/// Returns the expected standard normal values of these ranks (Blom 1958).
fn normal_scores(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let normal = Normal::standard();
    let score = |rank: f64| normal.inverse_cdf((rank + 0.625) / (n + 0.25));
    ranks(values).into_iter().map(score).collect()
}

/// Returns ranks from 0; equal values share the mean of their ranks.
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

/// Beginnings at which a series is thinned, at most: more say the same again.
const MOST_PHASES: usize = 4;
/// Number of iterations, after which the distribution hardly changes.
const ITERATIONS: usize = 200;
/// Stretches of a run, in which cases are compared.
const STRETCHES: usize = 8;

/// Steepness of the prior without a run toward ρ = 1: as little as keeps the interval of a single case of eight blocks
/// below twice Student's (`tests/it/coverage.rs`).
const UNKNOWN: f64 = 0.6;
/// Steepness for pairs that took turns: what comes from the machine cancels.
const PAIRS: f64 = 1.0;
/// The same of batches that a load's steady state is cut into: as much as holds the truth of simulated queues in 95 of 100
/// (`keymark-load`).
const BATCHES: f64 = 3.0;

/// Probabilities of the values of ρ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weights([f64; GRID]);

impl Weights {
    /// Returns the prior of neighbors without further knowledge.
    pub(crate) fn unknown() -> Self {
        Self::falling(UNKNOWN)
    }

    /// Returns the prior of neighboring pairs.
    pub(crate) fn of_pairs() -> Self {
        Self::falling(PAIRS)
    }

    /// Returns the prior of neighboring batches of one load, each longer than a few of its cycles.
    pub(crate) fn of_batches() -> Self {
        Self::falling(BATCHES)
    }

    fn falling(exponent: f64) -> Self {
        let weight = |place| (1.0 - rho(place)).powf(exponent);
        Self(std::array::from_fn(weight)).normalised()
    }

    /// These, given what a series says.
    fn given(&self, likelihood: &[f64; GRID]) -> Self {
        Self(std::array::from_fn(|place| {
            self.0[place] * likelihood[place]
        }))
        .normalised()
    }

    /// The expected ρ.
    fn mean(&self) -> f64 {
        let places = self.0.iter().enumerate();
        places.map(|(place, weight)| weight * rho(place)).sum()
    }

    fn normalised(mut self) -> Self {
        let all: f64 = self.0.iter().sum();
        self.0.iter_mut().for_each(|weight| *weight /= all);
        self
    }
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
