//! Ratio of two cases' means, on the log scale.
//!
//! Of cases that took turns: Student's t over stretches of the run in which both were measured, so that drift common
//! to both cancels. Of independent cases: bootstrap-t (Efron & Tibshirani 1993, ch. 12; Davison & Hinkley 1997, §2.4)
//! that resamples the blocks of each, and with too few of them Student's t with the degrees of freedom of Welch 1947 and
//! Satterthwaite 1946. Standard errors of log ratios by the delta method (Cochran 1977, §6.3).

use crate::blocks::Blocks;
use crate::dependence::{Dependence, Weights};
use crate::estimate::{Estimate, Method, Ratio, TAIL};
use crate::pairing::{
    ENOUGH_STRETCHES, MIN_STRETCHES, Pair, Stretches, interval, means, relative_residuals,
};
use crate::resample::{
    Cluster, MIN_UNITS, Point, Stream, dependence_of, draw, ratio_of_sums, rng, studentized,
};
use crate::special::t_quantile;

/// A side of a ratio.
pub(crate) struct Side {
    /// The units of its own error.
    pub units: Vec<Cluster>,
    /// Its blocks by rounds.
    pub visits: Vec<(u32, Cluster)>,
}

impl Side {
    /// Returns a side of unshifted durations: residuals do not cancel, squares are not needed.
    pub(crate) fn of(blocks: &Blocks) -> Self {
        Self {
            units: blocks.clusters(0.0),
            visits: blocks.visits(),
        }
    }
}

/// Mean of `numerator` over mean of `denominator`, measured at unrelated times.
///
/// `None` if either has no samples or a mean of zero; no bounds if either is a
/// single sample.
pub fn independent(numerator: &Blocks, denominator: &Blocks, seed: u64) -> Option<Estimate<Ratio>> {
    apart(&Side::of(numerator), &Side::of(denominator), seed).map(Estimate::widened)
}

/// Ratio of the ratios of sums of two independent sides.
pub(crate) fn apart(
    Side { units: top, .. }: &Side,
    Side { units: bottom, .. }: &Side,
    seed: u64,
) -> Option<Estimate<f64>> {
    let a = log_mean(top.iter().copied())?;
    let b = log_mean(bottom.iter().copied())?;
    let point = difference(a, b);
    let (ka, kb) = (top.len(), bottom.len());
    if ka < 2 || kb < 2 {
        return Some(Estimate::bare(point.value.exp()));
    }
    let unknown = Weights::unknown();
    let dependence = together(
        (a.error, dependence_of(top, &unknown)),
        (b.error, dependence_of(bottom, &unknown)),
    );
    if ka >= MIN_UNITS && kb >= MIN_UNITS {
        let none = Point {
            error: 1.0,
            ..point
        };
        let mut rngs = (rng(seed, Stream::Numerator), rng(seed, Stream::Denominator));
        let mut picks = (vec![0; ka], vec![0; kb]);
        let interval = studentized(point, || {
            draw(&mut rngs.0, &mut picks.0);
            draw(&mut rngs.1, &mut picks.1);
            let a = log_mean(picks.0.iter().map(|&i| top[i]));
            let b = log_mean(picks.1.iter().map(|&i| bottom[i]));
            // A resample whose log ratio does not exist counts as no difference.
            a.zip(b).map_or(none, |(a, b)| difference(a, b))
        });
        if let Some(interval) = interval {
            let method = Method::LogRatioBootstrapT;
            return Some(on_ratio_scale(point, interval, dependence, method));
        }
    }
    let half = welch_half_width((a.error, ka), (b.error, kb));
    let interval = (point.value - half, point.value + half);
    Some(on_ratio_scale(point, interval, dependence, Method::WelchT))
}

/// Mean of `numerator` over mean of `denominator`, over the stretches of the run in which both were measured; as if
/// [`independent`] where there are too few of them.
pub fn paired(numerator: &Blocks, denominator: &Blocks, seed: u64) -> Option<Estimate<Ratio>> {
    in_turn(&Side::of(numerator), &Side::of(denominator), seed).map(Estimate::widened)
}

/// Returns the ratio by the stretches of two sides, with few of them by whichever interval is narrower.
pub(crate) fn in_turn(top: &Side, bottom: &Side, seed: u64) -> Option<Estimate<f64>> {
    let Stretches { shared, .. } = Stretches::new(&top.visits, &bottom.visits);
    let of_pairs = (shared.len() >= MIN_STRETCHES).then(|| of_stretches(&shared));
    if shared.len() >= ENOUGH_STRETCHES {
        return of_pairs.flatten();
    }
    let apart = apart(top, bottom, seed)?;
    let narrower = of_pairs
        .flatten()
        .filter(|pairs| pairs.is_narrower_than(&apart));
    Some(narrower.unwrap_or(apart))
}

fn of_stretches(shared: &[Pair]) -> Option<Estimate<f64>> {
    let (a, b) = means(shared);
    if a <= 0.0 || b <= 0.0 {
        return None;
    }
    let value = (a / b).ln();
    // Log ratios are symmetric enough for Student's t, which covers better than resampling does where some
    // stretches are slow (`tests/it/calibration.rs`).
    let (low, high) = interval(value, &relative_residuals(shared), shared.len(), 1.0);
    let bounds = (low.exp(), high.exp());
    Some(Estimate::new(value.exp(), bounds, Method::PairedStudentT))
}

fn on_ratio_scale(
    point: Point,
    interval: (f64, f64),
    dependence: Dependence,
    method: Method,
) -> Estimate<f64> {
    let (low, high) = dependence.widen(point.value, interval);
    Estimate::new(point.value.exp(), (low.exp(), high.exp()), method)
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

/// The dependence of a difference, by those of its terms and their errors; the lag is that of the more dependent one.
fn together((a, of_a): (f64, Dependence), (b, of_b): (f64, Dependence)) -> Dependence {
    let (widened_a, widened_b) = (a * of_a.widening, b * of_b.widening);
    let error = a.hypot(b);
    Dependence {
        lag1: of_a.lag1.max(of_b.lag1),
        widening: if error > 0.0 {
            (widened_a.hypot(widened_b) / error).max(1.0)
        } else {
            1.0
        },
    }
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
    let part = |error: f64, k: usize| error.powi(4) / (k as f64 - 1.0);
    let df = variance * variance / (part(a, ka) + part(b, kb));
    t_quantile(1.0 - TAIL, df) * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_cases() {
        let case = |ns: u64| Blocks::from_blocks((0..10).map(|i| (i, vec![ns; 3])));
        for f in [independent, paired] {
            let same = f(&case(700), &case(700), 1).unwrap();
            assert!(same.low.unwrap().0 <= 1.0 && same.high.unwrap().0 >= 1.0);
            assert!((same.value.0 - 1.0).abs() < 1e-12);
            let twice = f(&case(1400), &case(700), 1).unwrap();
            assert!(twice.low.unwrap().0 > 1.0 && (twice.value.0 - 2.0).abs() < 1e-12);
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
    fn pairing_needs_shared_stretches() {
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
