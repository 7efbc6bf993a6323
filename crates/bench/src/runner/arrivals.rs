//! When operations are due in an open loop, and how long users think.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::case::Rate;

/// Arrivals of a Poisson process of the given rate over `length`, counted from its start; at least one.
pub(super) fn poisson(rate: Rate, length: Duration, seed: u64) -> Vec<Duration> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut due = Vec::new();
    let mut offset = 0.0;
    loop {
        // Inverse transform: gaps are exponential with mean 1/rate; 1 - u avoids ln 0.
        offset += -(1.0 - rng.random::<f64>()).ln() / rate.per_second();
        if offset >= length.as_secs_f64() && !due.is_empty() {
            return due;
        }
        due.push(Duration::from_secs_f64(offset.min(1e9)));
    }
}

/// The pauses of one user.
pub(super) struct Thoughts(ChaCha8Rng);

impl Thoughts {
    pub(super) fn new(seed: u64, worker: u32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(worker.into());
        Self(rng)
    }

    /// The next one: uniform between zero and `longest`.
    pub(super) fn next(&mut self, longest: Duration) -> Duration {
        longest.mul_f64(self.0.random::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_think_for_half_the_longest_time_on_average_and_not_in_step() {
        let longest = Duration::from_secs(1);
        let mut users = [0, 1].map(|worker| Thoughts::new(7, worker));
        let [one, other] = &mut users;
        let pauses: Vec<_> = (0..10_000).map(|_| one.next(longest)).collect();
        assert!(pauses.iter().all(|pause| *pause < longest));
        // Standard deviation of the mean: 1/√12/100 s = 2.9 ms.
        let mean = pauses.iter().sum::<Duration>() / 10_000;
        assert!(
            mean.abs_diff(longest / 2) < Duration::from_millis(12),
            "{mean:?}"
        );
        assert_ne!(other.next(longest), pauses[0]);
        assert_eq!(Thoughts::new(7, 0).next(longest), pauses[0]);
    }

    #[test]
    fn arrivals_come_in_order_at_the_rate() {
        let rate = "1000/s".parse().unwrap();
        let due = poisson(rate, Duration::from_secs(10), 1);
        assert!(due.is_sorted());
        // 10 000 expected, standard deviation 100.
        assert!((9_500..10_500).contains(&due.len()), "{}", due.len());
        assert_eq!(due, poisson(rate, Duration::from_secs(10), 1));
    }

    #[test]
    fn a_slow_rate_still_yields_an_arrival() {
        let due = poisson("0.1/s".parse().unwrap(), Duration::from_millis(1), 1);
        assert_eq!(due.len(), 1);
    }
}
