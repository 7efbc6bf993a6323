//! One step or several: the dip test, and how many steps there are.
//!
//! Test: Hartigan & Hartigan, "The Dip Test of Unimodality", 1985, §5, against the uniform distribution, at
//! 1 %. The critical values are those of independent samples; those of one block depend on each other, and count as so
//! many as their variance between and within blocks shows (design effect: Kish, "Survey Sampling", 1965, §5.4, by
//! analysis of variance: Donner 1986). Blocks depend on each other less, but they do, so that the dip must also be large in
//! itself. Steps are the peaks of a smoothed histogram that stand out from the valleys beside them by more than counts
//! do by chance (prominence: Edelsbrunner, Letscher & Zomorodian 2002).

use crate::blocks::Blocks;
use crate::dependence::ranks;
use crate::dip::dip;
use crate::estimate::{Ratio, Seconds};
use crate::quantile::Sorted;

/// A smaller dip is not reported, however significant: 0.02 means that at least
/// one sample in 25 or so would have to move to make the distribution unimodal.
pub const MIN_DIP: f64 = 0.02;

/// Values no further apart than a clock's tick (ns) are not two modes.
const MAX_TICK_NS: f64 = 100.0;
/// A peak stands out from a valley by so many standard deviations of their difference ...
const CERTAIN: f64 = 4.0;
/// ... if the valley is no higher than this part of it.
const DEEP: f64 = 0.8;
/// Sum of the squared weights of [`smooth`], by which it lowers the variance of a count.
const SMOOTHED: f64 = 70.0 / 256.0;

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

/// Separate groups of durations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// How many there are at least, two or more; small ones may be hidden.
    pub count: usize,
    /// Median duration of the fastest.
    pub lower: Seconds,
    /// Median duration of the slowest.
    pub upper: Seconds,
    /// Share of samples in the slowest.
    pub upper_share: Ratio,
}

impl Modes {
    /// In words, with durations as they are written elsewhere.
    pub fn said(&self, duration: impl Fn(Seconds) -> String) -> String {
        let (lower, upper) = (duration(self.lower), duration(self.upper));
        let what = match self.count {
            2 => format!(
                "two groups of durations, about {lower} and {upper} ({:.0} % in the slower)",
                self.upper_share.0 * 100.0
            ),
            count => format!(
                "durations come in several steps, {count} at least, the first about {lower} and the last about {upper}"
            ),
        };
        format!("{what}; no single figure describes them: see the histogram")
    }
}

/// The steps, if the dip of all samples is significant and large; `None` also where they are worth less than ten independent
/// ones, too few for any verdict.
pub fn modality(blocks: &Blocks) -> Option<Modes> {
    of_sorted(&Sorted::of(blocks), design_effect(blocks))
}

/// How many samples say what an independent one would.
fn design_effect(blocks: &Blocks) -> f64 {
    let (n, count) = (blocks.len() as f64, blocks.block_count() as f64);
    if n <= count || count < 2.0 {
        // One block is a single moment.
        return if count < 2.0 { n.max(1.0) } else { 1.0 };
    }
    let durations = blocks.durations().iter().map(|&ns| ns as f64);
    let ranks = ranks(&durations.collect::<Vec<_>>());
    let (all, mut rest) = (ranks.iter().sum::<f64>() / n, ranks.as_slice());
    let (mut between, mut within, mut squares) = (0.0, 0.0, 0.0);
    for (_, block) in blocks.iter() {
        let (own, later) = rest.split_at(block.len());
        let size = own.len() as f64;
        let mean = own.iter().sum::<f64>() / size;
        between += size * (mean - all).powi(2);
        within += own.iter().map(|rank| (rank - mean).powi(2)).sum::<f64>();
        squares += size * size;
        rest = later;
    }
    let (between, within) = (between / (count - 1.0), within / (n - count));
    let size = (n - squares / n) / (count - 1.0);
    let alike = (between - within) / (between + (size - 1.0) * within);
    if alike > 0.0 {
        1.0 + (size - 1.0) * alike
    } else {
        1.0
    }
}

fn of_sorted(sorted: &Sorted, design_effect: f64) -> Option<Modes> {
    let worth = (sorted.as_slice().len() as f64 / design_effect) as usize;
    if worth < 10 {
        return None;
    }
    let dip = dip(&spread_ties(sorted.as_slice()));
    (dip >= MIN_DIP && dip > critical_dip(worth))
        .then(|| modes(sorted, design_effect))
        .flatten()
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

/// The dip that unimodal samples of this size exceed once in a hundred cases: interpolated in 1/√n, where √n × dip is nearly a line.
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

/// Cuts at the valleys of a smoothed histogram.
fn modes(sorted: &Sorted, design_effect: f64) -> Option<Modes> {
    let x = sorted.as_slice();
    let n = x.len();
    // One per cent on each side left out: outliers would flatten the rest.
    let held = &x[n / 100..n - n / 100];
    let (low, high) = (*held.first()? as f64, *held.last()? as f64);
    let worth = n as f64 / design_effect;
    let bins = ((worth.sqrt() * 2.0) as usize).clamp(16, 256);
    let width = (high - low) / bins as f64;
    let mut counts = vec![0.0; bins];
    for &ns in held {
        counts[(((ns as f64 - low) / width) as usize).min(bins - 1)] += 1.0;
    }
    let valleys = valleys(&smooth(&counts), design_effect);
    let cut = |bin: f64| x.partition_point(|&ns| (ns as f64) < low + (bin + 0.5) * width);
    let (first, last) = (cut(*valleys.first()?), cut(*valleys.last()?));
    let median = |part: &[u64]| Sorted::from_vec(part.to_vec()).quantile_ns(0.5);
    Some(Modes {
        count: valleys.len() + 1,
        lower: Seconds::from_nanos(median(&x[..first])?),
        upper: Seconds::from_nanos(median(&x[last..])?),
        upper_share: Ratio((n - last) as f64 / n as f64),
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

/// Places of the valleys between peaks that stand out.
fn valleys(h: &[f64], design_effect: f64) -> Vec<f64> {
    let (mut peaks, mut valleys) = extremes(h);
    let score = |peaks: &[f64], (number, (_, valley)): (usize, &(f64, f64))| {
        let lower = peaks[number].min(peaks[number + 1]);
        let chance = (SMOOTHED * design_effect * (lower + valley)).sqrt();
        let score = (lower - valley) / chance;
        if *valley > DEEP * lower { 0.0 } else { score }
    };
    // The least is filled first, so that what it parted stands out as one.
    loop {
        let scores = valleys
            .iter()
            .enumerate()
            .map(|valley| score(&peaks, valley));
        match scores.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((number, least)) if least < CERTAIN => {
                valleys.remove(number);
                let lower = number + usize::from(peaks[number] > peaks[number + 1]);
                peaks.remove(lower);
            }
            _ => return valleys.into_iter().map(|(place, _)| place).collect(),
        }
    }
}

/// Heights of all peaks, and between each two of them the place and height of the lowest, or the middle of several.
fn extremes(h: &[f64]) -> (Vec<f64>, Vec<(f64, f64)>) {
    let (mut peaks, mut valleys): (Vec<f64>, Vec<(f64, f64)>) = (Vec::new(), Vec::new());
    let mut begin = 0;
    let flats = h.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|flat| {
        let place = begin as f64 + (flat.len() as f64 - 1.0) / 2.0;
        begin += flat.len();
        (place, flat[0])
    });
    // Beyond either end it falls.
    let end = [(0.0, f64::NEG_INFINITY)];
    let flats: Vec<(f64, f64)> = end.into_iter().chain(flats).chain(end).collect();
    for around in flats.windows(3) {
        let (before, (place, height), after) = (around[0].1, around[1], around[2].1);
        if height > before && height > after {
            peaks.push(height);
        } else if height < before && height < after {
            valleys.push((place, height));
        }
    }
    (peaks, valleys)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

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
                assert_eq!(of_sorted(&s, 1.0), None, "{n}");
            }
        }
        assert_eq!(of_sorted(&Sorted::from_vec(vec![5; 50]), 1.0), None);
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
            let modes = of_sorted(&s, 1.0).unwrap();
            assert!((modes.lower.0 / 1e-3 - 1.0).abs() < 0.02, "{modes:?}");
            assert!(
                (modes.upper.0 / 1e-3 / second - 1.0).abs() < 0.03,
                "{modes:?}"
            );
            assert!((modes.upper_share.0 - share).abs() < 0.07, "{modes:?}");
        }
    }

    /// What rejection sampling takes: so many attempts at most, each of 145 µs, in blocks whose speed differs by 2 %.
    fn attempts(seed: u64, most: u32) -> Blocks {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Blocks::from_blocks((0..250).map(|round| {
            let speed = (0.02 * normal(rng.random(), rng.random())).exp();
            let one = |_| {
                let mut attempts = 1;
                while attempts < most && rng.random::<f64>() > 0.25 {
                    attempts += 1;
                }
                let noise = 1.5e4 * normal(rng.random(), rng.random());
                (speed * (1.7e5 + 1.45e5 * f64::from(attempts) + noise)) as u64
            };
            (round, (0..12).map(one).collect())
        }))
    }

    #[test]
    fn steps_are_counted() {
        for seed in 0..20 {
            for most in [1, 2, 6] {
                let found = modality(&attempts(seed, most));
                let count = found.map_or(1, |modes| modes.count);
                assert_eq!(count, most as usize, "seed {seed}: {found:?}");
            }
        }
        let said = |most| {
            modality(&attempts(1, most))
                .unwrap()
                .said(|time| format!("{:.0} µs", time.0 * 1e6))
        };
        assert!(
            said(6).starts_with("durations come in several steps, 6 at least"),
            "{}",
            said(6)
        );
        assert!(
            said(2).starts_with("two groups of durations, about 3"),
            "{}",
            said(2)
        );
    }

    #[test]
    fn samples_of_one_moment_are_not_many() {
        // Blocks whose level wanders, twenty samples each: of thirty levels no verdict is made.
        for seed in 0..50 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let blocks = Blocks::from_blocks((0..30).map(|round| {
                let level = 1e6 * (0.2 * normal(rng.random(), rng.random())).exp();
                let one = |_| (level * (1.0 + 0.01 * normal(rng.random(), rng.random()))) as u64;
                (round, (0..20).map(one).collect())
            }));
            assert!(design_effect(&blocks) > 15.0);
            assert_eq!(modality(&blocks), None, "seed {seed}");
        }
    }
}
