//! Resampling of clusters, shared by every bootstrap of this crate.
//!
//! Studentized (bootstrap-t) interval: Efron & Tibshirani, "An Introduction to
//! the Bootstrap", 1993, §12.5, eq. 12.22; Davison & Hinkley, "Bootstrap
//! Methods and their Application", 1997, §2.4, with whole clusters resampled
//! as in §3.8. The standard error of a ratio of sums is linearised (Cochran,
//! "Sampling Techniques", 3rd ed. 1977, §6.3, eq. 6.9).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::dependence::{Dependence, Weights, dependence};
use crate::estimate::{Estimate, Method, TAIL};
use crate::special::t_quantile;

/// Resamples of every interval of one case or of a pair.
pub(crate) const RESAMPLES: usize = 2000;
/// Fewer units than this are not resampled: too few different resamples.
pub(crate) const MIN_UNITS: usize = 20;

/// Fewer units than this have no range to speak of: of eight alike ones the mean is beyond too often.
const MIN_FOR_RANGE: usize = 12;

/// Random streams, so that one seed gives unrelated draws to each use.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stream {
    Mean = 1,
    Numerator = 3,
    Denominator,
    Throughput,
    Usl,
    Arrivals = 8,
    Services,
    Choices,
    Input,
}

pub(crate) fn rng(seed: u64, stream: Stream) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream as u64);
    rng
}

/// Fills `picks` with indices below its length, drawn with replacement.
pub(crate) fn draw(rng: &mut ChaCha8Rng, picks: &mut [usize]) {
    let k = picks.len();
    for pick in picks {
        *pick = rng.random_range(0..k);
    }
}

/// A unit of resampling: a total and its size (durations and their count, completions and their time).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cluster {
    pub total: f64,
    pub size: f64,
}

/// A statistic with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub value: f64,
    pub error: f64,
}

/// Sum of totals over sum of sizes; the error is infinite for a single cluster.
pub(crate) fn ratio_of_sums(clusters: impl ExactSizeIterator<Item = Cluster> + Clone) -> Point {
    let k = clusters.len();
    let (total, size) = clusters
        .clone()
        .fold((0.0, 0.0), |(t, s), c| (t + c.total, s + c.size));
    let value = total / size;
    let squares: f64 = clusters.map(|c| (c.total - value * c.size).powi(2)).sum();
    let error = standard_error(squares, k) / size;
    Point { value, error }
}

/// The dependence of neighboring clusters.
pub(crate) fn dependence_of(clusters: &[Cluster], prior: &Weights) -> Dependence {
    let value = ratio_of_sums(clusters.iter().copied()).value;
    let residuals: Vec<f64> = clusters.iter().map(|c| c.total - value * c.size).collect();
    dependence(&residuals, prior)
}

/// √(k/(k−1) Σ r²): standard error of a sum of `k` linearised terms r.
pub(crate) fn standard_error(squares: f64, k: usize) -> f64 {
    if k < 2 {
        f64::INFINITY
    } else {
        (squares * k as f64 / (k - 1) as f64).sqrt()
    }
}

/// Studentized interval of a ratio of sums; `None` if it cannot be had.
fn bootstrap_t(clusters: &[Cluster], mut rng: ChaCha8Rng) -> Option<(f64, f64)> {
    let point = ratio_of_sums(clusters.iter().copied());
    let mut picks = vec![0; clusters.len()];
    studentized(point, || {
        draw(&mut rng, &mut picks);
        ratio_of_sums(picks.iter().map(|&i| clusters[i]))
    })
}

/// The ratio of sums with an interval from resamples, or by Student's t where there are too few clusters or not
/// `enough` samples; widened for the dependence of neighbors. Without bounds for a single cluster, `None` of none.
pub(crate) fn ratio_of_sums_estimate(
    clusters: &[Cluster],
    enough: impl FnOnce() -> bool,
    prior: &Weights,
    rng: ChaCha8Rng,
) -> Option<Estimate<f64>> {
    let k = clusters.len();
    let point = ratio_of_sums(clusters.iter().copied());
    if k < 2 {
        return (k == 1).then(|| Estimate::bare(point.value));
    }
    let resampled = (k >= MIN_UNITS && enough()).then(|| bootstrap_t(clusters, rng));
    let (bounds, method) = if let Some(bounds) = resampled.flatten() {
        (bounds, Method::BootstrapT)
    } else {
        let half = t_half_width(point.error, k);
        ((point.value - half, point.value + half), Method::StudentT)
    };
    let widened = dependence_of(clusters, prior).widen(point.value, bounds);
    let bounds = within_range(clusters, bounds, widened);
    Some(Estimate::new(point.value, bounds, method))
}

/// Widened bounds no farther than the clusters themselves lie: what these have in common may ask for more where all drift,
/// but that the long run's value is slower than each of them, or faster, is improbable without any assumption (of
/// twelve independent ones, 1 in 2048: the sign test).
fn within_range(clusters: &[Cluster], (low, high): (f64, f64), widened: (f64, f64)) -> (f64, f64) {
    if clusters.len() < MIN_FOR_RANGE {
        return widened;
    }
    let values = || clusters.iter().map(|cluster| cluster.total / cluster.size);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    (widened.0.max(least).min(low), widened.1.min(most).max(high))
}

/// Smallest share of a standard error that is not rounding.
const ROUNDING: f64 = 1e-9;

/// Studentized interval from resampled statistics; `None` if too many
/// resamples have no spread to studentize by.
pub(crate) fn studentized(point: Point, mut next: impl FnMut() -> Point) -> Option<(f64, f64)> {
    if point.error <= 0.0 {
        return Some((point.value, point.value));
    }
    let mut pivots: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let star = next();
            // Zero error: infinite pivot with the sign of the difference; 0/0 is no difference. Equal windows, as
            // those of a slow server are, leave rounding in place of zero.
            let or_zero = |size: f64| {
                if size.abs() > ROUNDING * point.error {
                    size
                } else {
                    0.0
                }
            };
            let t = or_zero(star.value - point.value) / or_zero(star.error);
            if t.is_nan() { 0.0 } else { t }
        })
        .collect();
    pivots.sort_by(f64::total_cmp);
    let low = point.value - order(&pivots, 1.0 - TAIL) * point.error;
    let high = point.value - order(&pivots, TAIL) * point.error;
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

/// Percentile interval of resampled values (sorted here).
pub(crate) fn percentile(values: &mut [f64]) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    (!values.is_empty()).then(|| (order(values, TAIL), order(values, 1.0 - TAIL)))
}

/// The order statistic at share `p` of sorted, non-empty values.
fn order(sorted: &[f64], p: f64) -> f64 {
    sorted[(((sorted.len() + 1) as f64 * p).round() as usize).clamp(1, sorted.len()) - 1]
}

/// Half-width of Student's t interval over `k` units.
pub(crate) fn t_half_width(error: f64, k: usize) -> f64 {
    if error == 0.0 {
        0.0
    } else {
        t_quantile(1.0 - TAIL, k as f64 - 1.0) * error
    }
}

/// Draws normal noise (Box & Muller 1958).
#[cfg(test)]
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_of_sums_by_hand() {
        let c = [(1.0, 1.0), (6.0, 2.0), (2.0, 1.0)].map(|(total, size)| Cluster { total, size });
        let p = ratio_of_sums(c.into_iter());
        assert!((p.value - 2.25).abs() < 1e-12);
        // Residuals −1.25, 1.5, −0.25: Σr² = 3.875; √(3.875 × 3/2) / 4.
        assert!((p.error - (3.875_f64 * 1.5).sqrt() / 4.0).abs() < 1e-12);
    }
}
