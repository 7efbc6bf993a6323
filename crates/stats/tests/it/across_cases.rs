//! "Same", and the geometric mean over cases: seeded simulations.

use keymark_stats::{LogRatio, Seconds, mean_of_runs};

use crate::{Noise, holds, share};

const ROUNDS: u64 = 2_000;
const CASES: usize = 8;

impl Noise {
    /// Runs that alternate: what is left of the noise in a pair is of so much; the new side takes `factor` as long.
    fn pairs(&mut self, runs: usize, deviation: f64, factor: f64) -> Vec<(Seconds, Seconds)> {
        let pair = |_| {
            let shared = 0.1 * self.normal();
            let of = |log: f64| Seconds(1e-3 * log.exp());
            let left = deviation * self.normal();
            (of(shared + factor.ln() + left), of(shared))
        };
        (0..runs).map(pair).collect()
    }
}

/// Whether the 95 % interval lies within 2 %.
fn same(ratio: &LogRatio) -> bool {
    ratio.p_differs_at_least_by(0.02) < 0.025
}

#[test]
fn what_differs_by_the_margin_is_seldom_called_the_same() {
    for factor in [1.02, 1.0 / 1.02] {
        for (runs, deviation) in [(3, 0.002), (5, 0.005), (10, 0.02)] {
            let wrong = share(ROUNDS, |&seed| {
                let pairs = Noise::new(seed).pairs(runs, deviation, factor);
                same(&LogRatio::of_pairs(&pairs).unwrap())
            });
            println!("×{factor:.3}, {runs} pairs that differ by {deviation}: same in {wrong}");
            assert!(wrong <= 0.035, "{runs} pairs: {wrong}");
        }
    }
}

#[test]
fn what_is_the_same_is_called_so_if_it_is_known_well_enough() {
    for (runs, deviation, least, most) in [(5, 0.005, 0.99, 1.0), (5, 0.05, 0.0, 0.05)] {
        let called = share(ROUNDS, |&seed| {
            let pairs = Noise::new(seed).pairs(runs, deviation, 1.0);
            same(&LogRatio::of_pairs(&pairs).unwrap())
        });
        println!("×1, {runs} pairs that differ by {deviation}: same in {called}");
        assert!((least..=most).contains(&called), "{deviation}: {called}");
    }
}

#[test]
fn the_geometric_mean_over_cases_covers_with_runs_as_units() {
    // Cases take 1 to 8 ms, and the new side 0.9× to 1.25× that.
    let factors: Vec<f64> = (0..CASES).map(|case| 0.9 + 0.05 * case as f64).collect();
    let truth = (factors.iter().map(|f| f.ln()).sum::<f64>() / CASES as f64).exp();
    for shared in [0.0, 0.1] {
        let covered = share(ROUNDS, |&seed| {
            let mut noise = Noise::new(70_000 + seed);
            let mut side = |factors: &[f64]| -> Vec<Seconds> {
                let mut run = |_| {
                    let mood = shared * noise.normal();
                    let cases = factors.iter().zip(1..).map(|(factor, ms)| {
                        let log = mood + 0.06 * noise.normal();
                        Seconds(1e-3 * f64::from(ms) * factor * log.exp())
                    });
                    mean_of_runs(&cases.collect::<Vec<_>>()).unwrap()
                };
                (0..5).map(&mut run).collect()
            };
            let (old, new) = (side(&[1.0; CASES]), side(&factors));
            holds(&LogRatio::between_runs(&new, &old).unwrap().ratio(), truth)
        });
        println!("geometric mean of {CASES} cases, 5 runs a side, shared {shared}: {covered}");
        assert!((0.93..=0.98).contains(&covered), "{shared}: {covered}");
    }
}

#[test]
fn ratios_of_one_run_cover_together_however_they_depend_on_each_other() {
    for shared in [0.0, 0.05] {
        let covered = share(ROUNDS, |&seed| {
            let mut noise = Noise::new(90_000 + seed);
            // What all pairs of a round share with the baseline, and what each has for itself.
            let moods: Vec<f64> = (0..20).map(|_| shared * noise.normal()).collect();
            let ratios: Vec<LogRatio> = (0..CASES)
                .map(|_| {
                    let pairs = moods.iter().map(|mood| {
                        let log = mood + 0.03 * noise.normal();
                        (Seconds(log.exp()), Seconds(1.0))
                    });
                    LogRatio::of_pairs(&pairs.collect::<Vec<_>>()).unwrap()
                })
                .collect();
            holds(&LogRatio::together(&ratios).unwrap().ratio(), 1.0)
        });
        println!("{CASES} ratios of one run, shared {shared}: {covered}");
        assert!(covered >= 0.93, "{shared}: {covered}");
    }
}
