//! Spread: standard deviation with its interval, extremes, and outliers.
//!
//! Standard deviation: percentile bootstrap over blocks or batches (Davison &
//! Hinkley 1997, §3.8), from their sizes, sums and sums of squares. Outliers by Tukey's
//! outer fences ("Exploratory Data Analysis", 1977, §2C-2D), 3 interquartile ranges
//! from the quartiles; counted and reported, never removed.

use crate::blocks::Blocks;
use crate::estimate::{Estimate, Method, NS, Ratio, Seconds};
use crate::quantile::{Sorted, lower_neighbour};
use crate::resample::{Cluster, MIN_UNITS, RESAMPLES, Stream, draw, percentile, rng};

/// Standard deviation (n − 1) of the durations; `None` below two samples, no
/// bounds below twenty batches.
pub fn standard_deviation(blocks: &Blocks, seed: u64) -> Option<Estimate<Seconds>> {
    computed(blocks, seed).map(Estimate::widened)
}

pub(crate) fn computed(blocks: &Blocks, seed: u64) -> Option<Estimate<f64>> {
    if blocks.len() < 2 {
        return None;
    }
    let units = blocks.units();
    let squares = blocks.unit_ranges().into_iter().map(|range| {
        let durations = blocks.durations()[range].iter();
        let away = durations.map(|&ns| ns as f64 - units.offset_ns);
        away.map(|away| away * away).sum::<f64>()
    });
    let batches: Vec<(Cluster, f64)> = units.clusters.iter().copied().zip(squares).collect();
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

/// Of batches with their sums of squares.
fn deviation<'a>(batches: impl Iterator<Item = &'a (Cluster, f64)>) -> f64 {
    let (n, sum, squares) = batches.fold((0.0, 0.0, 0.0), |(n, s, q), (batch, squares)| {
        (n + batch.size, s + batch.total, q + squares)
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

/// Where the outer fences stand, in ranges between the quartiles.
const SEVERE: f64 = 3.0;

/// Samples outside the outer fences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outliers {
    /// Number of them on both sides.
    pub severe: usize,
    /// Number of samples above Q3 + 3 IQR.
    pub high_severe: usize,
    /// Share of all measured time spent in samples above Q3 + 3 IQR.
    pub high_severe_time: Ratio,
}

/// Tukey's outer fences of values of which there is one at least, with quartiles that are among them.
pub(crate) fn outer_fences(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share| lower_neighbour(&sorted, share);
    let (lower, upper) = (at(0.25), at(0.75));
    let reach = SEVERE * (upper - lower);
    (lower - reach, upper + reach)
}

/// Counts the outliers; `None` without samples.
///
/// The range between the quartiles counts as at least 1 ns, the resolution of
/// the data, so that a constant case is not all outliers.
pub fn outliers(sorted: &Sorted) -> Option<Outliers> {
    let (q1, q3) = (sorted.quantile_ns(0.25)?, sorted.quantile_ns(0.75)?);
    let range = (q3 - q1).max(1.0);
    let x = sorted.as_slice();
    let low_severe = x.partition_point(|&ns| (ns as f64) < q1 - SEVERE * range);
    let high_severe = x.len() - x.partition_point(|&ns| (ns as f64) <= q3 + SEVERE * range);
    let time = |part: &[u64]| part.iter().map(|&ns| ns as f64).sum::<f64>();
    let all = time(x);
    let share = if all > 0.0 {
        time(&x[x.len() - high_severe..]) / all
    } else {
        0.0
    };
    Some(Outliers {
        severe: low_severe + high_severe,
        high_severe,
        high_severe_time: Ratio(share),
    })
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
    fn squares_do_not_cancel() {
        let big = 1 << 50;
        let blocks = Blocks::from_blocks([(0, vec![big, big + 2, big + 4])]);
        assert_eq!(standard_deviation(&blocks, 1).unwrap().value.0, 2.0 / NS);
    }

    #[test]
    fn fences_by_hand() {
        // Quartiles 102 and 106, range 4: fences 90 and 118.
        let mut x = vec![100, 101, 102, 102, 103, 104, 105, 106, 106, 107, 108];
        assert_eq!(outliers(&Sorted::from_vec(x.clone())).unwrap().severe, 0);
        x.extend([89, 95, 113, 500]);
        x.extend([102, 102, 106, 106]);
        let o = outliers(&Sorted::from_vec(x.clone())).unwrap();
        assert_eq!((o.severe, o.high_severe), (2, 1));
        let all: u64 = x.iter().sum();
        assert!((o.high_severe_time.0 - 500.0 / all as f64).abs() < 1e-12);
    }

    #[test]
    fn constant_data_have_none() {
        assert_eq!(outliers(&Sorted::from_vec(vec![7; 9])).unwrap().severe, 0);
        assert_eq!(outliers(&Sorted::from_vec(vec![0])).unwrap().severe, 0);
    }
}
