//! Service time of a card's command.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

/// Longer than any device takes.
const LONGEST: Duration = Duration::from_secs(600);

/// A constant, or a distribution given by its quantiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SecondsEntry", into = "SecondsEntry")]
pub enum ServiceTime {
    /// Always the same.
    Constant(Duration),
    /// Ascending quantiles at equally spaced levels, the first the minimum, the last the maximum;
    /// between two the distribution is uniform.
    Quantiles(Vec<Duration>),
}

/// Seconds in a file: a number, or a list of quantiles.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum SecondsEntry {
    Constant(f64),
    Quantiles(Vec<f64>),
}

impl TryFrom<SecondsEntry> for ServiceTime {
    type Error = Unusable;

    fn try_from(seconds: SecondsEntry) -> Result<Self, Unusable> {
        match seconds {
            SecondsEntry::Constant(seconds) => Self::constant(seconds),
            SecondsEntry::Quantiles(seconds) => Self::quantiles(&seconds),
        }
    }
}

impl From<ServiceTime> for SecondsEntry {
    fn from(time: ServiceTime) -> Self {
        match time {
            ServiceTime::Constant(time) => Self::Constant(time.as_secs_f64()),
            ServiceTime::Quantiles(quantiles) => {
                Self::Quantiles(quantiles.iter().map(Duration::as_secs_f64).collect())
            }
        }
    }
}

/// A service time that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Zero, negative, infinite or ten minutes and more.
    #[error("a time must be between 0 and 600 s, not {0} s")]
    OutOfRange(String),
    /// Fewer than two quantiles, or not ascending.
    #[error("quantiles must be at least two numbers in ascending order")]
    NotAscending,
}

impl ServiceTime {
    /// Always the same.
    pub fn constant(seconds: f64) -> Result<Self, Unusable> {
        duration(seconds).map(Self::Constant)
    }

    /// Quantiles at equally spaced levels from 0 to 1.
    pub fn quantiles(seconds: &[f64]) -> Result<Self, Unusable> {
        let quantiles: Vec<_> = seconds
            .iter()
            .map(|seconds| duration(*seconds))
            .collect::<Result<_, _>>()?;
        if quantiles.len() < 2 || !quantiles.is_sorted() {
            return Err(Unusable::NotAscending);
        }
        Ok(Self::Quantiles(quantiles))
    }

    /// Mean: of a piecewise uniform distribution, by the trapezoidal rule over its quantiles.
    pub fn mean(&self) -> Duration {
        match self {
            Self::Constant(time) => *time,
            Self::Quantiles(quantiles) => {
                let pairs = quantiles.windows(2).map(|pair| (pair[0] + pair[1]) / 2);
                pairs.sum::<Duration>() / u32::try_from(quantiles.len() - 1).unwrap_or(u32::MAX)
            }
        }
    }
}

fn duration(seconds: f64) -> Result<Duration, Unusable> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero() && *time < LONGEST)
        .ok_or_else(|| Unusable::OutOfRange(seconds.to_string()))
}

/// Draws service times, the same for the same seed.
#[derive(Debug)]
pub struct Sampler(ChaCha12Rng);

impl Sampler {
    /// Draws with that seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    /// Draws a value that depends only on the seed and the number.
    pub fn nth(seed: u64, number: u64) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        random.set_stream(number);
        Self(random)
    }

    /// The next one, by inversion (Devroye 1986, Non-Uniform Random Variate Generation, §II.2).
    pub fn draw(&mut self, time: &ServiceTime) -> Duration {
        match time {
            ServiceTime::Constant(time) => *time,
            ServiceTime::Quantiles(quantiles) => {
                let level = self.0.random::<f64>() * (quantiles.len() - 1) as f64;
                let at = level as usize;
                let (low, high) = (quantiles[at], quantiles[at + 1]);
                low + (high - low).mul_f64(level.fract())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_lie_within_the_quantiles_and_average_to_the_mean() {
        let time = ServiceTime::quantiles(&[0.1, 0.2, 0.9]).unwrap();
        assert_eq!(time.mean(), Duration::from_millis(350));
        let mut sampler = Sampler::new(1);
        let drawn: Vec<_> = (0..20_000).map(|_| sampler.draw(&time)).collect();
        let mean = drawn.iter().sum::<Duration>() / 20_000;
        assert!(
            mean.abs_diff(time.mean()) < Duration::from_millis(5),
            "{mean:?}"
        );
        let below = drawn
            .iter()
            .filter(|t| **t < Duration::from_millis(200))
            .count();
        assert!((9_700..10_300).contains(&below), "{below}");
        let mut again = Sampler::new(1);
        assert_eq!(again.draw(&time), drawn[0]);
        let numbered = (0..20_000).map(|number| Sampler::nth(1, number).draw(&time));
        let mean = numbered.sum::<Duration>() / 20_000;
        assert!(
            mean.abs_diff(time.mean()) < Duration::from_millis(5),
            "{mean:?}"
        );
    }

    #[test]
    fn times_that_make_no_sense_are_refused() {
        for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, 601.0] {
            assert!(ServiceTime::constant(seconds).is_err(), "{seconds}");
        }
        assert_eq!(
            ServiceTime::quantiles(&[0.2, 0.1]),
            Err(Unusable::NotAscending)
        );
        assert_eq!(ServiceTime::quantiles(&[0.2]), Err(Unusable::NotAscending));
    }
}
