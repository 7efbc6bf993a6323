//! Drift over the run of a case.
//!
//! Test: Mann, "Nonparametric Tests Against Trend", 1945, and Kendall, "Rank
//! Correlation Methods", 4th ed. 1975, ch. 4, with the tie correction and the
//! continuity correction. Size: slope of Theil 1950 and Sen, "Estimates of the
//! Regression Coefficient Based on Kendall's Tau", 1968. Both on the medians
//! of blocks, so that outliers and correlation inside a block do not matter.

use serde::{Deserialize, Serialize};

use crate::blocks::{Blocks, MIN_BATCHES, MIN_BLOCKS};
use crate::estimate::Ratio;
use crate::quantile::median;
use crate::special::normal_two_sided;

/// Both methods look at all pairs, so more blocks than this are joined.
const MAX_POINTS: usize = 400;

/// A monotone trend over the case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Change from the first to the last block as a share of the median
    /// (0.05: five per cent slower at the end).
    pub relative_change: Ratio,
    /// Two-sided probability of such a trend without drift.
    pub p_value: f64,
}

/// Trend of the block medians; `None` with fewer than eight blocks, unless all
/// is one contiguous block, which is cut into batches.
pub fn drift(blocks: &Blocks) -> Option<Drift> {
    let (units, min) = match blocks.block_count() {
        1 => (blocks.len(), MIN_BATCHES),
        count => (count, MIN_BLOCKS),
    };
    if units < min {
        return None;
    }
    let ranges = blocks.ranges(min, MAX_POINTS);
    let medians = ranges
        .into_iter()
        .map(|r| median_of(&blocks.durations()[r]));
    let medians = medians.collect::<Option<Vec<f64>>>()?;
    let centre = median(&mut medians.clone())?;
    let change = theil_sen(&medians)? * (medians.len() - 1) as f64;
    Some(Drift {
        relative_change: Ratio(if centre > 0.0 { change / centre } else { 0.0 }),
        p_value: mann_kendall(&medians),
    })
}

fn median_of(durations: &[u64]) -> Option<f64> {
    median(&mut durations.iter().map(|&ns| ns as f64).collect::<Vec<_>>())
}

/// Median slope (a step) over all pairs.
fn theil_sen(y: &[f64]) -> Option<f64> {
    let mut slopes: Vec<f64> = pairs(y).map(|(gap, rise)| rise / gap).collect();
    median(&mut slopes)
}

/// (j − i, yⱼ − yᵢ) for all i < j.
fn pairs(y: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    (0..y.len()).flat_map(move |i| (i + 1..y.len()).map(move |j| ((j - i) as f64, y[j] - y[i])))
}

/// Two-sided p-value of the Mann-Kendall test.
fn mann_kendall(y: &[f64]) -> f64 {
    let sign = |rise: f64| f64::from(i8::from(rise > 0.0) - i8::from(rise < 0.0));
    let s: f64 = pairs(y).map(|(_, rise)| sign(rise)).sum();
    let term = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted
        .chunk_by(|a, b| a.total_cmp(b).is_eq())
        .map(|tie| term(tie.len() as f64))
        .sum();
    let variance = (term(y.len() as f64) - ties) / 18.0;
    if variance <= 0.0 {
        return 1.0;
    }
    normal_two_sided((s.abs() - 1.0).max(0.0) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mann_kendall_by_hand() {
        // Strictly rising, n = 10: S = 45, Var = 125, z = 44/√125 = 3.9355, p = 8.30e-5.
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        assert!((mann_kendall(&rising) - 8.30e-5).abs() < 1e-7);
        // Ties: 1 1 2 2 has S = 4, Var = (156 − 2·18)/18 = 20/3, z = 3/2.582.
        let p = mann_kendall(&[1.0, 1.0, 2.0, 2.0]);
        assert!((p - normal_two_sided(3.0 / (20.0_f64 / 3.0).sqrt())).abs() < 1e-12);
        assert!((mann_kendall(&[3.0; 9]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn slope_ignores_an_outlier() {
        let y = [1.0, 2.0, 3.0, 100.0, 5.0, 6.0, 7.0];
        assert!((theil_sen(&y).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ten_per_cent_drift() {
        let blocks = Blocks::from_blocks((0..51).map(|i| (i, vec![9500 + 20 * u64::from(i); 3])));
        let d = drift(&blocks).unwrap();
        assert!((d.relative_change.0 - 0.1).abs() < 1e-9);
        assert!(d.p_value < 1e-6);
        assert_eq!(
            drift(&Blocks::from_blocks((0..7).map(|i| (i, vec![1; 50])))),
            None
        );
        assert!(drift(&Blocks::from_blocks([(0, vec![5; 100])])).is_some());
    }
}
