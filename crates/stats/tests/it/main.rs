//! The statistics against seeded simulations with known answers.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "a test may panic, and its numbers are small"
)]

mod across_cases;
mod calibration;
mod coverage;
mod properties;
mod usl;

use keymark_stats::{Blocks, Estimate, Quantity, RunDependence, Seconds, mean};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Normal noise.
struct Noise(ChaCha8Rng);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Box & Muller 1958.
    fn normal(&mut self) -> f64 {
        let (u, v): (f64, f64) = (self.0.random(), self.0.random());
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// The next of an AR(1) with variance 1.
    fn next(&mut self, state: f64, lag1: f64) -> f64 {
        lag1 * state + (1.0 - lag1 * lag1).sqrt() * self.normal()
    }
}

/// The mean of a case without others.
fn alone(case: &Blocks, seed: u64) -> Estimate<Seconds> {
    mean(case, &RunDependence::default(), seed).unwrap()
}

/// The share of rounds in which something is so.
fn share(rounds: u64, of: impl FnMut(&u64) -> bool) -> f64 {
    (0..rounds).filter(of).count() as f64 / rounds as f64
}

/// Whether an interval holds the truth.
fn holds<T: Quantity>(estimate: &Estimate<T>, truth: f64) -> bool {
    let (low, high) = (estimate.low.unwrap(), estimate.high.unwrap());
    low.to_f64() <= truth && truth <= high.to_f64()
}
