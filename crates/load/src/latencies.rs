//! Durations as they are kept: in nanoseconds, and in histograms while a load goes on.

use hdrhistogram::Histogram;
use hdrhistogram::iterators::IterationValue;
use keymark_bench::Durations;

/// Significant decimal digits of what is kept.
const DIGITS: u8 = 3;

/// Durations in a histogram: the longest of each bucket represents all in it.
pub(crate) fn durations(histogram: &Histogram<u32>) -> Durations {
    let bucket =
        |step: IterationValue<u32>| (step.value_iterated_to(), u64::from(step.count_at_value()));
    Durations(histogram.iter_recorded().map(bucket).collect())
}

/// An empty histogram that takes any duration in nanoseconds.
#[allow(clippy::expect_used, reason = "three digits are among those allowed")]
pub(crate) fn histogram() -> Histogram<u32> {
    Histogram::new(DIGITS).expect("between 0 and 5 digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept_from_a_microsecond_to_an_hour() {
        for nanoseconds in [1, 999, 1_234, 155_321, 4_321_987_654, 3_600_000_000_000] {
            let mut histogram = histogram();
            histogram.record(nanoseconds).unwrap();
            let [(kept, 1)] = durations(&histogram).0[..] else {
                panic!("one was recorded");
            };
            assert!(kept >= nanoseconds && kept - nanoseconds <= nanoseconds / 1000);
        }
    }
}
