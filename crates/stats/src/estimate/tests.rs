//! What the methods compute holds its value by itself, before it is widened to.

use proptest::prelude::*;

use super::Estimate;
use crate::{Blocks, RunDependence, Sorted, Window, mean, quantile, ratio, spread, throughput};

fn any_blocks() -> impl Strategy<Value = Blocks> {
    let duration = prop_oneof![0..50_u64, 1_000..2_000_u64, 1..10_000_000_000_u64];
    let blocks = prop::collection::vec(prop::collection::vec(duration, 1..20), 1..30);
    blocks.prop_map(|blocks| Blocks::from_blocks((0..).zip(blocks)))
}

/// As many completions in the time of each block as it has samples.
fn windows(blocks: &Blocks) -> Vec<Window> {
    let window = |(round, durations): (u32, &[u64])| Window {
        completed: durations.iter().map(|_| 1.0).sum(),
        length_ns: durations.iter().sum::<u64>().max(1),
        round,
    };
    blocks.iter().map(window).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    #[test]
    fn bounds_hold_the_value_before_they_are_widened(
        x in any_blocks(),
        y in any_blocks(),
        p in 0.0..1.0_f64,
        seed in any::<u64>(),
    ) {
        let computed = [
            mean::computed(&x, &RunDependence::default(), seed),
            spread::computed(&x, seed),
            quantile::computed(&x, &Sorted::of(&x), p, &RunDependence::default()),
            throughput::computed(&windows(&x), &RunDependence::default(), seed),
            ratio::computed_independent(&x, &y, seed),
            ratio::computed_paired(&x, &y, seed),
        ];
        for Estimate { value, low, high, method, .. } in computed.into_iter().flatten() {
            prop_assert!(low.is_none_or(|low| low <= value), "{method}: {low:?}, {value}");
            prop_assert!(high.is_none_or(|high| value <= high), "{method}: {value}, {high:?}");
        }
    }
}
