//! Service times of operations: samples, or times with weights.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::blocks::Blocks;
use crate::estimate::Seconds;
use crate::resample::{Stream, draw, rng};

/// Expected draws of the times that decide how long operations wait, at least: these may be rare.
const DECIDING: f64 = 30.0;
/// Operations at most where rare times decide.
const MOST_OF_RARE: f64 = 3e6;

/// Times and how likely each is.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceTimes {
    /// Times in seconds.
    times: Vec<f64>,
    /// Cumulative probability of each, the last 1; empty if all are equally likely.
    cumulative: Vec<f64>,
    /// The measurement that they are, where they are one.
    measured: Blocks,
}

impl ServiceTimes {
    /// Equally likely times; none if there are none, or one of them is no time.
    pub fn of(times: impl IntoIterator<Item = Seconds>) -> Option<Self> {
        let times: Vec<f64> = times.into_iter().map(|time| time.0).collect();
        let sound = |time: &f64| time.is_finite() && *time > 0.0;
        (!times.is_empty() && times.iter().all(sound)).then_some(Self {
            times,
            cumulative: Vec::new(),
            measured: Blocks::default(),
        })
    }

    /// Times with their weights, whatever those add up to; none if one of them is no time or no weight, or no weight is above
    /// 0.
    pub fn mixture(parts: impl IntoIterator<Item = (Seconds, f64)>) -> Option<Self> {
        let mut parts: Vec<(Seconds, f64)> = parts.into_iter().collect();
        let sound = |weight: f64| weight.is_finite() && weight >= 0.0;
        if !parts.iter().all(|(_, weight)| sound(*weight)) {
            return None;
        }
        parts.retain(|(_, weight)| *weight > 0.0);
        parts.sort_by(|one, other| one.0.0.total_cmp(&other.0.0));
        let times = Self::of(parts.iter().map(|(time, _)| *time))?;
        let whole: f64 = parts.iter().map(|(_, weight)| weight).sum();
        if !whole.is_finite() {
            return None;
        }
        let up_to = parts.iter().scan(0.0, |sum, (_, weight)| {
            *sum += weight / whole;
            Some(*sum)
        });
        Some(Self {
            cumulative: up_to.collect(),
            ..times
        })
    }

    /// The samples of a measurement, which leaves something open.
    pub fn measured(measured: Blocks) -> Option<Self> {
        let durations = measured.durations().iter();
        let times = Self::of(durations.map(|nanos| Seconds::from_nanos(*nanos as f64)))?;
        Some(Self { measured, ..times })
    }

    /// Adds a delay to each time: always the same one, or random ones in turn. Weighted times get the first one.
    pub fn plus(&self, delays: &[Seconds]) -> Self {
        let count = match delays {
            [] => return self.clone(),
            several if self.cumulative.is_empty() => self.times.len().max(several.len()),
            _ => self.times.len(),
        };
        let times = self.times.iter().cycle().zip(delays.iter().cycle());
        Self {
            times: times
                .map(|(time, delay)| time + delay.0)
                .take(count)
                .collect(),
            ..self.clone()
        }
    }

    /// Their mean.
    pub fn mean(&self) -> Seconds {
        Seconds(self.mean_of(|time| time))
    }

    fn mean_of(&self, of: impl Fn(f64) -> f64) -> f64 {
        if self.cumulative.is_empty() {
            let sum: f64 = self.times.iter().map(|time| of(*time)).sum();
            return sum / self.times.len() as f64;
        }
        let before = std::iter::once(&0.0).chain(&self.cumulative);
        let shares = self
            .cumulative
            .iter()
            .zip(before)
            .map(|(to, from)| to - from);
        shares
            .zip(&self.times)
            .map(|(share, time)| share * of(*time))
            .sum()
    }

    /// Operations of which the mean square of the times, which decides how long operations wait (Pollaczek 1930), is known as
    /// well as if [`DECIDING`] of them had all of it; at most as many as there is time for.
    pub(super) fn needed(&self) -> f64 {
        let square = self.mean_of(|time| time.powi(2));
        let needed = DECIDING * self.mean_of(|time| time.powi(4)) / square.powi(2);
        needed.min(MOST_OF_RARE)
    }

    /// Returns whether the times that decide how long operations wait are too rare for a simulation.
    pub fn are_too_rare(&self) -> bool {
        self.needed() >= MOST_OF_RARE
    }

    /// The time that so large a share of them does not exceed.
    pub fn level(&self, share: f64) -> Seconds {
        if self.cumulative.is_empty() {
            return Seconds(level(self.times.clone(), share));
        }
        Seconds(self.times[self.at(share)])
    }

    /// Returns the first time of a mixture at which that share is reached. Sums end below 1 by rounding.
    fn at(&self, share: f64) -> usize {
        let at = self.cumulative.partition_point(|up_to| *up_to < share);
        at.min(self.times.len() - 1)
    }

    /// Returns whether all are the same.
    pub fn is_constant(&self) -> bool {
        self.times.iter().all(|time| *time == self.times[0])
    }

    /// Returns whether another measurement could have given others.
    pub fn is_uncertain(&self) -> bool {
        !self.measured.is_empty() && !self.is_constant()
    }

    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> f64 {
        match self.times.as_slice() {
            [constant] => *constant,
            times if self.cumulative.is_empty() => times[rng.random_range(0..times.len())],
            // 1 − u is never zero.
            times => times[self.at(1.0 - rng.random::<f64>())],
        }
    }

    /// Returns the times of another such measurement: as many of its blocks, drawn with replacement.
    pub(super) fn resampled(&self, seed: u64) -> Self {
        let ranges = self.measured.unit_ranges();
        let mut picks = vec![0; ranges.len()];
        draw(&mut rng(seed, Stream::Input), &mut picks);
        let times = picks
            .iter()
            .flat_map(|&pick| &self.times[ranges[pick].clone()]);
        Self {
            times: times.copied().collect(),
            cumulative: Vec::new(),
            measured: Blocks::default(),
        }
    }
}

/// Returns a quantile, nearest rank.
pub(super) fn level(mut times: Vec<f64>, share: f64) -> f64 {
    let rank = (times.len() as f64 * share).ceil() as usize;
    let rank = rank.clamp(1, times.len()) - 1;
    *times.select_nth_unstable_by(rank, f64::total_cmp).1
}
