//! What an operation takes by itself.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::blocks::Blocks;
use crate::quantity::Seconds;
use crate::resample::{Stream, draw, rng};

/// Times that are all as likely as each other: samples as they are; a constant is one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceTimes {
    /// In seconds.
    times: Vec<f64>,
    /// The measurement that they are, where they are one.
    measured: Blocks,
}

impl ServiceTimes {
    /// Those; none if there are none, or one of them is no time.
    pub fn of(times: impl IntoIterator<Item = Seconds>) -> Option<Self> {
        let times: Vec<f64> = times.into_iter().map(|time| time.0).collect();
        let sound = |time: &f64| time.is_finite() && *time > 0.0;
        (!times.is_empty() && times.iter().all(sound)).then_some(Self {
            times,
            measured: Blocks::default(),
        })
    }

    /// The samples of a measurement, which leaves something open.
    pub fn measured(measured: Blocks) -> Option<Self> {
        let durations = measured.durations().iter();
        let times = Self::of(durations.map(|nanos| Seconds::from_nanos(*nanos as f64)))?;
        Some(Self { measured, ..times })
    }

    /// Their mean.
    pub fn mean(&self) -> Seconds {
        Seconds(self.times.iter().sum::<f64>() / self.times.len() as f64)
    }

    /// The time that so large a share of them does not exceed.
    pub fn level(&self, share: f64) -> Seconds {
        Seconds(super::level(self.times.clone(), share))
    }

    /// Whether all are the same.
    pub fn is_constant(&self) -> bool {
        self.times.iter().all(|time| *time == self.times[0])
    }

    /// Whether another measurement could have given others.
    pub fn is_uncertain(&self) -> bool {
        !self.measured.is_empty() && !self.is_constant()
    }

    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> f64 {
        match self.times.as_slice() {
            [constant] => *constant,
            times => times[rng.random_range(0..times.len())],
        }
    }

    /// Those of another measurement such as this: as many of its blocks, drawn with replacement.
    pub(super) fn resampled(&self, seed: u64) -> Self {
        let ranges = self.measured.unit_ranges();
        let mut picks = vec![0; ranges.len()];
        draw(&mut rng(seed, Stream::Input), &mut picks);
        let times = picks
            .iter()
            .flat_map(|&pick| &self.times[ranges[pick].clone()]);
        Self {
            times: times.copied().collect(),
            measured: Blocks::default(),
        }
    }
}
