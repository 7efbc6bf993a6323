//! The machine's own speed as a control variate (Lavenberg & Welch, Management Science 27, 1981; Law & Kelton 2000,
//! §11.4): blocks measured while the machine was slow are corrected by what they follow a reference, whose mean over
//! the whole run is known better than a case's blocks know it.
//!
//! x'ᵢ = xᵢ − b (zᵢ − μ): x is the mean of a block, z what the reference took around it, b the slope of x on z, μ the
//! mean of z over all blocks of the run. μ is also an estimate: b times its half-width is added in quadrature, so that
//! nothing is gained where there is but one case. References beyond Tukey's outer fences were interrupted, and count
//! as the fence.

use serde::{Deserialize, Serialize};

use crate::blocks::Blocks;
use crate::dependence::{RunDependence, mean_and_squares};
use crate::estimate::{Estimate, Method, NS, Seconds};
use crate::mean;
use crate::quantile::lower_neighbour;
use crate::spread::outer_fences;

/// Fewer blocks do not give away a slope.
const MIN_BLOCKS: usize = 20;
/// t of the correlation, below which it may be chance (p = 0.003).
const CERTAIN: f64 = 3.0;
/// Largest factor of the half-width that counts as an improvement.
const HELPS: f64 = 0.9;

/// The speed of a machine during a run: times of a fixed calculation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineSpeed {
    /// Number of times.
    pub n: usize,
    /// Mean time of the calculation.
    pub mean: Estimate<Seconds>,
    /// The 5th percentile.
    pub p5: Seconds,
    /// The 95th percentile.
    pub p95: Seconds,
    /// The outer fences, in nanoseconds.
    fences: (f64, f64),
}

impl MachineSpeed {
    /// Returns the speed from times in nanoseconds in their order; `None` with fewer than twenty.
    pub fn of(times: &[u64], seed: u64) -> Option<Self> {
        if times.len() < MIN_BLOCKS {
            return None;
        }
        let mut sorted: Vec<f64> = times.iter().map(|&time| time as f64).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share| lower_neighbour(&sorted, share);
        let fences = outer_fences(&sorted);
        let held = |time: &u64| vec![(*time as f64).clamp(fences.0, fences.1).round() as u64];
        let blocks = Blocks::from_blocks((0..).zip(times.iter().map(held)));
        Some(Self {
            n: times.len(),
            mean: mean::mean(&blocks, &RunDependence::default(), seed)?,
            p5: Seconds(at(0.05) / NS),
            p95: Seconds(at(0.95) / NS),
            fences,
        })
    }

    fn held(&self, time: u64) -> f64 {
        (time as f64).clamp(self.fences.0, self.fences.1)
    }

    /// Half the width of the mean's interval, in nanoseconds.
    fn half_width(&self) -> f64 {
        self.mean.width().map_or(0.0, |width| width / 2.0 * NS)
    }
}

/// A case at the mean speed of the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Controlled {
    /// The mean as it was measured, whatever the speed.
    pub raw: Estimate<Seconds>,
    /// Correlation of the case's blocks with the machine's speed.
    pub correlation: f64,
}

/// A case at the run's mean speed.
#[derive(Debug, Clone, PartialEq)]
pub struct AtMeanSpeed {
    /// Its mean.
    pub mean: Estimate<Seconds>,
    /// Its blocks.
    pub blocks: Blocks,
    /// The mean without correction.
    pub before: Controlled,
}

/// The mean at the run's mean speed, and the blocks as they would have been at it; `around` is what
/// the reference took around each block, in nanoseconds. `None` where it does not help: too few blocks, no
/// certain correlation, or an interval hardly narrower.
pub fn controlled(
    blocks: &Blocks,
    around: &[u64],
    speed: &MachineSpeed,
    run: &RunDependence,
    seed: u64,
) -> Option<AtMeanSpeed> {
    if blocks.block_count() < MIN_BLOCKS || around.len() != blocks.block_count() {
        return None;
    }
    let reference: Vec<f64> = around.iter().map(|time| speed.held(*time)).collect();
    let means = blocks.means();
    let (slope, correlation) = regression(&reference, &means)?;
    let freedom = (means.len() - 2) as f64;
    let t = correlation * (freedom / (1.0 - correlation * correlation)).sqrt();
    if t < CERTAIN {
        return None;
    }
    let at_mean_speed = |((round, block), (z, x)): ((u32, &[u64]), (&f64, &f64))| {
        let corrected = x - slope * (z - speed.mean.value.0 * NS);
        let factor = (corrected / x).max(0.0);
        let durations = block.iter().map(|&ns| (ns as f64 * factor).round() as u64);
        (round, durations.collect())
    };
    let pairs = reference.iter().zip(&means);
    let adjusted = Blocks::from_blocks(blocks.iter().zip(pairs).map(at_mean_speed));
    let raw = mean::mean(blocks, run, seed)?;
    let own = mean::computed(&adjusted, run, seed)?;
    let of_speed = slope * speed.half_width() / NS;
    let away = |bound: f64| (bound - own.value).hypot(of_speed);
    let bounds = (own.value - away(own.low?), own.value + away(own.high?));
    let controlled = Estimate::new(own.value, bounds, Method::ControlVariate).widened();
    let helps = controlled.width()? < HELPS * raw.width()?;
    helps.then_some(AtMeanSpeed {
        mean: controlled,
        blocks: adjusted,
        before: Controlled { raw, correlation },
    })
}

/// The slope of y on x by least squares, and their correlation.
fn regression(x: &[f64], y: &[f64]) -> Option<(f64, f64)> {
    let ((mean_x, xx), (mean_y, yy)) = (mean_and_squares(x), mean_and_squares(y));
    let products = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y));
    let xy: f64 = products.sum();
    // Rounding must not reach 1.
    let correlation = || (xy / (xx * yy).sqrt()).clamp(-0.999_999, 0.999_999);
    (xx > 0.0 && yy > 0.0).then(|| (xy / xx, correlation()))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::resample::normal;

    /// A case of 40 blocks of one operation in a run of 20 such cases that take turns, on a machine whose speed wanders and
    /// is seen by a reference of half a millisecond with noise of its own.
    fn run(seed: u64, follows: f64) -> (Blocks, Vec<u64>, MachineSpeed) {
        let (mut rng, mut level) = (ChaCha8Rng::seed_from_u64(seed), 0.0);
        let (mut blocks, mut around, mut all) = (Blocks::default(), Vec::new(), Vec::new());
        for round in 0..40 {
            for case in 0..20 {
                level = 0.7 * level + 0.12 * (1.0_f64 - 0.49).sqrt() * normal(&mut rng);
                let [noise, seen] = [0.05, 0.03].map(|share| 1.0 + share * normal(&mut rng));
                let operation = (5e6 * (1.0 + follows * level) * noise).max(1.0) as u64;
                let reference = (5e5 * (1.0 + level) * seen).max(1.0) as u64;
                all.push(reference);
                if case == 0 {
                    blocks.push(round, &[operation]);
                    around.push(reference);
                }
            }
        }
        let speed = MachineSpeed::of(&all, seed).unwrap();
        (blocks, around, speed)
    }

    fn raw(blocks: &Blocks, seed: u64) -> Estimate<Seconds> {
        mean::mean(blocks, &RunDependence::default(), seed).unwrap()
    }

    fn found(
        (blocks, around, speed): &(Blocks, Vec<u64>, MachineSpeed),
        seed: u64,
    ) -> Option<AtMeanSpeed> {
        controlled(blocks, around, speed, &RunDependence::default(), seed)
    }

    #[test]
    fn what_follows_the_machine_is_known_better_and_the_interval_holds_the_truth() {
        let (mut held, mut helped, mut share) = (0, 0, 0.0);
        let runs = 400;
        for seed in 0..runs {
            let case = run(seed, 0.9);
            let (raw, found) = (raw(&case.0, seed), found(&case, seed));
            let best = found.as_ref().map_or(raw, |found| found.mean);
            helped += u64::from(found.is_some());
            share += best.width().unwrap() / raw.width().unwrap();
            let holds = best.low.unwrap().0 <= 5e-3 && 5e-3 <= best.high.unwrap().0;
            held += u64::from(holds);
        }
        assert!(helped * 100 >= runs * 95, "it helped in {helped} of {runs}");
        assert!(held * 100 >= runs * 93, "{held} of {runs} held the truth");
        assert!(share / (runs as f64) < 0.7, "{}", share / runs as f64);
    }

    #[test]
    fn what_does_not_follow_the_machine_is_left_alone() {
        let helped = (0..200).filter(|&seed| found(&run(seed, 0.0), seed).is_some());
        assert!(helped.count() <= 2);
    }

    #[test]
    fn a_run_of_one_case_gains_nothing() {
        for seed in 0..50 {
            let mut case = run(seed, 0.9);
            case.2 = MachineSpeed::of(&case.1, seed).unwrap();
            if let Some(found) = found(&case, seed) {
                let raw = raw(&case.0, seed).width().unwrap();
                let narrower = found.mean.width().unwrap() / raw;
                assert!(narrower > 0.75, "seed {seed}: {narrower}");
            }
        }
    }

    #[test]
    fn too_few_references_say_nothing() {
        assert_eq!(MachineSpeed::of(&[1; 19], 1), None);
        let mut case = run(1, 0.9);
        case.1.pop();
        assert_eq!(found(&case, 1), None);
    }
}
