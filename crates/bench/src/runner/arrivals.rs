//! When operations are due in an open loop.

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

#[cfg(test)]
mod tests {
    use super::*;

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
