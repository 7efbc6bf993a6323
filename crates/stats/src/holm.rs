//! Many tests at once: the probability of any false alarm is kept, not that of each.
//!
//! Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6
//! (1979): never weaker than Bonferroni's, and valid however the tests depend on each other.

/// The adjusted probabilities, in the same order: those below 5 % may be rejected together, with at most
/// 5 % for any false one among them. What is no number is never rejected.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let count = probabilities.len();
    let order = order(probabilities);
    let mut adjusted = vec![1.0; count];
    let mut largest = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        let left = (count - rank) as f64;
        largest = largest.max((sane(probabilities[at]) * left).min(1.0));
        adjusted[at] = largest;
    }
    adjusted
}

/// At which level each test is made in the end, in the same order: what is rejected at that of its step, and all that is not at
/// that of the first of them. A probability is below its level just where Holm's procedure rejects. So an interval of each
/// at 1 − its level says the same as the test; it holds its value with at least 1 − `risk`, and that any of them leaves
/// out a hypothesis that is true has at most `risk`. (Strassburger & Bretz, "Compatible simultaneous lower confidence
/// bounds for the Holm procedure and other Bonferroni-based closed tests", Statistics in Medicine 27, 2008, have the
/// same levels where nothing is rejected, and leave bounds of what is rejected at the hypothesis.)
pub fn holm_levels(probabilities: &[f64], risk: f64) -> Vec<f64> {
    let count = probabilities.len();
    let order = order(probabilities);
    let mut levels = vec![risk; count];
    let mut level = risk;
    let mut rejecting = true;
    for (rank, &at) in order.iter().enumerate() {
        if rejecting {
            level = risk / (count - rank) as f64;
            rejecting = sane(probabilities[at]) < level;
        }
        levels[at] = level;
    }
    levels
}

fn sane(p: f64) -> f64 {
    if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }
}

/// The smallest first.
fn order(probabilities: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| sane(probabilities[a]).total_cmp(&sane(probabilities[b])));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, and no less after that.
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - expected).abs() < 1e-12, "{adjusted:?}");
        }
    }

    #[test]
    fn levels_by_hand() {
        // 0.005 and 0.01 are below 0.05/4 and 0.05/3; 0.03 is not below 0.05/2, and nothing after it is asked.
        let levels = holm_levels(&[0.01, 0.04, 0.03, 0.005], 0.05);
        for (got, expected) in levels.iter().zip([0.05 / 3.0, 0.025, 0.025, 0.0125]) {
            assert!((got - expected).abs() < 1e-12, "{levels:?}");
        }
        assert_eq!(holm_levels(&[f64::NAN], 0.05), [0.05]);
    }

    proptest::proptest! {
        #[test]
        fn what_is_below_its_level_is_what_is_rejected(probabilities in proptest::collection::vec(0.0..0.2, 0..12)) {
            let levels = holm_levels(&probabilities, 0.05);
            for ((p, adjusted), level) in probabilities.iter().zip(holm(&probabilities)).zip(levels) {
                proptest::prop_assume!((adjusted - 0.05).abs() > 1e-9);
                proptest::prop_assert_eq!(*p < level, adjusted < 0.05);
                proptest::prop_assert!(level <= 0.05);
            }
        }
    }

    /// Ten values with normal errors of 1: how often any wrong difference is told, and how often a value is left out.
    #[test]
    fn intervals_at_these_levels_hold_their_values() {
        use crate::special::{t_quantile, t_sf};
        use rand::{RngExt, SeedableRng};
        // As good as normal.
        const FREEDOM: f64 = 1e6;
        const TIMES: usize = 300;
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for values in [
            [0.0; 10],
            [3.0, 3.0, 3.0, 3.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [4.0; 10],
        ] {
            let (mut wrong, mut missed) = (0, 0);
            for _ in 0..TIMES {
                let seen = values.map(|value| {
                    value + t_quantile(random.random_range(1e-9..1.0 - 1e-9), FREEDOM)
                });
                let levels = holm_levels(&seen.map(|seen| 2.0 * t_sf(seen.abs(), FREEDOM)), 0.05);
                let reach = |level: f64| t_quantile(1.0 - level / 2.0, FREEDOM);
                let each = || values.iter().zip(seen).zip(&levels);
                missed += each()
                    .filter(|((value, seen), level)| (seen - **value).abs() > reach(**level))
                    .count();
                let told = |((value, seen), level): ((&f64, f64), &f64)| {
                    *value == 0.0 && seen.abs() > reach(*level)
                };
                wrong += usize::from(each().any(told));
            }
            let share = |count: usize, of: usize| count as f64 / of as f64;
            assert!(share(wrong, TIMES) < 0.08, "{wrong}");
            assert!(share(missed, 10 * TIMES) < 0.05, "{missed}");
        }
    }

    #[test]
    fn one_test_stays_as_it_is_and_no_number_is_no_alarm() {
        assert_eq!(holm(&[0.04]), [0.04]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[f64::NAN, 0.9]), [1.0, 1.0]);
    }
}
