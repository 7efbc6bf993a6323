//! Verdicts agree with their intervals, and limits pass and fail as often as documented.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn no_verdict_contradicts_the_interval_beside_it(
        logs in proptest::collection::vec(proptest::collection::vec((-40_i32..40, -40_i32..40), 3), 3..6),
        effects in proptest::collection::vec(-60_i32..60, 3),
        noise in 0.0..0.1_f64,
        equivalence in 0.01..0.3_f64,
    ) {
        // Means of three cases in each run of both sides, in units of 0.5 %.
        let micro = |log: i32| ((f64::from(log) * 0.005).exp() * 100_000.0) as u64;
        let side = |new: bool| -> Vec<Vec<u64>> {
            let run = |run: &Vec<(i32, i32)>| {
                let cases = run.iter().zip(&effects);
                cases.map(|((a, b), effect)| micro(if new { *b + effect } else { *a })).collect()
            };
            logs.iter().map(run).collect()
        };
        let of = |means: &[Vec<u64>]| runs(None, &means.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let criteria = Criteria { noise: Noise::of(noise), equivalence };
        let comparison = Comparison::of(&sides(&[&of(&side(false)), &of(&side(true))]), BetweenRuns::ASSUMED, criteria);
        prop_assert_eq!(comparison.pairs.len(), 3);
        for pair in &comparison.pairs {
            let (low, high) = (pair.ratio.low.unwrap().0, pair.ratio.high.unwrap().0);
            prop_assert!(low <= pair.ratio.value.0 && pair.ratio.value.0 <= high);
            let most = 1.0 + equivalence;
            let told = match pair.verdict {
                PairVerdict::Slower => low > 1.0,
                PairVerdict::Faster => high < 1.0,
                PairVerdict::Same => low > 1.0 / most && high < most,
                PairVerdict::WithinNoise => noise > 0.0 && low <= 1.0 && 1.0 <= high,
                PairVerdict::Indistinguishable => low <= 1.0 && 1.0 <= high,
                PairVerdict::Unknown => false,
            };
            prop_assert!(told, "{} with {low} to {high}", pair.verdict);
        }
    }
}

/// Five pairs of runs, each a normal ratio with a deviation that gives intervals of ±3 %, against a limit of 5 %: how often
/// does an unchanged program pass, and one that is 10 % slower?
#[test]
fn an_unchanged_program_mostly_passes_and_a_slow_one_never() {
    use rand::{RngExt, SeedableRng};
    const TIMES: usize = 200;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(44);
    // The sum of twelve uniform numbers has a variance of 1.
    let mut normal = || (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0;
    let mut outcomes = |factor: f64| {
        let (mut passed, mut failed) = (0, 0);
        for _ in 0..TIMES {
            let means: Vec<[u64; 1]> = (0..5)
                .map(|_| [(100_000.0 * factor * (0.024 * normal()).exp()) as u64])
                .collect();
            let new: Vec<&[u64]> = means.iter().map(|mean| &mean[..]).collect();
            let old: Vec<&[u64]> = vec![&[100_000]; 5];
            let (old, new) = (runs(Some(("a", "b")), &old), runs(Some(("b", "a")), &new));
            match counts(&compared(&old, &new), 0.05) {
                (0, 0) => passed += 1,
                (1, _) => failed += 1,
                _ => {}
            }
        }
        (passed, failed)
    };
    let (passed, failed) = outcomes(1.0);
    assert!(passed > TIMES * 9 / 10 && failed == 0, "{passed} {failed}");
    let (passed, failed) = outcomes(1.10);
    assert!(passed == 0 && failed > TIMES / 2, "{passed} {failed}");
}
