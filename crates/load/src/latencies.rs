//! Durations of one phase, as a histogram that is small when it is kept.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Significant decimal digits of what is kept.
pub const DIGITS: u8 = 3;

/// Durations by their number, each within one in a thousand. Counted in nanoseconds: an operation of some microseconds
/// keeps its three digits, and an hour fits as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latencies {
    /// Buckets in rising order: the longest duration of each, in nanoseconds, and how many there were.
    buckets: Vec<(u64, u64)>,
}

impl Latencies {
    /// What a histogram has counted.
    pub(crate) fn of(histogram: &Histogram<u32>) -> Self {
        let recorded = histogram.iter_recorded();
        let bucket = |step: hdrhistogram::iterators::IterationValue<u32>| {
            (step.value_iterated_to(), u64::from(step.count_at_value()))
        };
        Self {
            buckets: recorded.map(bucket).collect(),
        }
    }

    /// The buckets in rising order: the longest duration of each, and how many there were.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        let buckets = self.buckets.iter();
        buckets.map(|(nanoseconds, count)| (Duration::from_nanos(*nanoseconds), *count))
    }

    /// How many durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    /// Adds what another has.
    pub fn add(&mut self, other: &Self) {
        let mut all = Vec::with_capacity(self.buckets.len() + other.buckets.len());
        let (mut mine, mut its) = (self.buckets.as_slice(), other.buckets.as_slice());
        while let (Some((first, left)), Some((second, right))) =
            (mine.split_first(), its.split_first())
        {
            match first.0.cmp(&second.0) {
                std::cmp::Ordering::Less => {
                    all.push(*first);
                    mine = left;
                }
                std::cmp::Ordering::Greater => {
                    all.push(*second);
                    its = right;
                }
                std::cmp::Ordering::Equal => {
                    all.push((first.0, first.1 + second.1));
                    (mine, its) = (left, right);
                }
            }
        }
        all.extend_from_slice(mine);
        all.extend_from_slice(its);
        self.buckets = all;
    }

    /// The duration that a share of all (0 to 1) does not exceed; `None` of nothing.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "counts are far below 2⁵³"
    )]
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let count = self.count();
        let rank = ((count as f64 * share).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0;
        let found = self.buckets().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map(|(duration, _)| duration)
    }
}

/// An empty histogram that takes any duration in nanoseconds.
#[allow(clippy::expect_used, reason = "three digits are among those allowed")]
pub(crate) fn histogram() -> Histogram<u32> {
    Histogram::new(DIGITS).expect("between 0 and 5 digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations: impl IntoIterator<Item = u64>) -> Latencies {
        let mut histogram = histogram();
        for nanoseconds in durations {
            histogram.record(nanoseconds).unwrap();
        }
        Latencies::of(&histogram)
    }

    #[test]
    fn three_digits_are_kept_from_a_microsecond_to_an_hour() {
        for nanoseconds in [1, 999, 1_234, 155_321, 4_321_987_654, 3_600_000_000_000] {
            let kept = of([nanoseconds]).quantile(0.5).unwrap().as_nanos() as u64;
            assert!(kept >= nanoseconds && kept - nanoseconds <= nanoseconds / 1000);
        }
    }

    #[test]
    fn sums_are_what_one_histogram_would_have_had() {
        let (mut left, right) = (of(1..=500), of(300..=1000));
        left.add(&right);
        assert_eq!(left, of((1..=500).chain(300..=1000)));
        assert_eq!(left.count(), 1201);
        let mut empty = Latencies::default();
        empty.add(&right);
        assert_eq!(empty, right);
    }

    #[test]
    fn quantiles_are_ranks() {
        let all = of(1..=1000);
        assert_eq!(all.quantile(0.5), Some(Duration::from_nanos(500)));
        assert_eq!(all.quantile(0.99), Some(Duration::from_nanos(990)));
        assert_eq!(all.quantile(1.0), Some(Duration::from_nanos(1000)));
        assert_eq!(all.quantile(0.0), Some(Duration::from_nanos(1)));
        assert_eq!(Latencies::default().quantile(0.5), None);
    }
}
