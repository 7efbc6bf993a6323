//! Changes are found where they are, and nowhere else: seeded simulations.

use keymark_stats::{Seconds, change_points};
use rand::RngExt;

use crate::Noise;

/// Series of each kind.
const SERIES: u64 = 400;
/// Runs differ by 5 % (standard deviation of the log).
const DEVIATION: f64 = 0.05;

struct Machine {
    noise: Noise,
    state: f64,
    lag1: f64,
}

impl Machine {
    fn new(seed: u64, lag1: f64) -> Self {
        let mut machine = Self {
            noise: Noise::new(seed),
            state: 0.0,
            lag1,
        };
        machine.state = machine.noise.normal();
        machine
    }

    /// A run of something that takes a millisecond times `factor`.
    fn run(&mut self, factor: f64) -> Seconds {
        self.state = self.noise.next(self.state, self.lag1);
        Seconds(1e-3 * factor * (DEVIATION * self.state).exp())
    }

    /// As many runs as there are factors.
    fn runs(&mut self, factors: &[f64]) -> Vec<Seconds> {
        factors.iter().map(|factor| self.run(*factor)).collect()
    }
}

fn found(points: &[Seconds], seed: u64) -> Vec<usize> {
    change_points(points, seed).unwrap().starts
}

fn share(of: impl Fn(u64) -> bool) -> f64 {
    (0..SERIES).filter(|seed| of(*seed)).count() as f64 / SERIES as f64
}

#[test]
fn where_nothing_changes_few_series_have_a_change() {
    for (lag1, most) in [(0.0, 0.05), (0.3, 0.06), (0.6, 0.10)] {
        for n in [10, 30, 100] {
            let factors = vec![1.0; n];
            let alarms = share(|seed| {
                let points = Machine::new(1_000 + seed, lag1).runs(&factors);
                !found(&points, seed).is_empty()
            });
            println!("no change, {n} runs, lag-1 {lag1}: any change in {alarms}");
            assert!(alarms <= most, "{n} runs, lag-1 {lag1}: {alarms}");
        }
    }
}

#[test]
fn outliers_are_no_changes() {
    let factors = vec![1.0; 40];
    let alarms = share(|seed| {
        let mut machine = Machine::new(5_000 + seed, 0.0);
        let mut points = machine.runs(&factors);
        for point in &mut points {
            if machine.noise.0.random::<f64>() < 0.1 {
                point.0 *= 4.0;
            }
        }
        !found(&points, seed).is_empty()
    });
    println!("one run in ten four times slower: any change in {alarms}");
    assert!(alarms <= 0.05, "{alarms}");
}

#[test]
fn a_shift_is_found_where_it_is() {
    // Runs differ by 5 %: shifts of 2, 3, 4 and 6 standard deviations.
    for (lag1, factor, least) in [
        (0.0, 1.10, 0.75),
        (0.0, 1.16, 0.92),
        (0.0, 1.0 / 1.16, 0.92),
        (0.3, 1.22, 0.90),
        (0.6, 1.35, 0.85),
    ] {
        let factors = [[1.0; 20], [factor; 20]].concat();
        let hits = share(|seed| {
            let points = Machine::new(9_000 + seed, lag1).runs(&factors);
            matches!(found(&points, seed).as_slice(), [only] if only.abs_diff(20) <= 1)
        });
        println!("×{factor:.2} after 20 of 40, lag-1 {lag1}: found there in {hits}");
        assert!(hits >= least, "×{factor:.2}, lag-1 {lag1}: {hits}");
    }
}

#[test]
fn two_shifts_are_found_with_outliers_among_them() {
    let factors = [[1.0; 25], [1.3; 25], [0.9; 25]].concat();
    let hits = share(|seed| {
        let mut points = Machine::new(20_000 + seed, 0.0).runs(&factors);
        for outlier in [7, 33, 61] {
            points[outlier].0 *= 5.0;
        }
        let found = found(&points, seed);
        matches!(found.as_slice(), [a, b] if a.abs_diff(25) <= 1 && b.abs_diff(50) <= 1)
    });
    println!("two shifts and three outliers: both found in {hits}");
    assert!(hits >= 0.95, "{hits}");
}

#[test]
fn the_same_seed_says_the_same() {
    let points = Machine::new(7, 0.3).runs(&[[1.0; 15], [1.2; 15]].concat());
    assert_eq!(change_points(&points, 5), change_points(&points, 5));
}
