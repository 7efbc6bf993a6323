//! Series: several runs of one plan, made by one call.

use std::ops::Range;
use std::time::Duration;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::RunId;

/// Name of a series: that of a run, with what tells two series of one call apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
#[derive(derive_more::Display)]
pub struct SeriesId(pub String);

impl SeriesId {
    /// Returns the id of a series that begins at `now`; the letter is that of its side, if two alternate.
    pub fn fresh(now: jiff::Timestamp, side: Option<char>) -> Self {
        let RunId(name) = RunId::fresh(now);
        Self(match side {
            Some(side) => format!("{name}-{side}"),
            None => name,
        })
    }
}

/// A run's place in its series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InSeries {
    /// The series.
    pub id: SeriesId,
    /// Number of the run in its series, from 0.
    pub number: u32,
    /// Planned number of runs.
    pub runs: u32,
    /// Pause before the run.
    pub pause: Duration,
    /// The series that it alternates with: runs of equal numbers are neighbors in time, and a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<SeriesId>,
}

/// Side of two alternating programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Running keymark.
    This,
    /// The other program.
    Other,
}

/// Run of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledRun {
    /// Side of the run.
    pub side: Side,
    /// Number of the run in its series, from 0.
    pub number: u32,
    /// Pause before the run.
    pub pause: Duration,
    /// Its seed: that of both runs of a pair, so that they do the same work in the same order.
    pub seed: u64,
}

/// Shortest and longest pause between runs, as multiples of the one that is asked for.
pub const PAUSES: Range<f64> = 0.5..1.5;

/// When which run is made: `runs` of each side. Between runs, or pairs of them, are pauses drawn uniformly from
/// [`PAUSES`] of `pause`, so that a series does not keep time with something else on the machine;
/// which side of a pair goes first is also drawn, and nothing is waited between the two.
pub fn schedule(runs: u32, sides: &[Side], pause: Duration, seed: u64) -> Vec<ScheduledRun> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut steps = Vec::new();
    for number in 0..runs {
        let mut order = sides.to_vec();
        order.shuffle(&mut rng);
        let drawn = pause.mul_f64(rng.random_range(PAUSES));
        for (place, side) in order.into_iter().enumerate() {
            steps.push(ScheduledRun {
                side,
                number,
                pause: if number > 0 && place == 0 {
                    drawn
                } else {
                    Duration::ZERO
                },
                seed: seed.wrapping_add(number.into()),
            });
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(4);

    #[test]
    fn a_series_pauses_between_its_runs_and_its_seeds_differ() {
        let steps = schedule(20, &[Side::This], PAUSE, 7);
        assert_eq!(steps, schedule(20, &[Side::This], PAUSE, 7), "seeded");
        assert_ne!(steps, schedule(20, &[Side::This], PAUSE, 8));
        assert_eq!(steps[0].pause, Duration::ZERO);
        let pauses: Vec<Duration> = steps[1..].iter().map(|step| step.pause).collect();
        let range = Duration::from_secs(2)..Duration::from_secs(6);
        assert!(
            pauses.iter().all(|pause| range.contains(pause)),
            "{pauses:?}"
        );
        assert_ne!(pauses[0], pauses[1]);
        assert!(steps.windows(2).all(|two| two[0].seed != two[1].seed));
    }

    #[test]
    fn pairs_are_neighbours_with_one_seed_and_either_goes_first() {
        let steps = schedule(20, &[Side::Other, Side::This], PAUSE, 7);
        assert_eq!(steps.len(), 40);
        let mut first = Vec::new();
        for pair in steps.chunks(2) {
            let [a, b] = pair else { panic!("{pair:?}") };
            assert_eq!((a.number, a.seed), (b.number, b.seed));
            assert_ne!(a.side, b.side);
            assert_eq!(b.pause, Duration::ZERO);
            first.push(a.side);
        }
        assert!(first.contains(&Side::This) && first.contains(&Side::Other));
    }
}
