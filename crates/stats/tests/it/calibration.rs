//! Intervals hold what they promise: seeded simulations.

use keymark_stats::{
    BetweenRuns, Blocks, Estimate, LogRatio, Ratio, RunDependence, Seconds, difference, holm,
    independent, paired, paired_difference,
};
use rand::RngExt;

use crate::{Noise, alone, holds, share};

impl Noise {
    fn block(&mut self, log_level: f64, len: usize) -> Vec<u64> {
        (0..len)
            .map(|_| (1e6 * (log_level + 0.05 * self.normal()).exp()) as u64)
            .collect()
    }

    /// Blocks of 25 samples with block effects of 5 % that follow AR(1).
    fn case(&mut self, blocks: u32, correlation: f64) -> Blocks {
        let mut state = self.normal();
        Blocks::from_blocks((0..blocks).map(|round| {
            state = self.next(state, correlation);
            (round, self.block(0.05 * state, 25))
        }))
    }
}

/// Blocks of one operation with noise of 15 % that follows AR(1), a few of them three times slower.
fn disturbed(seed: u64, blocks: u32, correlation: f64, slow: f64) -> Blocks {
    let mut noise = Noise::new(5_000 + seed);
    let mut state = noise.normal();
    Blocks::from_blocks((0..blocks).map(|round| {
        state = noise.next(state, correlation);
        let factor = if noise.0.random::<f64>() < slow {
            3.0
        } else {
            1.0
        };
        let level = 1e6 * factor * (0.15 * state - 0.15 * 0.15 / 2.0).exp();
        (round, vec![level as u64])
    }))
}

#[test]
fn mean_covers_though_neighbours_are_alike_and_some_are_slow() {
    let (slow, rounds) = (0.04, 1_000);
    let truth = 1e-3 * (1.0 - slow + 3.0 * slow);
    for blocks in [12, 20, 40, 100] {
        let share = share(rounds, |&seed| {
            let case = disturbed(seed, blocks, 0.6, slow);
            holds(&alone(&case, seed), truth)
        });
        println!("mean, {blocks} dependent blocks: coverage {share}");
        assert!(share >= 0.88, "{blocks} blocks: {share}");
    }
}

/// Few long blocks of many operations, as several workers have them: a share of the noise of 15 % lasts for a block and
/// follows AR(1) from one to the next, the rest for a tenth of it. Slow states are as long.
fn long_blocks(seed: u64, blocks: u32, lasting: f64, correlation: f64) -> Blocks {
    let mut noise = Noise::new(8_000 + seed);
    let mut state = noise.normal();
    Blocks::from_blocks((0..blocks).map(|round| {
        state = noise.next(state, correlation);
        let mut durations = Vec::new();
        for _ in 0..10 {
            let spell = noise.normal();
            let slow = if noise.0.random::<f64>() < 0.04 {
                3.0
            } else {
                1.0
            };
            let level = 0.15 * (lasting.sqrt() * state + (1.0 - lasting).sqrt() * spell);
            let level = level - 0.15 * 0.15 / 2.0 - 0.05 * 0.05 / 2.0 + f64::ln(slow);
            durations.extend(noise.block(level, 8));
        }
        (round, durations)
    }))
}

#[test]
fn few_long_blocks_cover() {
    let (slow, rounds) = (0.04, 1_000);
    let truth = 1e-3 * (1.0 - slow + 3.0 * slow);
    for (lasting, correlation) in [(0.1, 0.0), (0.5, 0.0), (0.9, 0.0), (0.5, 0.6), (0.9, 0.6)] {
        for blocks in [5, 8, 12, 16] {
            let share = share(rounds, |&seed| {
                let case = long_blocks(seed, blocks, lasting, correlation);
                holds(&alone(&case, seed), truth)
            });
            println!("mean, {blocks} long blocks, {lasting} lasts, lag-1 {correlation}: {share}");
            assert!(share >= 0.92, "{blocks} blocks: {share}");
        }
    }
}

#[test]
fn ratios_cover_though_neighbours_are_alike_and_some_are_slow() {
    for correlation in [0.0, 0.3, 0.6] {
        for blocks in [8, 12, 20, 40, 100] {
            let share = share(1_000, |&seed| {
                let sides = [2 * seed, 2 * seed + 1];
                let [a, b] = sides.map(|seed| disturbed(seed, blocks, correlation, 0.04));
                holds(&paired(&a, &b, seed).unwrap(), 1.0)
            });
            println!("ratio, {blocks} blocks, lag-1 {correlation}: coverage {share}");
            assert!(share >= 0.92, "{blocks} blocks, {correlation}: {share}");
        }
    }
}

#[test]
fn independent_blocks_pay_little_for_it() {
    for (blocks, most) in [(20, 1.5), (40, 1.3), (100, 1.15)] {
        // The median: where chance makes neighbors alike, the widening is large.
        let widening = |seed| {
            let case = disturbed(seed, blocks, 0.0, 0.0);
            keymark_stats::Summary::of(&case, &RunDependence::default(), seed)
                .unwrap()
                .dependence
                .widening
        };
        let mut widenings: Vec<f64> = (0..301).map(widening).collect();
        widenings.sort_by(f64::total_cmp);
        let median = widenings[150];
        println!("{blocks} independent blocks: widened by {median}");
        assert!(median < most, "{blocks} blocks: {median}");
    }
}

fn share_called_different(mut pair: impl FnMut(u64) -> Estimate<Ratio>) -> f64 {
    share(300, |&seed| !holds(&pair(seed), 1.0))
}

/// Both cases share drift and the round's state; each has an effect of its own.
fn interleaved(seed: u64, rounds: u32, truth: f64) -> (Blocks, Blocks) {
    let mut noise = Noise::new(2000 + seed);
    let (mut a, mut b) = (Blocks::default(), Blocks::default());
    let mut state = 0.0;
    for round in 0..rounds {
        state = 0.9 * state + 0.05 * noise.normal();
        let shared = state + 0.2 * f64::from(round) / f64::from(rounds);
        let (own_a, own_b) = (0.01 * noise.normal(), 0.01 * noise.normal());
        let block = noise.block(shared + own_a + truth.ln(), 10);
        a.push(round, &block);
        let block = noise.block(shared + own_b, 10);
        b.push(round, &block);
    }
    (a, b)
}

#[test]
fn equal_cases_rarely_differ() {
    for count in [10, 30] {
        let apart = share_called_different(|seed| {
            let mut noise = Noise::new(1000 + seed);
            independent(&noise.case(count, 0.0), &noise.case(count, 0.0), seed).unwrap()
        });
        let in_turn = share_called_different(|seed| {
            let (a, b) = interleaved(seed, count, 1.0);
            paired(&a, &b, seed).unwrap()
        });
        println!("A/A, {count} blocks: independent {apart}, paired {in_turn}");
        assert!(
            apart <= 0.08 && in_turn <= 0.08,
            "{count}: {apart} {in_turn}"
        );
    }
}

/// The same machine, but one case is visited in every third round and the other in every fifth, and the first is
/// done before the other.
fn of_unequal_cost(seed: u64, truth: f64) -> (Blocks, Blocks) {
    let mut noise = Noise::new(4000 + seed);
    let (mut a, mut b) = (Blocks::default(), Blocks::default());
    let mut state = 0.0;
    for round in 0..250 {
        state = 0.9 * state + 0.05 * noise.normal();
        let shared = state + 0.2 * f64::from(round) / 250.0;
        if round % 3 == 0 && round < 200 {
            a.push(round, &noise.block(shared + truth.ln(), 3));
        }
        if round % 5 == 0 {
            b.push(round, &noise.block(shared, 3));
        }
    }
    (a, b)
}

#[test]
fn cases_of_unequal_cost_are_paired_without_false_alarms() {
    let mut narrower = 0;
    let share = share_called_different(|seed| {
        let (a, b) = of_unequal_cost(seed, 1.0);
        let e = paired(&a, &b, seed).unwrap();
        let width = |e: &Estimate<Ratio>| e.high.unwrap().0 - e.low.unwrap().0;
        narrower += u32::from(width(&e) < width(&independent(&a, &b, seed).unwrap()));
        e
    });
    println!("paired A/A of unequal cost: {share}, narrower in {narrower} of 300");
    assert!(share <= 0.08 && narrower > 270, "{share} {narrower}");
}

#[test]
fn the_paired_difference_covers() {
    let share = share(300, |&seed| {
        let (a, b) = interleaved(seed, 40, 1.25);
        let means = (alone(&a, seed), alone(&b, seed));
        let e = paired_difference((&means.0, &a), (&means.1, &b));
        // What both share moves the truth itself; the quarter is of what the lower took.
        let truth = 0.25 * means.1.value.0;
        let apart = difference(&means.0, &means.1);
        let width = |e: &Estimate<Seconds>| e.high.unwrap().0 - e.low.unwrap().0;
        assert!(width(&e) < width(&apart), "seed {seed}");
        holds(&e, truth)
    });
    println!("paired difference: coverage {share}");
    assert!(share >= 0.93, "{share}");
}

#[test]
fn ten_per_cent_is_found() {
    let share = share_called_different(|seed| {
        let (a, b) = interleaved(seed, 20, 1.1);
        let e = paired(&a, &b, seed).unwrap();
        assert!((e.value.0 - 1.1).abs() < 0.05);
        e
    });
    assert!(share > 0.97, "{share}");
    let share = share_called_different(|seed| {
        let mut noise = Noise::new(3000 + seed);
        let a = Blocks::from_blocks((0..30).map(|round| {
            let level = 1.1_f64.ln() + 0.05 * noise.normal();
            (round, noise.block(level, 25))
        }));
        independent(&a, &noise.case(30, 0.0), seed).unwrap()
    });
    assert!(share > 0.99, "{share}");
}

/// Standard deviation of a run's mean: what all its cases share, and what each has for itself. 12 % together.
const SHARED: f64 = 0.10;
const OWN: f64 = 0.066;
const CASES: usize = 20;

/// How the runs of two sides meet the machine.
#[derive(Clone, Copy)]
enum Meeting {
    Apart,
    Alternating,
}

/// Means of each case in that number of runs of two sides; one case of the second takes `factor` as long.
struct TwoSeries {
    meeting: Meeting,
    old: Vec<Vec<Seconds>>,
    new: Vec<Vec<Seconds>>,
}

impl TwoSeries {
    fn drawn(seed: u64, runs: usize, meeting: Meeting, factor: f64) -> Self {
        let mut noise = Noise::new(7_000 + seed);
        let mut moods = || -> Vec<f64> { (0..runs).map(|_| SHARED * noise.normal()).collect() };
        let before = moods();
        let after = match meeting {
            Meeting::Apart => moods(),
            Meeting::Alternating => before.clone(),
        };
        let mut side = |moods: &[f64], factor: f64| -> Vec<Vec<Seconds>> {
            let mut case = |number: usize| -> Vec<Seconds> {
                let level = if number == 0 { factor } else { 1.0 };
                let own = moods.iter().map(|mood| mood + OWN * noise.normal());
                own.map(|log| Seconds(1e-3 * level * log.exp())).collect()
            };
            (0..CASES).map(&mut case).collect()
        };
        let (old, new) = (side(&before, 1.0), side(&after, factor));
        Self { meeting, old, new }
    }

    fn ratio(&self, new: &[Seconds], old: &[Seconds]) -> Option<LogRatio> {
        match self.meeting {
            Meeting::Apart => LogRatio::between_runs(new, old),
            Meeting::Alternating => {
                let pairs = new.iter().copied().zip(old.iter().copied());
                LogRatio::of_pairs(&pairs.collect::<Vec<_>>())
            }
        }
    }

    /// Which cases are an alarm, all considered: one direction of a test at 5 %.
    fn alarms(&self, above: f64) -> Vec<bool> {
        let cases = self.new.iter().zip(&self.old);
        let probabilities: Vec<f64> = cases
            .map(|(new, old)| self.ratio(new, old).unwrap().p_slower_than(above))
            .collect();
        holm(&probabilities).iter().map(|p| *p < 0.025).collect()
    }
}

/// Shares of comparisons with any alarm, and with one for the first case.
fn alarms(runs: usize, meeting: Meeting, factor: f64, above: f64) -> (f64, f64) {
    const ROUNDS: u32 = 1_000;
    let (mut any, mut first) = (0, 0);
    for seed in 0..ROUNDS {
        let series = TwoSeries::drawn(seed.into(), runs, meeting, factor);
        let alarms = series.alarms(above);
        any += u32::from(alarms.contains(&true));
        first += u32::from(alarms[0]);
    }
    let share = |count| f64::from(count) / f64::from(ROUNDS);
    (share(any), share(first))
}

#[test]
fn equal_series_seldom_raise_any_alarm() {
    for runs in [3, 5, 10] {
        for meeting in [Meeting::Apart, Meeting::Alternating] {
            // Without noise to be on the safe side, and as --fail-above 5% has it.
            let (strict, _) = alarms(runs, meeting, 1.0, 0.0);
            let (five, _) = alarms(runs, meeting, 1.0, 0.05);
            println!(
                "A/A, {runs} runs a side, {CASES} cases: any alarm {strict}, above 5 % {five}"
            );
            assert!(
                strict <= 0.04 && five <= 0.04,
                "{runs} runs: {strict} {five}"
            );
        }
    }
}

#[test]
fn a_case_that_takes_two_fifths_longer_is_found() {
    for (runs, meeting, above, least) in [
        (5, Meeting::Apart, 0.10, 0.12),
        (10, Meeting::Apart, 0.10, 0.75),
        (5, Meeting::Alternating, 0.05, 0.50),
        (10, Meeting::Alternating, 0.05, 0.99),
    ] {
        let (_, found) = alarms(runs, meeting, 1.4, above);
        println!("40 % slower, {runs} runs a side: found in {found}");
        assert!(found >= least, "{runs} runs: {found}");
    }
}

#[test]
fn single_runs_that_differ_by_what_runs_do_are_not_told_apart() {
    let share = share(1_000, |&seed| {
        // Eight earlier runs tell by how much runs differ.
        let earlier = TwoSeries::drawn(50_000 + seed, 8, Meeting::Apart, 1.0);
        let machine = BetweenRuns::of(&earlier.old, 8);
        let single = TwoSeries::drawn(seed, 1, Meeting::Apart, 1.0);
        let cases = single.new.iter().zip(&single.old);
        let probabilities: Vec<f64> = cases
            .map(|(new, old)| {
                LogRatio::of_few(new, old, &machine, None)
                    .unwrap()
                    .p_differs_by(0.0)
            })
            .collect();
        holm(&probabilities).iter().any(|p| *p < 0.05)
    });
    println!("single runs, {CASES} cases: any called different {share}");
    assert!(share <= 0.05, "{share}");
}
