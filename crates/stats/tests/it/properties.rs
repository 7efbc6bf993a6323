//! What must hold for any samples.

use keymark_stats::{
    Blocks, Estimate, Quantity, RunDependence, Sorted, Summary, independent, paired, quantile,
};
use proptest::prelude::*;

use crate::alone;

fn any_blocks() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let duration = prop_oneof![0..50_u64, 1_000..2_000_u64, 1..10_000_000_000_u64];
    prop::collection::vec(prop::collection::vec(duration, 1..20), 1..30)
}

fn blocks(of: &[Vec<u64>]) -> Blocks {
    Blocks::from_blocks((0..).zip(of.iter().cloned()))
}

fn sound<T: Quantity>(e: &Estimate<T>) {
    let value = e.value.to_f64();
    assert!(value.is_finite() && value >= 0.0);
    for bound in e.low.iter().chain(&e.high) {
        assert!(bound.to_f64().is_finite() && bound.to_f64() >= 0.0);
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    #[test]
    fn summary_is_sound(x in any_blocks(), seed in any::<u64>()) {
        let s = Summary::of(&blocks(&x), &RunDependence::default(), seed).unwrap();
        for e in [s.mean, s.median, s.p90].iter().chain(&s.p99) {
            sound(e);
        }
        for e in [s.median, s.p90].iter().chain(&s.p99) {
            prop_assert!(s.min <= e.value && e.value <= s.max);
        }
        prop_assert!(s.median.value <= s.p90.value);
        if let Some(p99) = s.p99 {
            prop_assert!(s.p90.value <= p99.value && p99.high.is_some());
        }
        prop_assert!(s.outliers.high_severe <= s.outliers.severe && s.outliers.severe <= s.n);
        if let Some(d) = s.drift {
            prop_assert!(d.relative_change.0.is_finite() && (0.0..=1.0).contains(&d.p_value));
        }
        let warnings = s.warnings();
        let kinds: std::collections::HashSet<_> =
            warnings.iter().map(std::mem::discriminant).collect();
        prop_assert_eq!(kinds.len(), warnings.len(), "each is said once");
    }

    #[test]
    fn quantile_is_monotone(x in any_blocks(), p in 0.0..1.0_f64, q in 0.0..1.0_f64) {
        let b = blocks(&x);
        let sorted = Sorted::of(&b);
        let at = |p| quantile(&b, &sorted, p, &RunDependence::default()).unwrap().value;
        prop_assert!(at(p.min(q)) <= at(p.max(q)));
    }

    #[test]
    fn mean_scales(x in any_blocks(), seed in any::<u64>()) {
        let scaled: Vec<Vec<u64>> =
            x.iter().map(|b| b.iter().map(|ns| ns * 1024).collect()).collect();
        let (a, b) = (alone(&blocks(&x), seed), alone(&blocks(&scaled), seed));
        prop_assert!(close(a.value.0 * 1024.0, b.value.0));
        // Shifting by a whole offset rounds a little differently.
        if let (Some(low), Some(scaled)) = (a.high, b.high) {
            prop_assert!((low.0 * 1024.0 - scaled.0).abs() <= 1e-6 * scaled.0);
        }
    }

    #[test]
    fn mean_ignores_order_within_blocks(x in any_blocks(), seed in any::<u64>()) {
        // Fewer are cut.
        prop_assume!(x.len() >= 20);
        let reversed: Vec<Vec<u64>> =
            x.iter().map(|b| b.iter().rev().copied().collect()).collect();
        let (a, b) = (alone(&blocks(&x), seed), alone(&blocks(&reversed), seed));
        prop_assert!(close(a.value.0, b.value.0));
        prop_assert!((a.high.unwrap().0 - b.high.unwrap().0).abs() <= 1e-6 * a.high.unwrap().0);
    }

    #[test]
    fn ratios_are_sound(x in any_blocks(), y in any_blocks(), seed in any::<u64>()) {
        for f in [independent, paired] {
            if let Some(e) = f(&blocks(&x), &blocks(&y), seed) {
                prop_assert!(e.value.0.is_finite() && e.value.0 > 0.0);
                for bound in e.low.iter().chain(&e.high) {
                    prop_assert!(bound.0.is_finite() && bound.0 >= 0.0);
                }
            }
        }
    }
}

#[test]
fn tiny_and_constant_cases() {
    for n in [1, 2, 3, 7, 8, 50] {
        for x in [vec![vec![1000; n]], vec![vec![1000]; n], vec![vec![0; n]]] {
            let s = Summary::of(&blocks(&x), &RunDependence::default(), 1).unwrap();
            sound(&s.mean);
            assert_eq!((s.mean.value, s.median.value), (s.min, s.max));
            assert_eq!(s.mean.low.is_some(), n > 1);
            if n > 1 {
                assert_eq!((s.mean.low, s.mean.high), (Some(s.min), Some(s.max)));
                assert!(s.stddev.unwrap().0.abs() < 1e-18);
            }
            assert_eq!((s.groups, s.outliers.severe), (None, 0));
        }
    }
    assert!(Summary::of(&Blocks::default(), &RunDependence::default(), 1).is_none());
}
