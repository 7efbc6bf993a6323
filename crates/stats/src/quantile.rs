//! Quantiles with intervals for clustered samples.
//!
//! Point: Hyndman & Fan, "Sample Quantiles in Statistical Packages", 1996,
//! definition 7. Interval: Woodruff, "Confidence Intervals for Medians and
//! Other Position Measures", 1952: the interval of the proportion below the
//! point, from the linearised variance between blocks, read back through the
//! order statistics; never narrower than the exact binomial one (Hahn &
//! Meeker, "Statistical Intervals", 1991, §5.2), widened like that of the mean for what
//! neighboring blocks have in common.

use crate::blocks::Blocks;
use crate::dependence::RunDependence;
use crate::estimate::{Estimate, Method, NS, Seconds, TAIL};
use crate::resample::{Cluster, dependence_of, ratio_of_sums, t_half_width};
use crate::special::binomial_ranks;

/// The share of the samples below the median.
pub(crate) const MEDIAN: f64 = 0.5;

/// Number of blocks that hardly ever lie on one side of their median: with a lag-1 correlation of 0.6, a neighbor's
/// side is one's own in 0.705 of all cases (Sheppard 1899), that of eight neighbors in 0.06.
const WITHIN: usize = 9;

/// Durations (ns) in ascending order: one sort serves every order statistic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorted(Vec<u64>);

impl Sorted {
    /// Sorts a copy of all durations.
    pub fn of(blocks: &Blocks) -> Self {
        Self::from_vec(blocks.durations().to_vec())
    }

    /// Sorts durations (ns).
    pub fn from_vec(mut durations: Vec<u64>) -> Self {
        durations.sort_unstable();
        Self(durations)
    }

    /// Durations (ns), ascending.
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// The quantile at share `p` (0 to 1), in ns; `None` without samples.
    pub fn quantile_ns(&self, p: f64) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        let h = last as f64 * p.clamp(0.0, 1.0);
        let i = (h as usize).min(last);
        let (below, above) = (self.0[i] as f64, self.0[(i + 1).min(last)] as f64);
        // Clamped: rounding must not leave the two neighbors.
        Some((below + (h - i as f64) * (above - below)).clamp(below, above))
    }
}

/// The quantile at share `p` (clamped to 0..=1); `None` without samples.
///
/// `sorted` must hold the same samples as `blocks`. A side that so few samples
/// cannot bound is `None`: the 99th percentile needs 368 of them for an upper bound.
pub fn quantile(
    blocks: &Blocks,
    sorted: &Sorted,
    p: f64,
    run: &RunDependence,
) -> Option<Estimate<Seconds>> {
    computed(blocks, sorted, p, run).map(Estimate::widened)
}

/// The median of figures, which are reordered; `None` of nothing.
pub fn median(values: &mut [f64]) -> Option<f64> {
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    if values.is_empty() {
        return None;
    }
    let (below, &mut at, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    Some(if even {
        f64::midpoint(at, below.iter().copied().fold(f64::MIN, f64::max))
    } else {
        at
    })
}

/// The quantile of values in ascending order, of which there is one at least, and always one of them: the lower neighbor of
/// definition 7.
pub(crate) fn lower_neighbour(sorted: &[f64], p: f64) -> f64 {
    sorted[(p * (sorted.len() - 1) as f64) as usize]
}

pub(crate) fn computed(
    blocks: &Blocks,
    sorted: &Sorted,
    p: f64,
    run: &RunDependence,
) -> Option<Estimate<f64>> {
    let n = sorted.0.len();
    let value = sorted.quantile_ns(p)?;
    if n < 2 || !(p > 0.0 && p < 1.0) {
        return Some(Estimate::bare(value / NS));
    }
    let (mut low, mut high) = binomial_ranks(n, p, TAIL);
    let below = clusters_below(blocks, value);
    let half = (below.len() >= 2).then(|| {
        let error = ratio_of_sums(below.iter().copied()).error;
        let dependence = dependence_of(&below, &run.at(blocks.distance()));
        t_half_width(error, below.len()) * dependence.widening
    });
    if let Some(half) = half {
        let mut rank_low = (n as f64 * (p - half)) as usize;
        let mut rank_high = ((n as f64 * (p + half)).ceil() as usize).saturating_add(1);
        if (p - MEDIAN).abs() < f64::EPSILON && below.len() >= WITHIN {
            (rank_low, rank_high) = (rank_low.max(1), rank_high.min(n));
        }
        low = low.map(|rank| rank.min(rank_low)).filter(|&rank| rank >= 1);
        high = high
            .map(|rank| rank.max(rank_high))
            .filter(|&rank| rank <= n);
    }
    let at = |rank: usize| sorted.0[rank - 1] as f64 / NS;
    let method = if half.is_some() {
        Method::Woodruff
    } else {
        Method::OrderStatistics
    };
    let bounds = (low.map(at), high.map(at));
    Some(Estimate::bounded(value / NS, bounds, method))
}

/// Shares of samples below `value` (ns), with batches as clusters.
fn clusters_below(blocks: &Blocks, value: f64) -> Vec<Cluster> {
    let durations = blocks.durations();
    let cluster = |range: std::ops::Range<usize>| {
        let size = range.len() as f64;
        // Ties count half: with a coarse clock much lies exactly on the quantile.
        let twice: u64 = durations[range]
            .iter()
            .map(|&ns| u64::from((ns as f64) < value) + u64::from((ns as f64) <= value))
            .sum();
        Cluster {
            total: twice as f64 / 2.0,
            size,
        }
    };
    blocks.unit_ranges().into_iter().map(cluster).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn singles(values: impl IntoIterator<Item = u64>) -> Blocks {
        Blocks::from_blocks([(0, values.into_iter().collect::<Vec<_>>())])
    }

    fn at(blocks: &Blocks, p: f64) -> Estimate<Seconds> {
        quantile(blocks, &Sorted::of(blocks), p, &RunDependence::default()).unwrap()
    }

    fn ns(s: Seconds) -> f64 {
        (s.0 * NS).round()
    }

    #[test]
    fn type_7_by_hand() {
        let s = Sorted::from_vec(vec![40, 10, 30, 20]);
        // h = 3p: numpy and R give 25, 17.5 and 39.7.
        for (p, want) in [
            (0.0, 10.0),
            (0.25, 17.5),
            (0.5, 25.0),
            (0.99, 39.7),
            (1.0, 40.0),
        ] {
            assert!((s.quantile_ns(p).unwrap() - want).abs() < 1e-12);
        }
        assert_eq!(Sorted::from_vec(vec![]).quantile_ns(0.5), None);
    }

    #[test]
    fn medians_lie_in_the_middle() {
        for (values, want) in [
            (vec![], None),
            (vec![3.0], Some(3.0)),
            (vec![4.0, 1.0], Some(2.5)),
            (vec![9.0, 1.0, 4.0], Some(4.0)),
            (vec![8.0, 1.0, 2.0, 6.0], Some(4.0)),
        ] {
            assert_eq!(median(&mut values.clone()), want, "{values:?}");
        }
    }

    #[test]
    fn p99_of_thirty_has_no_upper_bound() {
        let blocks = singles(1..=30);
        let e = at(&blocks, 0.99);
        assert_eq!(e.high, None);
        assert!(e.low.is_some());
    }

    #[test]
    fn never_narrower_than_binomial() {
        let blocks = singles((0..100).map(|i| (i * 37) % 100 + 1));
        let e = at(&blocks, 0.5);
        assert!(ns(e.low.unwrap()) <= 40.0 && ns(e.high.unwrap()) >= 61.0);
    }

    #[test]
    fn wide_if_blocks_differ() {
        // Twelve blocks of 100 samples, each constant: worth twelve samples, not a thousand.
        let times = [4, 9, 1, 12, 6, 10, 3, 11, 7, 2, 8, 5];
        let blocks = Blocks::from_blocks((0..).zip(times.map(|time| vec![time; 100])));
        let e = at(&blocks, 0.5);
        assert!(ns(e.low.unwrap()) <= 3.0 && ns(e.high.unwrap()) >= 10.0);
        assert_eq!(e.method, Method::Woodruff);
    }
}
