//! Outliers by Tukey's fences ("Exploratory Data Analysis", 1977, §2C-2D):
//! mild beyond 1.5 and severe beyond 3 interquartile ranges from the quartiles.
//! They are counted and reported, never removed.

use serde::{Deserialize, Serialize};

use crate::quantile::{Sorted, lower_neighbour};
use crate::quantity::Ratio;

/// Where the outer fences stand, in ranges between the quartiles.
const SEVERE: f64 = 3.0;

/// Samples outside the fences. A severe outlier is not counted as mild too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outliers {
    /// Number of samples below Q1 − 3 IQR.
    pub low_severe: usize,
    /// Number of samples from Q1 − 3 IQR to Q1 − 1.5 IQR.
    pub low_mild: usize,
    /// Number of samples from Q3 + 1.5 IQR to Q3 + 3 IQR.
    pub high_mild: usize,
    /// Number of samples above Q3 + 3 IQR.
    pub high_severe: usize,
    /// Share of all measured time spent in samples above Q3 + 3 IQR.
    pub high_severe_time: Ratio,
}

impl Outliers {
    /// Number of severe outliers on both sides.
    pub fn severe(&self) -> usize {
        self.low_severe + self.high_severe
    }

    /// Number of all outliers.
    pub fn total(&self) -> usize {
        self.severe() + self.low_mild + self.high_mild
    }
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
    let below = |fence: f64| x.partition_point(|&ns| (ns as f64) < fence);
    let above = |fence: f64| x.len() - x.partition_point(|&ns| (ns as f64) <= fence);
    let (low_severe, high_severe) = (below(q1 - SEVERE * range), above(q3 + SEVERE * range));
    let time = |part: &[u64]| part.iter().map(|&ns| ns as f64).sum::<f64>();
    let all = time(x);
    let share = if all > 0.0 {
        time(&x[x.len() - high_severe..]) / all
    } else {
        0.0
    };
    Some(Outliers {
        low_severe,
        low_mild: below(q1 - 1.5 * range) - low_severe,
        high_mild: above(q3 + 1.5 * range) - high_severe,
        high_severe,
        high_severe_time: Ratio(share),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_by_hand() {
        // Quartiles 102 and 106, range 4: fences 90, 96, 112, 118.
        let mut x = vec![100, 101, 102, 102, 103, 104, 105, 106, 106, 107, 108];
        assert_eq!(outliers(&Sorted::from_vec(x.clone())).unwrap().total(), 0);
        x.extend([89, 95, 113, 500]);
        x.extend([102, 102, 106, 106]);
        let o = outliers(&Sorted::from_vec(x.clone())).unwrap();
        assert_eq!(
            (o.low_severe, o.low_mild, o.high_mild, o.high_severe),
            (1, 1, 1, 1)
        );
        let all: u64 = x.iter().sum();
        assert!((o.high_severe_time.0 - 500.0 / all as f64).abs() < 1e-12);
    }

    #[test]
    fn constant_data_have_none() {
        assert_eq!(outliers(&Sorted::from_vec(vec![7; 9])).unwrap().total(), 0);
        assert_eq!(outliers(&Sorted::from_vec(vec![0])).unwrap().total(), 0);
    }
}
