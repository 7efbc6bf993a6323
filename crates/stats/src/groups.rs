//! Several groups of durations: a valley between two peaks of a histogram.
//!
//! Histogram of log durations with bins as wide as Freedman & Diaconis advise ("On the Histogram as a Density Estimator:
//! L2 Theory", 1981). Square roots of counts have a standard deviation of 1/2 whatever the count (Tukey, "Some Graphic and
//! Semigraphic Displays", 1972, rootogram), so a valley counts where the roots differ by four standard deviations of
//! their difference, and where it is at most half as high as the lower peak. Samples of one block depend on each other:
//! counts are divided by their design effect (Kish, "Survey Sampling", 1965, §5.4), which the F ratio of an analysis of
//! variance bounds.

use crate::blocks::Blocks;
use crate::estimate::{Ratio, Seconds};
use crate::quantile::Sorted;

/// Least difference between the square roots of peak and valley: four times √½.
const CERTAIN: f64 = 4.0 * std::f64::consts::FRAC_1_SQRT_2;
/// Highest valley relative to the lower peak.
const DEEP: f64 = 0.5;
/// Least width of a bin in ns: several ticks of a coarse clock.
const TICKS_NS: f64 = 200.0;
/// Most bins of a histogram.
const BINS: f64 = 1000.0;

/// Durations on both sides of a valley.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Groups {
    /// The deepest valley.
    pub parted_at: Seconds,
    /// Share of the samples above it.
    pub slower: Ratio,
}

/// Returns the deepest valley of the durations if it is more than chance.
pub(crate) fn groups(blocks: &Blocks) -> Option<Groups> {
    let effect = design_effect(blocks)?;
    let sorted = Sorted::of(blocks);
    let all = sorted.as_slice();
    let n = all.len();
    // One per cent on each side: outliers would widen the range.
    let held = &all[n / 100..n - n / 100];
    let log = |ns: u64| (ns.max(1) as f64).ln();
    let (low, high) = (log(*held.first()?), log(*held.last()?));
    let quartile = |share| Some(sorted.quantile_ns(share)?.max(1.0).ln());
    let spread = quartile(0.75)? - quartile(0.25)?;
    let width = (2.0 * spread * (n as f64 / effect).cbrt().recip())
        .max((high - low) / BINS)
        .max(TICKS_NS / sorted.quantile_ns(0.5)?.max(1.0));
    let mut counts = vec![0.0; ((high - low) / width) as usize + 1];
    for &ns in held {
        counts[((log(ns) - low) / width) as usize] += 1.0 / effect;
    }
    let place = valley(&counts)?;
    let parted_at = (low + (place as f64 + 0.5) * width).exp();
    let faster = all.partition_point(|&ns| (ns as f64) < parted_at);
    Some(Groups {
        parted_at: Seconds::from_nanos(parted_at),
        slower: Ratio((n - faster) as f64 / n as f64),
    })
}

/// Place of the bin that is lowest next to the lower of the highest bins on both sides, if that is certain.
fn valley(counts: &[f64]) -> Option<usize> {
    let depths = (0..counts.len()).filter_map(|place| {
        let highest = |side: &[f64]| side.iter().copied().fold(0.0, f64::max);
        let lower = highest(&counts[..place]).min(highest(&counts[place..]));
        let depth = lower.sqrt() - counts[place].sqrt();
        (depth > CERTAIN && counts[place] <= DEEP * lower).then_some((place, depth))
    });
    let deepest = depths.max_by(|a, b| a.1.total_cmp(&b.1));
    deepest.map(|(place, _)| place)
}

/// Number of samples that say as much as an independent one; `None` for a single block of several.
fn design_effect(blocks: &Blocks) -> Option<f64> {
    let (n, count) = (blocks.len() as f64, blocks.block_count() as f64);
    if n <= count {
        return (n > 0.0).then_some(1.0);
    }
    if count < 2.0 {
        return None;
    }
    let log = |ns: &u64| (*ns as f64).max(1.0).ln();
    let mean = |of: &[u64]| of.iter().map(log).sum::<f64>() / of.len() as f64;
    let all = mean(blocks.durations());
    let (mut between, mut within) = (0.0, 0.0);
    for (_, block) in blocks.iter() {
        let own = mean(block);
        between += block.len() as f64 * (own - all).powi(2);
        within += block.iter().map(|ns| (log(ns) - own).powi(2)).sum::<f64>();
    }
    let ratio = (between / (count - 1.0)) / (within / (n - count));
    // Constant blocks give infinity or no number: each block counts as one sample.
    Some(ratio.min(n / count).max(1.0))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::resample::normal;

    /// Blocks of ten samples, whose levels deviate by that share.
    fn found(
        n: usize,
        seed: u64,
        level: f64,
        draw: &dyn Fn(&mut ChaCha8Rng) -> f64,
    ) -> Option<Groups> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let blocks = (0..).take(n / 10).map(|round| {
            let level = (level * normal(&mut rng)).exp();
            let block = (0..10).map(|_| (level * draw(&mut rng)) as u64).collect();
            (round, block)
        });
        groups(&Blocks::from_blocks(blocks.collect::<Vec<_>>()))
    }

    #[test]
    fn one_group_raises_fewer_than_one_false_alarm_in_a_hundred() {
        type Draw = dyn Fn(&mut ChaCha8Rng) -> f64;
        let one_group: [(&str, f64, &Draw); 6] = [
            ("normal", 0.0, &|rng| 1e5 * (0.1 * normal(rng)).exp()),
            ("uniform", 0.0, &|rng| 1e5 + 1e5 * rng.random::<f64>()),
            ("exponential", 0.0, &|rng| {
                -1e5 * (1.0 - rng.random::<f64>()).ln()
            }),
            ("coarse clock", 0.0, &|rng| {
                ((400.0 + 20.0 * normal(rng)) / 41.0).floor() * 41.0
            }),
            ("speed of blocks", 0.02, &|rng| {
                1e5 * (0.01 * normal(rng)).exp()
            }),
            ("wandering level", 0.2, &|rng| {
                1e6 * (0.01 * normal(rng)).exp()
            }),
        ];
        for (name, level, draw) in one_group {
            for n in [30, 300, 3000] {
                let alarms = (0..500).filter(|seed| found(n, *seed, level, draw).is_some());
                let alarms = alarms.count();
                assert!(alarms < 5, "{name} {n}: {alarms} of 500");
            }
        }
    }

    #[test]
    fn two_groups_are_found_in_nine_of_ten_samples() {
        for (n, share, times) in [(200, 0.3, 2.0), (1000, 0.1, 1.3), (1000, 0.5, 10.0)] {
            let draw = |rng: &mut ChaCha8Rng| {
                let slow = rng.random::<f64>() < share;
                1e6 * if slow { times } else { 1.0 } * (0.03 * normal(rng)).exp()
            };
            let hits: Vec<Groups> = (0..100)
                .filter_map(|seed| found(n, seed, 0.02, &draw))
                .collect();
            assert!(hits.len() >= 90, "{n} {share} {times}: {}", hits.len());
            let between = |one: &Groups| (1.05e-3..times * 0.95e-3).contains(&one.parted_at.0);
            assert!(hits.iter().all(between), "{hits:?}");
            let mean = hits.iter().map(|one| one.slower.0).sum::<f64>() / hits.len() as f64;
            assert!((mean - share).abs() < 0.03, "{mean} for {share}");
        }
    }

    /// Rejection sampling: 145 µs for each of up to six attempts.
    #[test]
    fn steps_of_rejection_sampling_are_groups() {
        let draw = |rng: &mut ChaCha8Rng| {
            let mut attempts = 1;
            while attempts < 6 && rng.random::<f64>() > 0.25 {
                attempts += 1;
            }
            1.7e5 + 1.45e5 * f64::from(attempts) + 1.5e4 * normal(rng)
        };
        let hits = (0..20).filter(|seed| found(3000, *seed, 0.02, &draw).is_some());
        assert_eq!(hits.count(), 20);
    }
}
