//! Many tests at once: the probability of any false alarm is kept, not that of each.
//!
//! Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6
//! (1979): never weaker than Bonferroni's, and valid however the tests depend on each other.

use crate::num::Float;

/// The adjusted probabilities, in the same order: those below 5 % may be rejected together, with at most
/// 5 % for any false one among them. What is no number is never rejected.
#[must_use]
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let count = probabilities.len();
    let sane = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| sane(probabilities[a]).total_cmp(&sane(probabilities[b])));
    let mut adjusted = vec![1.0; count];
    let mut largest = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        let left = (count - rank).float();
        largest = largest.max((sane(probabilities[at]) * left).min(1.0));
        adjusted[at] = largest;
    }
    adjusted
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
    fn one_test_stays_as_it_is_and_no_number_is_no_alarm() {
        assert_eq!(holm(&[0.04]), [0.04]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[f64::NAN, 0.9]), [1.0, 1.0]);
    }
}
