//! Throughput as it was observed: completed operations over elapsed time,
//! never threads over mean latency.
//!
//! Ratio of sums over windows with a bootstrap-t interval (Efron & Tibshirani
//! 1993, ch. 12); Student's t with fewer than twenty windows; widened for the
//! dependence of neighbours.

use serde::{Deserialize, Serialize};

use crate::estimate::{Computed, Estimate, Method};
use crate::num::Float;
use crate::quantity::{NS, PerSecond};
use crate::resample::{
    Cluster, MIN_UNITS, Stream, bootstrap_t, dependence_of, ratio_of_sums, rng, t_half_width,
};

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

/// Windows as clusters (completions, seconds); those without length are dropped.
pub(crate) fn clusters(windows: &[Window]) -> Vec<Cluster> {
    let timed = windows.iter().filter(|w| w.length_ns > 0);
    timed
        .map(|w| Cluster {
            total: w.completed,
            size: w.length_ns.float() / NS,
        })
        .collect()
}

/// Observed operations a second; `None` without a window, no bounds for one.
#[must_use]
pub fn throughput(windows: &[Window], seed: u64) -> Option<Estimate<PerSecond>> {
    computed(windows, seed).map(Computed::widened)
}

pub(crate) fn computed(windows: &[Window], seed: u64) -> Option<Computed> {
    let clusters = clusters(windows);
    let k = clusters.len();
    if k == 0 {
        return None;
    }
    let point = ratio_of_sums(clusters.iter().copied());
    if k < 2 {
        return Some(Computed::point(point.value));
    }
    let resampled = if k < MIN_UNITS {
        None
    } else {
        bootstrap_t(&clusters, rng(seed, Stream::Throughput))
    };
    let half = t_half_width(point.error, k);
    let (low, high, method) = match resampled {
        Some((low, high)) => (low, high, Method::BootstrapT),
        None => (point.value - half, point.value + half, Method::StudentT),
    };
    let (low, high) = dependence_of(&clusters).widen(point.value, (low, high));
    let bounds = (low.max(0.0), high.max(0.0));
    Some(Computed::new(point.value, bounds, method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_sums() {
        let w = |completed, length_ns| Window {
            completed,
            length_ns,
            round: 0,
        };
        let e = throughput(
            &[w(10.0, 1_000_000_000), w(50.0, 2_000_000_000), w(9.0, 0)],
            1,
        )
        .unwrap();
        assert!((e.value.0 - 20.0).abs() < 1e-12);
        assert_eq!(
            (e.low.unwrap(), e.method),
            (PerSecond(0.0), Method::StudentT)
        );
        assert_eq!(throughput(&[w(1.0, 0)], 1), None);
        let steady = throughput(&[w(5.0, 1_000_000_000); 10], 1).unwrap();
        assert_eq!(
            (steady.low, steady.high),
            (Some(PerSecond(5.0)), Some(PerSecond(5.0)))
        );
    }
}
