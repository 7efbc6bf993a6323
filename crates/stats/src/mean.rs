//! Mean duration with an interval that respects correlation inside blocks.
//!
//! Point: ratio of sums (all time over all samples). Interval: bootstrap-t
//! over blocks or batches (Efron & Tibshirani 1993, ch. 12; Davison & Hinkley
//! 1997, §2.4 and §3.8); Student's t when there are too few to resample.
//! Widened for what neighboring blocks have in common, by these blocks and by the run's
//! other cases. One or two blocks do not show by how much blocks differ.

use crate::blocks::{Blocks, MIN_BLOCKS};
use crate::dependence::{RunDependence, Weights};
use crate::estimate::{Estimate, NS, Seconds};
use crate::resample::{
    Cluster, Stream, dependence_of, ratio_of_sums, ratio_of_sums_estimate, rng, t_half_width,
};

/// Fewer samples than this get Student's t.
const MIN_SAMPLES: usize = 8;

/// Mean duration; `None` without samples, no bounds for a single sample.
///
/// Bounds below zero are raised to zero: a duration is not negative.
pub fn mean(blocks: &Blocks, run: &RunDependence, seed: u64) -> Option<Estimate<Seconds>> {
    computed(blocks, run, seed).map(Estimate::widened)
}

pub(crate) fn computed(blocks: &Blocks, run: &RunDependence, seed: u64) -> Option<Estimate<f64>> {
    if blocks.is_empty() {
        return None;
    }
    let offset_ns = blocks.offset_ns();
    let units = blocks.clusters(offset_ns);
    let seconds = |shifted: f64| (offset_ns + shifted).max(0.0) / NS;
    let enough = || blocks.len() >= MIN_SAMPLES;
    let rng = rng(seed, Stream::Mean);
    let prior = run.at(blocks.distance());
    let shifted = ratio_of_sums_estimate(&units, enough, &prior, rng)?;
    Some(shifted.map(seconds))
}

/// Running mean for a stop rule: takes block after block.
#[derive(Debug, Clone, Default)]
pub struct RunningMean {
    offset: f64,
    blocks: Vec<Cluster>,
}

impl RunningMean {
    /// Adds a block of durations (ns); an empty one is ignored.
    pub fn push_block(&mut self, durations: &[u64]) {
        if durations.is_empty() {
            return;
        }
        let size = durations.len() as f64;
        if self.blocks.is_empty() {
            let first: f64 = durations.iter().map(|&ns| ns as f64).sum();
            self.offset = (first / size).round();
        }
        let total = durations.iter().map(|&ns| ns as f64 - self.offset).sum();
        self.blocks.push(Cluster { total, size });
    }

    /// Returns whether the half-width of Student's t interval over blocks, widened for their dependence, is at most
    /// this share of the mean.
    ///
    /// Never below [`MIN_BLOCKS`] blocks: a stop rule that believes fewer stops on the variation inside one
    /// moment.
    pub fn is_within(&self, share: f64) -> bool {
        let k = self.blocks.len();
        if k < MIN_BLOCKS {
            return false;
        }
        let point = ratio_of_sums(self.blocks.iter().copied());
        let mean = self.offset + point.value;
        let half = t_half_width(point.error, k);
        let reach = share * mean;
        let widening = || dependence_of(&self.blocks, &Weights::unknown()).widening;
        // What is too wide already need not be widened.
        mean > 0.0 && half <= reach && half * widening() <= reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Method;

    #[test]
    fn by_hand_student_t() {
        // Mean 4, s = √8, n = 2: half-width 12.706 × √8/√2. Two units show no dependence.
        let blocks = Blocks::from_blocks([(0, vec![2, 6])]);
        let e = mean(&blocks, &RunDependence::default(), 1).unwrap();
        assert_eq!(e.method, Method::StudentT);
        assert!((e.value.0 - 4e-9).abs() < 1e-18);
        assert!((e.high.unwrap().0 - (4.0 + 12.706_2 * 2.0) * 1e-9).abs() < 1e-13);
        assert_eq!(e.low.unwrap(), Seconds(0.0));
    }

    #[test]
    fn running_mean_agrees() {
        let blocks = Blocks::from_blocks(
            (0..11).map(|i| (i, (0..=u64::from(i % 5)).map(|j| 1000 + 37 * j).collect())),
        );
        let mut running = RunningMean::default();
        for (i, (_, durations)) in blocks.iter().enumerate() {
            assert_eq!(running.is_within(1.0), i >= MIN_BLOCKS);
            running.push_block(durations);
        }
        let mean = mean(&blocks, &RunDependence::default(), 0).unwrap();
        assert_eq!(mean.method, Method::StudentT);
        let width = mean.relative_half_width().unwrap();
        assert!(
            running.is_within(width * (1.0 + 1e-9)) && !running.is_within(width * (1.0 - 1e-9))
        );
    }
}
