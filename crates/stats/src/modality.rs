//! One mode or two: the dip test, and where the two modes lie.
//!
//! Test: Hartigan & Hartigan 1985, §5, against the uniform distribution, at
//! 1 %, on the medians of blocks: samples of one block depend on each other, and
//! the critical values are those of independent ones. Blocks depend on each
//! other less, but they do, so the dip must also be large in itself.

use serde::{Deserialize, Serialize};

use crate::blocks::Blocks;
use crate::dip::dip;
use crate::quantile::Sorted;
use crate::quantity::{Ratio, Seconds};

/// A smaller dip is not reported, however significant: 0.02 means that at least
/// one sample in 25 or so would have to move to make the distribution unimodal.
pub const MIN_DIP: f64 = 0.02;

/// Values no further apart than a clock's tick (ns) are not two modes.
const MAX_TICK_NS: f64 = 100.0;

/// (n, 99 % point of √n × dip of n uniform samples), by simulation: 20 000
/// samples each, `ChaCha8` with seed 217; `table_is_reproducible` draws anew.
const CRITICAL: [(f64, f64); 8] = [
    (10.0, 0.5113),
    (20.0, 0.5400),
    (50.0, 0.5805),
    (100.0, 0.5907),
    (200.0, 0.6052),
    (500.0, 0.6154),
    (1000.0, 0.6205),
    (5000.0, 0.6252),
];

/// Result of the dip test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Modality {
    /// The dip, from 1/(2n) to 1/4.
    pub dip: f64,
    /// The dip that unimodal samples of this size exceed once in a hundred cases.
    pub critical: f64,
    /// The two modes, if the dip is significant and large.
    pub modes: Option<Modes>,
}

/// Two separate groups of durations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Modes {
    /// Median duration of the faster group.
    pub lower: Seconds,
    /// Median duration of the slower group.
    pub upper: Seconds,
    /// Share of blocks in the slower group.
    pub upper_share: Ratio,
}

/// The dip test on the medians of the blocks; `None` below ten of them, too few for any verdict.
pub fn modality(blocks: &Blocks) -> Option<Modality> {
    let median =
        |(_, durations): (u32, &[u64])| Sorted::from_vec(durations.to_vec()).quantile_ns(0.5);
    let medians = blocks.iter().filter_map(median);
    let sorted = Sorted::from_vec(medians.map(|ns| ns.round() as u64).collect());
    of_sorted(&sorted)
}

fn of_sorted(sorted: &Sorted) -> Option<Modality> {
    let n = sorted.as_slice().len();
    if n < 10 {
        return None;
    }
    let dip = dip(&spread_ties(sorted.as_slice()));
    let critical = critical_dip(n);
    let modes = if dip >= MIN_DIP && dip > critical {
        modes(sorted)
    } else {
        None
    };
    Some(Modality {
        dip,
        critical,
        modes,
    })
}

/// Spreads equal values over one clock tick: what a coarse clock rounds
/// together is not a mode.
fn spread_ties(sorted: &[u64]) -> Vec<f64> {
    let gaps = sorted
        .windows(2)
        .map(|w| w[1] - w[0])
        .filter(|&gap| gap > 0);
    let tick = gaps.min().map_or(0.0, |gap| (gap as f64).min(MAX_TICK_NS));
    let mut spread = Vec::with_capacity(sorted.len());
    for tie in sorted.chunk_by(|a, b| a == b) {
        let step = tick / tie.len() as f64;
        let first = tie[0] as f64 - tick / 2.0;
        spread.extend((0..tie.len()).map(|i| first + (i as f64 + 0.5) * step));
    }
    spread
}

/// Interpolated in 1/√n, where √n × dip is nearly a line.
fn critical_dip(n: usize) -> f64 {
    let root = (n as f64).sqrt();
    let above = CRITICAL.iter().position(|&(size, _)| size >= n as f64);
    let scaled = match above {
        Some(0) => CRITICAL[0].1,
        None => CRITICAL[CRITICAL.len() - 1].1,
        Some(i) => {
            let ((n0, c0), (n1, c1)) = (CRITICAL[i - 1], CRITICAL[i]);
            let (x0, x1) = (1.0 / n0.sqrt(), 1.0 / n1.sqrt());
            c0 + (c1 - c0) * (x0 - 1.0 / root) / (x0 - x1)
        }
    };
    scaled / root
}

/// Cuts at the deepest valley of a smoothed histogram of log durations.
fn modes(sorted: &Sorted) -> Option<Modes> {
    let x = sorted.as_slice();
    let n = x.len();
    let log = |ns: u64| (ns.max(1) as f64).ln();
    // One per cent on each side left out: outliers would flatten the rest.
    let (low, high) = (log(x[n / 100]), log(x[n - 1 - n / 100]));
    let finest = (((n as f64).sqrt() * 2.0) as usize).clamp(8, 512);
    let cut_at = [finest.min(48), finest].into_iter().find_map(|bins| {
        let width = (high - low) / bins as f64;
        let mut counts = vec![0.0; bins];
        for &ns in &x[n / 100..n - n / 100] {
            counts[(((log(ns) - low) / width) as usize).min(bins - 1)] += 1.0;
        }
        deepest_valley(&smooth(&counts)).map(|bin| low + (bin + 0.5) * width)
    })?;
    let cut = x.partition_point(|&ns| log(ns) < cut_at);
    let median = |part: &[u64]| Sorted::from_vec(part.to_vec()).quantile_ns(0.5);
    Some(Modes {
        lower: Seconds::from_nanos(median(&x[..cut])?),
        upper: Seconds::from_nanos(median(&x[cut..])?),
        upper_share: Ratio((n - cut) as f64 / n as f64),
    })
}

/// Weights 1 2 1, twice.
fn smooth(counts: &[f64]) -> Vec<f64> {
    let once = |c: &[f64]| -> Vec<f64> {
        let at = |i: usize| c.get(i).copied().unwrap_or(0.0);
        (0..c.len())
            .map(|i| (if i == 0 { 0.0 } else { at(i - 1) } + 2.0 * at(i) + at(i + 1)) / 4.0)
            .collect()
    };
    once(&once(counts))
}

/// Middle of the bins that lie deepest below the lower of the peaks on their
/// two sides; `None` if there is no valley.
fn deepest_valley(h: &[f64]) -> Option<f64> {
    let mut right = vec![0.0_f64; h.len() + 1];
    for i in (0..h.len()).rev() {
        right[i] = right[i + 1].max(h[i]);
    }
    let mut left = 0.0_f64;
    let mut depths = Vec::with_capacity(h.len());
    for (i, &count) in h.iter().enumerate() {
        depths.push(left.min(right[i + 1]) - count);
        left = left.max(count);
    }
    let best = depths.iter().copied().fold(0.0, f64::max);
    let first = depths.iter().position(|&d| best > 0.0 && d >= best)?;
    let run = depths[first..].iter().take_while(|&&d| d >= best).count();
    Some(first as f64 + (run - 1) as f64 / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn simulate_critical(n: usize, repeats: usize, seed: u64) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut dips: Vec<f64> = (0..repeats)
            .map(|_| {
                let mut x: Vec<f64> = (0..n).map(|_| rng.random()).collect();
                x.sort_unstable_by(f64::total_cmp);
                dip(&x) * (n as f64).sqrt()
            })
            .collect();
        dips.sort_by(f64::total_cmp);
        dips[((repeats - 1) as f64 * 0.99) as usize]
    }

    /// 3000 repeats have a standard error of about 1.5 %: 6 % is four of them.
    #[test]
    fn table_is_reproducible() {
        for &(n, critical) in &CRITICAL[..7] {
            let again = simulate_critical(n as usize, 3000, 1);
            assert!(
                (again / critical - 1.0).abs() < 0.06,
                "{n}: {again} {critical}"
            );
        }
    }

    fn sample(n: usize, seed: u64, draw: impl Fn(f64, f64) -> f64) -> Sorted {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let one = |_| draw(rng.random(), rng.random()) as u64;
        Sorted::from_vec((0..n).map(one).collect())
    }

    fn normal(u: f64, v: f64) -> f64 {
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    #[test]
    fn unimodal_is_left_alone() {
        for (n, seed) in [(30, 1), (100, 2), (1000, 3), (50_000, 4)] {
            for s in [
                sample(n, seed, |u, _| 1e5 + 1e5 * u),
                sample(n, seed, |u, v| 1e5 * (0.1 * normal(u, v)).exp()),
                sample(n, seed, |u, _| -1e5 * (1.0 - u).ln()),
                // A coarse clock: 41 ns ticks on 400 ± 20 ns.
                sample(n, seed, |u, v| {
                    ((400.0 + 20.0 * normal(u, v)) / 41.0).floor() * 41.0
                }),
                sample(n, seed, |u, v| 120.0 + 2.0 * normal(u, v)),
            ] {
                assert_eq!(of_sorted(&s).unwrap().modes, None, "{n}");
            }
        }
        assert_eq!(
            of_sorted(&Sorted::from_vec(vec![5; 50])).unwrap().modes,
            None
        );
    }

    #[test]
    fn two_modes_are_found() {
        for (n, share, second) in [(200, 0.3, 2.0), (5000, 0.1, 1.3), (5000, 0.5, 10.0)] {
            let s = sample(n, 9, |u, v| {
                let upper = v < share;
                let v = if upper {
                    v / share
                } else {
                    (v - share) / (1.0 - share)
                };
                1e6 * if upper { second } else { 1.0 } * (0.03 * normal(u, v)).exp()
            });
            let modes = of_sorted(&s).unwrap().modes.unwrap();
            assert!((modes.lower.0 / 1e-3 - 1.0).abs() < 0.02, "{modes:?}");
            assert!(
                (modes.upper.0 / 1e-3 / second - 1.0).abs() < 0.03,
                "{modes:?}"
            );
            assert!((modes.upper_share.0 - share).abs() < 0.07, "{modes:?}");
        }
    }
}
