//! Throughput as it was observed: completed operations over elapsed time,
//! never threads over mean latency.
//!
//! Ratio of sums over windows with a bootstrap-t interval (Efron & Tibshirani
//! 1993, ch. 12); Student's t with fewer than twenty windows; widened for the
//! dependence of neighbors.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::dependence::{RunDependence, Weights};
use crate::estimate::{Estimate, NS, PerSecond, Ratio};
use crate::ratio::{Side, apart, in_turn};
use crate::resample::{Cluster, Stream, ratio_of_sums_estimate, rng};

/// A stretch of time in which completions were counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Operations that succeeded within the window; one that its edge cuts counts by its share inside.
    pub completed: f64,
    /// Length of the window, ns.
    pub length_ns: u64,
    /// Interleaving round in which it was measured.
    pub round: u32,
}

/// Throughput over throughput, both as they were observed: of cases that took turns over the stretches of the run
/// in which both were measured, as [`crate::paired`] does for means. `None` if one side completed nothing.
///
/// Sides that were measured in different rounds are not paired: the value has to be the quotient of the two rates, as
/// [`throughput`] tells them.
pub fn gain(numerator: &[Window], denominator: &[Window], seed: u64) -> Option<Estimate<Ratio>> {
    let rounds = |windows| {
        timed(windows)
            .map(|window| window.round)
            .collect::<HashSet<_>>()
    };
    if rounds(numerator) != rounds(denominator) {
        return independent_gain(numerator, denominator, seed);
    }
    in_turn(&side(numerator), &side(denominator), seed).map(Estimate::widened)
}

/// Returns the gain of cases that did not take turns: nothing is paired.
pub fn independent_gain(
    numerator: &[Window],
    denominator: &[Window],
    seed: u64,
) -> Option<Estimate<Ratio>> {
    apart(&side(numerator), &side(denominator), seed).map(Estimate::widened)
}

fn side(windows: &[Window]) -> Side {
    let rounds = timed(windows).map(|window| window.round);
    let units = clusters(windows);
    Side {
        visits: rounds.zip(units.iter().copied()).collect(),
        units,
    }
}

fn timed(windows: &[Window]) -> impl Iterator<Item = &Window> {
    windows.iter().filter(|window| window.length_ns > 0)
}

/// Windows as clusters (completions, seconds); those without length are dropped.
pub(crate) fn clusters(windows: &[Window]) -> Vec<Cluster> {
    let cluster = |window: &Window| Cluster {
        total: window.completed,
        size: window.length_ns as f64 / NS,
    };
    timed(windows).map(cluster).collect()
}

/// Observed operations per second; `None` without a window, no bounds for one.
pub fn throughput(
    windows: &[Window],
    run: &RunDependence,
    seed: u64,
) -> Option<Estimate<PerSecond>> {
    computed(windows, run, seed).map(Estimate::widened)
}

pub(crate) fn computed(
    windows: &[Window],
    run: &RunDependence,
    seed: u64,
) -> Option<Estimate<f64>> {
    let rng = rng(seed, Stream::Throughput);
    // Windows of one round are batches of one load.
    let prior = distance(windows).map_or_else(Weights::of_batches, |apart| run.at(Some(apart)));
    let rate = ratio_of_sums_estimate(&clusters(windows), || true, &prior, rng)?;
    Some(Estimate {
        low: rate.low.map(|low| low.max(0.0)),
        high: rate.high.map(|high| high.max(0.0)),
        ..rate
    })
}

/// Rounds from one to the next, on average.
fn distance(windows: &[Window]) -> Option<f64> {
    let (first, last) = (windows.first()?.round, windows.last()?.round);
    let apart = f64::from(last.saturating_sub(first));
    (apart > 0.0).then(|| apart / (windows.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Method;

    fn alone(windows: &[Window]) -> Option<Estimate<PerSecond>> {
        throughput(windows, &RunDependence::default(), 1)
    }

    #[test]
    fn a_gain_forgets_what_the_machine_did_to_both() {
        // The machine is twice as slow in every other round; two workers are 1.8× as fast in each.
        let windows = |rate: f64| -> Vec<Window> {
            let window = |round: u32| Window {
                completed: rate * if round.is_multiple_of(2) { 1.0 } else { 0.5 },
                length_ns: 1_000_000_000,
                round,
            };
            (0..30).map(window).collect()
        };
        let e = gain(&windows(180.0), &windows(100.0), 1).unwrap();
        assert!((e.value.0 - 1.8).abs() < 1e-9, "{e:?}");
        assert_eq!(e.method, Method::PairedStudentT);
        assert!(e.high.unwrap().0 - e.low.unwrap().0 < 1e-9, "{e:?}");
        let mut elsewhere = windows(100.0);
        elsewhere.iter_mut().for_each(|window| window.round += 1000);
        let apart = gain(&windows(180.0), &elsewhere, 1).unwrap();
        assert!(apart.low.unwrap().0 < 1.6 && apart.high.unwrap().0 > 2.0);
        assert_eq!(gain(&windows(180.0), &windows(0.0), 1), None);
        assert_eq!(gain(&[], &windows(1.0), 1), None);
    }

    #[test]
    fn equal_windows_leave_no_wild_bounds() {
        // A slow server does six in nearly every window: most resamples have no spread but of rounding.
        let window = |round: u32| Window {
            completed: if round == 3 { 7.0 } else { 6.0 },
            length_ns: 230_000_001,
            round,
        };
        let rate = alone(&(0..20).map(window).collect::<Vec<_>>()).unwrap();
        let (low, high) = (rate.low.unwrap().0, rate.high.unwrap().0);
        assert!(
            low > 0.9 * rate.value.0 && high < 1.1 * rate.value.0,
            "{rate:?}"
        );
    }

    #[test]
    fn sums_over_sums() {
        let w = |completed, length_ns| Window {
            completed,
            length_ns,
            round: 0,
        };
        let three = [w(10.0, 1_000_000_000), w(50.0, 2_000_000_000), w(9.0, 0)];
        let e = alone(&three).unwrap();
        assert!((e.value.0 - 20.0).abs() < 1e-12);
        assert_eq!(
            (e.low.unwrap(), e.method),
            (PerSecond(0.0), Method::StudentT)
        );
        assert_eq!(alone(&[w(1.0, 0)]), None);
        let steady = alone(&[w(5.0, 1_000_000_000); 10]).unwrap();
        assert_eq!(
            (steady.low, steady.high),
            (Some(PerSecond(5.0)), Some(PerSecond(5.0)))
        );
    }
}
