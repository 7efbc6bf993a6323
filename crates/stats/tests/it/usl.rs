//! The scalability law recovers what made the data.

use keymark_stats::{Level, Usl, UslError, Window, fit_usl};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::holds;

/// Windows of a law, each disturbed by up to `noise` of itself.
fn levels(at: &[u32], law: impl Fn(f64) -> f64, noise: f64) -> Vec<Level> {
    seeded(5, at, law, noise)
}

fn seeded(seed: u64, at: &[u32], law: impl Fn(f64) -> f64, noise: f64) -> Vec<Level> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut level = |&workers: &u32| {
        let mut window = |round| {
            let factor = 1.0 + noise * rng.random_range(-1.0..1.0);
            let completed = (1e3 * law(f64::from(workers)) * factor).round();
            Window {
                completed,
                length_ns: 1_000_000_000,
                round,
            }
        };
        Level {
            workers,
            windows: (0..10).map(&mut window).collect(),
        }
    };
    at.iter().map(&mut level).collect()
}

fn law(lambda: f64, sigma: f64, kappa: f64) -> impl Fn(f64) -> f64 {
    move |n| lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

const AT: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

fn near(usl: &Usl, lambda: f64, sigma: f64, kappa: f64, tolerance: f64) {
    assert!(
        (usl.lambda.value.0 / 1e3 / lambda - 1.0).abs() < tolerance,
        "{usl:?}"
    );
    assert!((usl.sigma.value - sigma).abs() < tolerance, "{usl:?}");
    assert!(
        (usl.kappa.value - kappa).abs() < tolerance / 50.0,
        "{usl:?}"
    );
}

#[test]
fn exact_data_are_recovered() {
    let usl = fit_usl(&levels(&AT, law(1000.0, 0.05, 0.002), 0.0), 1).unwrap();
    near(&usl, 1000.0, 0.05, 0.002, 1e-4);
    assert_eq!(usl.p_value, None);
}

#[test]
fn bounds_hold_and_parameters_stay_positive() {
    // Linear scaling: contention and coherency are zero, not negative.
    let usl = fit_usl(&levels(&AT, |n| 1000.0 * n, 0.02), 1).unwrap();
    assert!(usl.sigma.value >= 0.0 && usl.kappa.value >= 0.0);
    near(&usl, 1000.0, 0.0, 0.0, 0.02);
    // A serial token: throughput does not depend on the number of workers, σ = 1.
    let usl = fit_usl(&levels(&AT, |_| 50.0, 0.0), 1).unwrap();
    near(&usl, 50.0, 1.0, 0.0, 1e-4);
}

/// Over 2000 seeds: 93.9 % (sigma) and 93.2 % (kappa) covered, 2 % rejected at the 1 % level.
#[test]
fn intervals_cover() {
    let (mut sigma, mut kappa, mut rejected) = (0, 0, 0);
    for seed in 0..200 {
        let usl = fit_usl(&seeded(seed, &AT, law(1000.0, 0.05, 0.002), 0.05), seed).unwrap();
        sigma += u32::from(holds(&usl.sigma, 0.05));
        kappa += u32::from(holds(&usl.kappa, 0.002));
        rejected += u32::from(usl.rejected());
    }
    println!("usl, of 200: sigma {sigma}, kappa {kappa} covered; {rejected} rejected");
    assert!((176..=198).contains(&sigma), "{sigma}");
    assert!((176..=198).contains(&kappa), "{kappa}");
    assert!(rejected <= 8, "{rejected}");
}

#[test]
fn another_shape_is_rejected() {
    let step = |n: f64| {
        if n < 8.0 {
            1000.0 * n
        } else {
            2000.0 + 200.0 * n
        }
    };
    assert!(fit_usl(&levels(&AT, step, 0.02), 1).unwrap().rejected());
}

#[test]
fn three_levels_are_needed() {
    let two = levels(&[1, 2, 2], |n| n, 0.0);
    assert_eq!(fit_usl(&two, 1), Err(UslError::TooFewLevels(2)));
    let three = fit_usl(&levels(&[1, 4, 16], law(100.0, 0.1, 0.01), 0.01), 1).unwrap();
    assert_eq!(three.p_value, None);
    near(&three, 100.0, 0.1, 0.01, 0.02);
}
