//! Which correlations neighbouring blocks have in this run, before one case's own blocks are asked.
//!
//! Empirical Bayes: the distribution of ρ over the cases of a run is the one under which their blocks are most probable
//! (Kiefer & Wolfowitz, Ann. Math. Statist. 27, 1956), found by expectation and maximisation (Laird, JASA 73, 1978), and
//! smoothed by what is known without a run, which counts as one case more. Blocks depend on each other the
//! less the farther apart they are, so that cases are compared at equal distances: those that are visited more often
//! are thinned. Cases that see the same drift say the same: they count as so many as the variance of their sum
//! shows (design effect: Kish, "Survey Sampling", 1965, §5.4).

use crate::blocks::Blocks;
use crate::dependence::{GRID, MIN_UNITS, Series, normal_scores, relative, rho};

/// Beginnings at which a series is thinned, at most: more say the same again.
const MOST_PHASES: usize = 4;
/// Until the distribution no longer changes much.
const ITERATIONS: usize = 200;
/// Stretches of a run, in which cases are compared.
const STRETCHES: usize = 8;

/// How steeply what is known without a run falls towards ρ = 1: as little as keeps the interval of a single case of eight
/// blocks below twice Student's (`tests/it/coverage.rs`).
const UNKNOWN: f64 = 0.6;
/// The same of pairs that took turns: what comes from the machine cancels.
const PAIRS: f64 = 1.0;
/// The same of batches that a load's steady state is cut into: as much as holds the truth of simulated queues in 95 of 100
/// (`keymark-load`).
const BATCHES: f64 = 3.0;

/// Probabilities of the values of ρ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weights(pub(crate) [f64; GRID]);

impl Weights {
    /// Of neighbours of which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self::falling(UNKNOWN)
    }

    /// Of neighbouring pairs.
    pub(crate) fn of_pairs() -> Self {
        Self::falling(PAIRS)
    }

    /// Of neighbouring batches of one load, each longer than a few of its cycles.
    pub(crate) fn of_batches() -> Self {
        Self::falling(BATCHES)
    }

    fn falling(exponent: f64) -> Self {
        let weight = |place| (1.0 - rho(place)).powf(exponent);
        Self(std::array::from_fn(weight)).normalised()
    }

    /// These, given what a series says.
    pub(crate) fn given(&self, likelihood: &[f64; GRID]) -> Self {
        Self(std::array::from_fn(|place| {
            self.0[place] * likelihood[place]
        }))
        .normalised()
    }

    /// The expected ρ.
    pub(crate) fn mean(&self) -> f64 {
        let places = self.0.iter().enumerate();
        places.map(|(place, weight)| weight * rho(place)).sum()
    }

    fn normalised(mut self) -> Self {
        let all: f64 = self.0.iter().sum();
        self.0.iter_mut().for_each(|weight| *weight /= all);
        self
    }
}

/// What the cases of a run tell of how neighbouring blocks depend on each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunDependence {
    /// Where 1, 2, 4, … rounds lie between two blocks.
    by_distance: Vec<Weights>,
}

impl RunDependence {
    /// Of the cases of one run. Of a single case, nothing is known besides itself.
    pub fn of<'b>(cases: impl IntoIterator<Item = &'b Blocks>) -> Self {
        let cases: Vec<Visits> = cases.into_iter().filter_map(Visits::of).collect();
        if cases.len() < 2 {
            return Self::default();
        }
        let farthest = cases.iter().map(|case| place(case.distance)).max();
        let weights = |place| of_distance(&cases, f64::from(1 << place));
        Self {
            by_distance: (0..=farthest.unwrap_or_default()).map(weights).collect(),
        }
    }

    /// Of blocks that lie so many rounds apart; `None` of what has no rounds.
    pub(crate) fn at(&self, distance: Option<f64>) -> Weights {
        let known = distance.and_then(|distance| {
            let farthest = self.by_distance.last();
            self.by_distance.get(place(distance)).or(farthest)
        });
        known.copied().unwrap_or_else(Weights::unknown)
    }
}

/// The power of two that is nearest to a distance in rounds; no farther than a run has rounds.
fn place(distance: f64) -> usize {
    distance.max(1.0).log2().round().min(20.0) as usize
}

/// Mean durations of one case's blocks, with their rounds.
struct Visits {
    rounds: Vec<u32>,
    means: Vec<f64>,
    /// Between two of them, in rounds.
    distance: f64,
}

impl Visits {
    fn of(blocks: &Blocks) -> Option<Self> {
        let mean =
            |block: &[u64]| block.iter().map(|&ns| ns as f64).sum::<f64>() / block.len() as f64;
        let (rounds, means) = blocks
            .iter()
            .map(|(round, block)| (round, mean(block)))
            .unzip();
        let distance = blocks.distance()?;
        Some(Self {
            rounds,
            means,
            distance,
        })
    }

    /// What they say of ρ at a distance; `None` if they lie farther apart or are too few. Of all ways to thin them
    /// each says the same again, so that they count as one.
    fn at(&self, distance: f64) -> Option<Thinned<'_>> {
        let stride = (distance / self.distance).round() as usize;
        if stride == 0 || self.means.len() < MIN_UNITS * stride {
            return None;
        }
        let phases = stride.min(MOST_PHASES);
        let mut log_likelihood = [0.0; GRID];
        for phase in 0..phases {
            let from = phase * stride / phases;
            let units: Vec<f64> = self
                .means
                .iter()
                .skip(from)
                .step_by(stride)
                .copied()
                .collect();
            let said = Series::of(&units)?.log_likelihood;
            for (sum, log) in log_likelihood.iter_mut().zip(said) {
                *sum += log / phases as f64;
            }
        }
        Some(Thinned {
            visits: self,
            stride,
            likelihood: relative(log_likelihood),
        })
    }
}

struct Thinned<'v> {
    visits: &'v Visits,
    stride: usize,
    likelihood: [f64; GRID],
}

impl Thinned<'_> {
    /// How slow each stretch of the run was for the case, in standard deviations; nothing where it was not visited.
    fn by_stretch(&self, (first, last): (u32, u32)) -> [Option<f64>; STRETCHES] {
        let thinned =
            |values: &[f64]| -> Vec<f64> { values.iter().step_by(self.stride).copied().collect() };
        let scores = normal_scores(&thinned(&self.visits.means));
        let mut sums = [(0.0, 0.0); STRETCHES];
        for (round, score) in self.visits.rounds.iter().step_by(self.stride).zip(scores) {
            let share = f64::from(round - first) / (f64::from(last - first) + 1.0);
            let (sum, count) = &mut sums[(share * STRETCHES as f64) as usize];
            (*sum, *count) = (*sum + score, *count + 1.0);
        }
        let means = sums.map(|(sum, count)| (count > 0.0).then(|| sum / count));
        let there: Vec<f64> = means.iter().flatten().copied().collect();
        let n = there.len() as f64;
        let mean = there.iter().sum::<f64>() / n;
        let squares: f64 = there.iter().map(|x| (x - mean).powi(2)).sum();
        let deviation = (squares / (n - 1.0)).sqrt();
        means.map(|value| {
            value
                .filter(|_| deviation > 0.0)
                .map(|value| (value - mean) / deviation)
        })
    }
}

fn of_distance(cases: &[Visits], distance: f64) -> Weights {
    let thinned: Vec<Thinned<'_>> = cases.iter().filter_map(|case| case.at(distance)).collect();
    let unknown = Weights::unknown();
    let counts = 1.0 / design_effect(&thinned);
    let mut weights = unknown;
    for _ in 0..ITERATIONS {
        let mut sums = unknown.0;
        for case in &thinned {
            let posterior = weights.given(&case.likelihood);
            for (sum, weight) in sums.iter_mut().zip(posterior.0) {
                *sum += counts * weight;
            }
        }
        weights = Weights(sums).normalised();
    }
    weights
}

/// How many cases say what one of them would: 1 where they have nothing in common, all where they have everything.
fn design_effect(cases: &[Thinned<'_>]) -> f64 {
    let rounds = || cases.iter().flat_map(|case| &case.visits.rounds).copied();
    let (Some(first), Some(last)) = (rounds().min(), rounds().max()) else {
        return 1.0;
    };
    let stretches: Vec<_> = cases
        .iter()
        .map(|case| case.by_stretch((first, last)))
        .collect();
    // The sum over all cases in a stretch, whose square is as large as they are many, if they are independent.
    let squares = (0..STRETCHES).map(|stretch| {
        let there = stretches.iter().filter_map(|case| case[stretch]);
        let (sum, count) = there.fold((0.0, 0.0_f64), |(sum, count), value| {
            (sum + value, count + 1.0)
        });
        sum * sum / count.max(1.0)
    });
    let effect = squares.sum::<f64>() / (STRETCHES as f64 - 1.0);
    effect.clamp(1.0, (cases.len() as f64).max(1.0))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Cases of so many blocks, a share of whose noise they share; neighbours have this correlation.
    fn run(seed: u64, cases: usize, blocks: u32, lag1: f64, shared: f64) -> Vec<Blocks> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || {
            let (u, v): (f64, f64) = (rng.random(), rng.random());
            (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        };
        let mut states = vec![0.0; cases + 1];
        let mut run = vec![Blocks::default(); cases];
        for round in 0..blocks {
            for state in &mut states {
                *state = lag1 * *state + (1.0 - lag1 * lag1).sqrt() * normal();
            }
            for (case, own) in run.iter_mut().zip(&states[1..]) {
                let noise = shared.sqrt() * states[0] + (1.0 - shared).sqrt() * own;
                case.push(round, &[(1e6 * (0.1 * noise).exp()) as u64]);
            }
        }
        run
    }

    fn expected(run: &[Blocks], distance: f64) -> f64 {
        RunDependence::of(run).at(Some(distance)).mean()
    }

    #[test]
    fn many_cases_tell_what_one_cannot() {
        for lag1 in [0.0, 0.3, 0.6] {
            let found = expected(&run(1, 40, 16, lag1, 0.0), 1.0);
            assert!((found - lag1).abs() < 0.1, "{found} for {lag1}");
        }
        let unknown = Weights::unknown();
        assert_eq!(
            RunDependence::of(&run(1, 1, 16, 0.6, 0.0)).at(Some(1.0)),
            unknown
        );
        assert_eq!(
            RunDependence::of(&run(1, 40, 16, 0.6, 0.0)).at(None),
            unknown
        );
    }

    #[test]
    fn blocks_that_lie_far_apart_have_less_in_common() {
        let mut run = run(2, 20, 200, 0.7, 0.0);
        let seldom = run[0].iter().filter(|(round, _)| round.is_multiple_of(8));
        let seldom = seldom.map(|(round, block)| (round, block.to_vec()));
        run.push(Blocks::from_blocks(seldom));
        let (near, far) = (expected(&run, 1.0), expected(&run, 8.0));
        assert!((near - 0.7).abs() < 0.1 && far < 0.2, "{near} {far}");
    }

    #[test]
    fn cases_that_see_the_same_drift_count_as_few() {
        let effect = |shared| {
            let run = run(3, 20, 24, 0.0, shared);
            let visits: Vec<Visits> = run.iter().filter_map(Visits::of).collect();
            let thinned: Vec<_> = visits.iter().filter_map(|case| case.at(1.0)).collect();
            design_effect(&thinned)
        };
        let (none, half, all) = (effect(0.0), effect(0.5), effect(1.0));
        assert!(
            none < 3.0 && (5.0..16.0).contains(&half) && all > 19.0,
            "{none} {half} {all}"
        );
    }
}
