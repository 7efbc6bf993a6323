//! Spread: standard deviation, extremes, and outliers by Tukey's outer fences ("Exploratory Data Analysis", 1977,
//! §2C-2D), 3 interquartile ranges from the quartiles; counted and reported, never removed.

use crate::blocks::Blocks;
use crate::estimate::{Ratio, Seconds};
use crate::quantile::{Sorted, lower_neighbour};

/// Returns the standard deviation (n − 1) of the durations; `None` below two samples.
pub(crate) fn standard_deviation(blocks: &Blocks) -> Option<Seconds> {
    let all = blocks.durations();
    let (first, n) = (*all.first()? as f64, all.len() as f64);
    // Squares of differences from the first one do not cancel.
    let away = || all.iter().map(|&ns| ns as f64 - first);
    let mean = away().sum::<f64>() / n;
    let squares: f64 = away().map(|away| (away - mean).powi(2)).sum();
    (all.len() > 1).then(|| Seconds::from_nanos((squares / (n - 1.0)).sqrt()))
}

/// Shortest and longest duration; `None` without samples.
pub(crate) fn extremes(sorted: &Sorted) -> Option<(Seconds, Seconds)> {
    let (first, last) = (sorted.as_slice().first()?, sorted.as_slice().last()?);
    Some((
        Seconds::from_nanos(*first as f64),
        Seconds::from_nanos(*last as f64),
    ))
}

/// Distance of the outer fences, in ranges between the quartiles.
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
pub(crate) fn outliers(sorted: &Sorted) -> Option<Outliers> {
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
        let deviation = standard_deviation(&blocks).unwrap();
        assert!((deviation.0 - (96.0 / 23.0_f64).sqrt() * 1e-9).abs() < 1e-18);
        assert_eq!(
            extremes(&Sorted::of(&blocks)),
            Some((Seconds(2e-9), Seconds(9e-9)))
        );
    }

    #[test]
    fn squares_do_not_cancel() {
        let big = 1 << 50;
        let blocks = Blocks::from_blocks([(0, vec![big, big + 2, big + 4])]);
        assert_eq!(standard_deviation(&blocks), Some(Seconds(2e-9)));
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
}
