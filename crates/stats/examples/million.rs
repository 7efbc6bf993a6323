//! Time and memory of the statistics of a million samples.

use std::time::Instant;

use keymark_stats::{Blocks, Summary, paired};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn case(seed: u64) -> Blocks {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut blocks = Blocks::default();
    for round in 0..500 {
        let base = 100_000 + rng.random_range(0..5_000_u64);
        let noise = |_| base + rng.random_range(0..20_000_u64) * rng.random_range(0..10) / 10;
        blocks.push(round, &(0..2_000).map(noise).collect::<Vec<_>>());
    }
    blocks
}

/// Peak resident memory as Linux reports it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.unwrap_or("VmHWM: unknown").to_owned()
}

#[allow(
    clippy::disallowed_methods,
    reason = "a stopwatch for this crate, not a measurement"
)]
fn main() {
    let (a, b) = (case(1), case(2));
    println!("before   {}", peak());
    let start = Instant::now();
    let summary = Summary::of(&a, 1);
    println!("summary  {:?}  {}", start.elapsed(), peak());
    let start = Instant::now();
    let ratio = paired(&a, &b, 1);
    println!("ratio    {:?}  {}", start.elapsed(), peak());
    println!("{summary:#?}\n{ratio:#?}");
}
