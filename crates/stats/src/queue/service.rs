//! What an operation takes by itself.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::blocks::Blocks;
use crate::quantity::Seconds;
use crate::resample::{Stream, draw, rng};

/// Times that are all as likely as each other: samples as they are; a constant is one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceTimes(Vec<f64>);

impl ServiceTimes {
    /// Those; none if there are none, or one of them is no time.
    pub fn of(times: impl IntoIterator<Item = Seconds>) -> Option<Self> {
        let times: Vec<f64> = times.into_iter().map(|time| time.0).collect();
        let sound = |time: &f64| time.is_finite() && *time > 0.0;
        (!times.is_empty() && times.iter().all(sound)).then_some(Self(times))
    }

    /// The samples of a measurement.
    pub fn measured(blocks: &Blocks) -> Option<Self> {
        let durations = blocks.durations().iter();
        Self::of(durations.map(|nanos| Seconds::from_nanos(*nanos as f64)))
    }

    /// Their mean.
    pub fn mean(&self) -> Seconds {
        Seconds(self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    /// The longest.
    pub fn longest(&self) -> Seconds {
        Seconds(self.0.iter().copied().fold(0.0, f64::max))
    }

    /// The time that so large a share of them does not exceed.
    pub fn level(&self, share: f64) -> Seconds {
        let mut times = self.0.clone();
        times.sort_by(f64::total_cmp);
        let rank = (times.len() as f64 * share).ceil() as usize;
        Seconds(times[rank.clamp(1, times.len()) - 1])
    }

    /// Whether all are the same.
    pub fn is_constant(&self) -> bool {
        self.0.iter().all(|time| *time == self.0[0])
    }

    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> f64 {
        match self.0.as_slice() {
            [constant] => *constant,
            times => times[rng.random_range(0..times.len())],
        }
    }
}

/// The times of another measurement such as this: as many of its blocks, drawn with replacement.
pub(super) fn resampled(measured: &Blocks, seed: u64, number: u64) -> ServiceTimes {
    let ranges = measured.unit_ranges();
    let mut picks = vec![0; ranges.len()];
    draw(&mut rng(seed ^ (number << 32), Stream::Input), &mut picks);
    let durations = picks
        .iter()
        .flat_map(|&pick| &measured.durations()[ranges[pick].clone()]);
    ServiceTimes(
        durations
            .map(|nanos| Seconds::from_nanos(*nanos as f64).0)
            .collect(),
    )
}
