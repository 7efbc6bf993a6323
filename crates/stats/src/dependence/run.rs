//! The dependence of blocks over the cases of one run.

use super::*;
use crate::blocks::Blocks;

/// The dependence of neighboring blocks, as the cases of a run show it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunDependence {
    /// Priors for 1, 2, 4, … rounds between two blocks.
    by_distance: Vec<Weights>,
}

impl RunDependence {
    /// Returns the dependence in one run. A single case shows nothing besides itself.
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

    /// Returns the prior for blocks at a distance in rounds; `None` means blocks without rounds.
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
        Some(Self {
            rounds: blocks.iter().map(|(round, _)| round).collect(),
            means: blocks.means(),
            distance: blocks.distance()?,
        })
    }

    /// Returns the likelihood of ρ at a distance; `None` if blocks lie farther apart or are too few. All ways to thin
    /// them say the same again, so that they count as one.
    fn at(&self, distance: f64) -> Option<Thinned<'_>> {
        let stride = (distance / self.distance).round() as usize;
        if stride == 0 || self.means.len() < MIN_UNITS * stride {
            return None;
        }
        let phases = stride.min(MOST_PHASES);
        let mut log_likelihood = [0.0; GRID];
        for phase in 0..phases {
            let from = phase * stride / phases;
            let units = self.means[from..].iter().step_by(stride);
            let units: Vec<f64> = units.copied().collect();
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
    /// Returns the slowness of each stretch of the run for the case, in standard deviations; `None` where it was not
    /// visited.
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
        let (mean, squares) = mean_and_squares(&there);
        let deviation = (squares / (there.len() as f64 - 1.0)).sqrt();
        let scaled = |value| (deviation > 0.0).then(|| (value - mean) / deviation);
        means.map(|value| value.and_then(scaled))
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

/// Returns the number of cases that say as much as an independent one: 1 where they have nothing in common, all where
/// they have everything.
fn design_effect(cases: &[Thinned<'_>]) -> f64 {
    let rounds = || cases.iter().flat_map(|case| &case.visits.rounds).copied();
    let (Some(first), Some(last)) = (rounds().min(), rounds().max()) else {
        return 1.0;
    };
    let by_stretch = |case: &Thinned<'_>| case.by_stretch((first, last));
    let stretches: Vec<_> = cases.iter().map(by_stretch).collect();
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
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::resample::normal;

    /// Cases of that number of blocks, a share of whose noise they share; neighbors have this correlation.
    fn run(seed: u64, cases: usize, blocks: u32, lag1: f64, shared: f64) -> Vec<Blocks> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut states = vec![0.0; cases + 1];
        let mut run = vec![Blocks::default(); cases];
        for round in 0..blocks {
            for state in &mut states {
                *state = lag1 * *state + (1.0 - lag1 * lag1).sqrt() * normal(&mut rng);
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
