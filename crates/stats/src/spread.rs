//! Spread: standard deviation with its interval, extremes, and MAD.
//!
//! Standard deviation: percentile bootstrap over blocks or batches (Davison &
//! Hinkley 1997, §3.8), from their counts, sums and sums of squares. MAD:
//! median absolute deviation from the median (Hampel, "The Influence Curve and
//! its Role in Robust Estimation", 1974), not rescaled.

use crate::blocks::{Batch, Blocks};
use crate::estimate::{Estimate, Method};
use crate::quantile::Sorted;
use crate::quantity::{NS, Seconds};
use crate::resample::{MIN_UNITS, RESAMPLES, Stream, draw, percentile, rng};

/// Standard deviation (n − 1) of the durations; `None` below two samples, no
/// bounds below twenty batches.
pub fn standard_deviation(blocks: &Blocks, seed: u64) -> Option<Estimate<Seconds>> {
    computed(blocks, seed).map(Estimate::widened)
}

pub(crate) fn computed(blocks: &Blocks, seed: u64) -> Option<Estimate<f64>> {
    if blocks.len() < 2 {
        return None;
    }
    let batches = blocks.units().batches;
    let value = deviation(batches.iter()) / NS;
    let k = batches.len();
    if k < MIN_UNITS {
        return Some(Estimate::bare(value));
    }
    let mut rng = rng(seed, Stream::Spread);
    let mut picks = vec![0; k];
    let mut values: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            draw(&mut rng, &mut picks);
            deviation(picks.iter().map(|&i| &batches[i])) / NS
        })
        .collect();
    let bounds = percentile(&mut values)?;
    Some(Estimate::new(value, bounds, Method::ClusterBootstrap))
}

fn deviation<'a>(batches: impl Iterator<Item = &'a Batch>) -> f64 {
    let (n, sum, squares) = batches.fold((0.0, 0.0, 0.0), |(n, s, q), b| {
        (n + b.count as f64, s + b.sum, q + b.sum_squares)
    });
    if n < 2.0 {
        0.0
    } else {
        ((squares - sum * sum / n).max(0.0) / (n - 1.0)).sqrt()
    }
}

/// Shortest and longest duration; `None` without samples.
pub fn extremes(sorted: &Sorted) -> Option<(Seconds, Seconds)> {
    let (first, last) = (sorted.as_slice().first()?, sorted.as_slice().last()?);
    Some((
        Seconds::from_nanos(*first as f64),
        Seconds::from_nanos(*last as f64),
    ))
}

/// Median absolute deviation from the median; `None` without samples.
pub fn median_absolute_deviation(sorted: &Sorted) -> Option<Seconds> {
    let median = sorted.quantile_ns(0.5)?;
    let x = sorted.as_slice();
    // Deviations ascend away from the median on both sides: merge, no second sort.
    let mut above = x.partition_point(|&ns| (ns as f64) < median);
    let mut below = above;
    let mut previous = 0.0;
    let mut last = 0.0;
    for _ in 0..=x.len() / 2 {
        let down = below.checked_sub(1).map(|i| median - x[i] as f64);
        let up = x.get(above).map(|&ns| ns as f64 - median);
        previous = last;
        last = match (down, up) {
            (Some(d), Some(u)) if d < u => (below -= 1, d).1,
            (Some(d), None) => (below -= 1, d).1,
            (_, Some(u)) => (above += 1, u).1,
            (None, None) => last,
        };
    }
    let odd = x.len() % 2 == 1;
    Some(Seconds::from_nanos(if odd {
        last
    } else {
        f64::midpoint(previous, last)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Mean 5, Σ(x−5)² = 3 × 32, n = 24: the variance is 96/23.
        let blocks = Blocks::from_blocks([(0, [2, 4, 4, 4, 5, 5, 7, 9].repeat(3))]);
        let sd = standard_deviation(&blocks, 1).unwrap();
        assert!((sd.value.0 - (96.0 / 23.0_f64).sqrt() * 1e-9).abs() < 1e-18);
        assert!(sd.low.unwrap() <= sd.value && sd.high.unwrap() >= sd.value);
        assert_eq!(
            extremes(&Sorted::of(&blocks)),
            Some((Seconds(2e-9), Seconds(9e-9)))
        );
    }

    #[test]
    fn mad_by_hand() {
        for (values, want) in [
            (vec![1, 1, 2, 2, 4, 6, 9], 1.0),
            (vec![1, 2, 3, 4], 1.0),
            (vec![1, 2, 4, 100], 1.5),
            (vec![7], 0.0),
            (vec![5, 5], 0.0),
            (vec![1, 10], 4.5),
        ] {
            let mad = median_absolute_deviation(&Sorted::from_vec(values.clone())).unwrap();
            assert!((mad.0 * NS - want).abs() < 1e-9, "{values:?}: {mad:?}");
        }
    }
}
