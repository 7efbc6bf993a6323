//! Histograms of durations.

use std::collections::BTreeMap;

use keymark_stats::Seconds;
use serde::{Deserialize, Serialize};

/// Durations as `[nanoseconds, how many]`, rising, each within one in a thousand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Durations(pub Vec<(u64, u64)>);

/// Returns the mean of buckets; none if there are none.
pub(super) fn mean<'b>(buckets: impl Iterator<Item = &'b (u64, u64)>) -> Option<Seconds> {
    let (mut sum, mut count) = (0.0, 0.0);
    for &(nanoseconds, times) in buckets {
        sum += nanoseconds as f64 * times as f64;
        count += times as f64;
    }
    (count > 0.0).then(|| Seconds(sum / count / 1e9))
}

impl Durations {
    /// Returns the mean of all durations; none if there are none.
    pub fn mean(&self) -> Option<Seconds> {
        mean(self.0.iter())
    }

    /// Returns the duration that this share does not exceed, by nearest rank because buckets have no neighbors to
    /// interpolate between.
    pub fn quantile(&self, share: f64) -> Option<Seconds> {
        let rank = (share * self.count() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let reached = |(_, times): &&(u64, u64)| {
            seen += times;
            seen >= rank
        };
        let (nanoseconds, _) = self.0.iter().find(reached)?;
        Some(Seconds(*nanoseconds as f64 / 1e9))
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, times)| times).sum()
    }

    /// Adds those of another part of the load.
    pub fn add(&mut self, other: &Self) {
        let mut all: BTreeMap<u64, u64> = self.0.iter().copied().collect();
        for (nanoseconds, times) in &other.0 {
            *all.entry(*nanoseconds).or_default() += times;
        }
        self.0 = all.into_iter().collect();
    }

    /// Every one of them, rising, in nanoseconds.
    pub fn each(&self) -> impl Iterator<Item = u64> {
        self.0.iter().flat_map(|(nanoseconds, count)| {
            std::iter::repeat_n(*nanoseconds, usize::try_from(*count).unwrap_or(usize::MAX))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations: impl IntoIterator<Item = u64>) -> Durations {
        Durations(durations.into_iter().map(|one| (one, 1)).collect())
    }

    #[test]
    fn durations_of_two_parts_are_those_of_both() {
        let (mut left, right) = (of(1..=500), of(300..=1000));
        left.add(&right);
        assert_eq!(left.count(), 1201);
        assert_eq!(left.0[299], (300, 2));
        assert!(left.0.is_sorted());
        let mut empty = Durations::default();
        empty.add(&right);
        assert_eq!(empty, right);
    }

    #[test]
    fn quantiles_are_ranks() {
        let at = |share| of(1..=1000).quantile(share).map(|at| at.0 * 1e9);
        for (share, rank) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0), (0.0, 1.0)] {
            assert!((at(share).unwrap() - rank).abs() < 1e-6, "{share}");
        }
        assert_eq!(Durations::default().quantile(0.5), None);
    }
}
