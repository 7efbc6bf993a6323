//! Intervals of few blocks are as wide as they must be: coverage and width, of runs of twenty cases and of single ones.

use keymark_stats::{Blocks, RunDependence, Sorted, mean, quantile};
use rand::RngExt;

use crate::{Noise, alone, holds};

/// Noise of 15 % in blocks of one operation.
const NOISE: f64 = 0.15;
const TRUTH: f64 = 1e-3;

/// A run's machine.
#[derive(Clone, Copy)]
struct Machine {
    cases: usize,
    lag1: f64,
    /// Part of the noise's variance that all cases share.
    shared: f64,
    /// By how much all become slower from beginning to end.
    drift: f64,
    /// Share of blocks that are 3× slower.
    slow: f64,
}

impl Machine {
    fn run(&self, seed: u64, blocks: u32) -> Vec<Blocks> {
        let mut noise = Noise::new(90_000 + seed);
        let mut states: Vec<f64> = (0..=self.cases).map(|_| noise.normal()).collect();
        let mut run = vec![Blocks::default(); self.cases];
        for round in 0..blocks {
            for state in &mut states {
                *state = noise.next(*state, self.lag1);
            }
            let time = (f64::from(round) + 0.5) / f64::from(blocks) - 0.5;
            for (case, own) in run.iter_mut().zip(&states[1..]) {
                let both = self.shared.sqrt() * states[0] + (1.0 - self.shared).sqrt() * own;
                let level = (NOISE * both - NOISE * NOISE / 2.0).exp() + self.drift * time;
                let is_slow = self.slow > 0.0 && noise.0.random::<f64>() < self.slow;
                let factor = if is_slow { 3.0 } else { 1.0 };
                case.push(round, &[(1e6 * level * factor) as u64]);
            }
        }
        run
    }

    /// Share of intervals that hold the truth, and their median width over that of Student's t.
    fn coverage(&self, blocks: u32) -> (f64, f64) {
        let (mut held, mut widths) = (0, Vec::new());
        // What cases share, they share in all of a run: more runs, not more of each.
        let of_each = self.cases.min(5);
        for seed in 0..1_000 / of_each as u64 {
            let run = self.run(seed, blocks);
            let known = RunDependence::of(&run);
            for case in &run[..of_each] {
                let interval = mean(case, &known, seed).unwrap();
                held += u32::from(holds(&interval, TRUTH));
                widths.push(interval.relative_half_width().unwrap() / student(case));
            }
        }
        widths.sort_by(f64::total_cmp);
        (
            f64::from(held) / widths.len() as f64,
            widths[widths.len() / 2],
        )
    }
}

/// Relative half-width of Student's t interval over independent blocks of one sample.
fn student(case: &Blocks) -> f64 {
    let durations: Vec<f64> = case.durations().iter().map(|&ns| ns as f64).collect();
    let n = durations.len() as f64;
    let mean = durations.iter().sum::<f64>() / n;
    let squares: f64 = durations.iter().map(|x| (x - mean).powi(2)).sum();
    let quantile = match durations.len() {
        8 => 2.365,
        12 => 2.201,
        _ => 2.093,
    };
    quantile * (squares / (n - 1.0) / n).sqrt() / mean
}

#[test]
fn fourteen_alike_samples_are_not_spread_over_twice_their_range() {
    // Mean 236 ms, standard deviation 29: Student's t has 219–253, and five times as wide was 150–321.
    let ms = [
        236, 188, 251, 229, 304, 214, 243, 221, 262, 207, 236, 258, 223, 232,
    ];
    let case = Blocks::from_blocks((0..).zip(ms.map(|ms| vec![ms * 1_000_000])));
    let alone = alone(&case, 1);
    let (low, high) = (alone.low.unwrap().0, alone.high.unwrap().0);
    assert!(
        (0.200..0.220).contains(&low) && (0.250..0.270).contains(&high),
        "{alone:?}"
    );
}

const TWENTY: Machine = Machine {
    cases: 20,
    lag1: 0.0,
    shared: 0.0,
    drift: 0.0,
    slow: 0.0,
};

#[test]
fn of_runs_on_several_machines() {
    let machine = |cases, shared, drift| Machine {
        cases,
        shared,
        drift,
        ..TWENTY
    };
    for (name, machine, most, widest) in [
        ("twenty cases", TWENTY, 0.985, 1.4),
        ("half is shared", machine(20, 0.5, 0.0), 1.0, 2.0),
        ("shared drift", machine(20, 0.0, 0.2), 1.0, 2.0),
        ("a single case", machine(1, 0.0, 0.0), 1.0, 2.0),
    ] {
        for (blocks, lag1) in [8, 12, 20]
            .into_iter()
            .flat_map(|blocks| [0.0, 0.3, 0.6].map(|lag1| (blocks, lag1)))
        {
            let (held, width) = Machine { lag1, ..machine }.coverage(blocks);
            let cell = format!("{name}, {blocks} blocks, lag-1 {lag1}");
            println!("{cell}: coverage {held:.3}, width {width:.2}");
            assert!((0.92..=most).contains(&held), "{cell}: {held}");
            assert!(lag1 > 0.0 || width < widest, "{cell}: {width}");
        }
    }
}

impl Machine {
    /// Share of intervals of medians that hold the true one, and of those that are bounded on both sides.
    fn coverage_of_medians(&self, blocks: u32) -> (f64, f64) {
        // The quantile of the noise below which half of all blocks lie, slow ones included: 0.5 / 0.96 of the others.
        let score = if self.slow > 0.0 { 0.0522 } else { 0.0 };
        let truth = TRUTH * (NOISE * score - NOISE * NOISE / 2.0).exp();
        let (mut held, mut bounded, mut all) = (0.0, 0.0, 0.0);
        let of_each = self.cases.min(5);
        for seed in 0..1_000 / of_each as u64 {
            let run = self.run(seed, blocks);
            let known = RunDependence::of(&run);
            for case in &run[..of_each] {
                let median = quantile(case, &Sorted::of(case), 0.5, &known).unwrap();
                let below = median.low.is_none_or(|low| low.0 <= truth);
                let above = median.high.is_none_or(|high| high.0 >= truth);
                held += f64::from(u8::from(below && above));
                bounded += f64::from(u8::from(median.low.is_some() && median.high.is_some()));
                all += 1.0;
            }
        }
        (held / all, bounded / all)
    }
}

#[test]
fn of_medians_with_slow_blocks_and_without() {
    for (name, cases) in [("twenty cases", 20), ("a single case", 1)] {
        for (slow, blocks) in [0.0, 0.04]
            .into_iter()
            .flat_map(|slow| [8, 9, 12, 20, 40].map(|n| (slow, n)))
        {
            for lag1 in [0.0, 0.3, 0.6] {
                let machine = Machine {
                    cases,
                    lag1,
                    slow,
                    ..TWENTY
                };
                let (held, bounded) = machine.coverage_of_medians(blocks);
                println!(
                    "median, {name}, slow {slow}, {blocks} blocks, lag-1 {lag1}: coverage {held:.3}, bounded {bounded:.3}"
                );
                assert!(held >= 0.92, "{name}, {slow}, {blocks}, {lag1}: {held}");
            }
        }
    }
}
