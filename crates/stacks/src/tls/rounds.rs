//! How the time of a server's case is divided into rounds of short loads, so that what the machine does meanwhile meets all
//! cases alike.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::case::{Case, CaseId};
use keymark_bench::error::Error;
use keymark_bench::plan::{Order, Plan};
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::Observer;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::outcome::{self, Loaded};

/// Shorter loads have too little beside their beginning.
const SHORTEST: Duration = Duration::from_millis(2500);
/// More rounds tell little more of their spread.
const MOST: u32 = 8;
/// What a server that has been loaded before needs until it is settled again.
const WARM: Duration = Duration::from_millis(250);

/// One load of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) duration: Duration,
    pub(crate) seed: u64,
    pub(crate) round: u32,
    /// Before this nothing counts.
    pub(crate) warm_up: Duration,
    /// In which its users come.
    pub(crate) ramp: Duration,
}

impl Stretch {
    /// That of a case that has no other one.
    pub(crate) const fn alone(duration: Duration, seed: u64) -> Self {
        Self {
            duration,
            seed,
            round: 0,
            warm_up: Duration::from_secs(1),
            ramp: Duration::ZERO,
        }
    }
}

/// How the time of a case is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rounds {
    pub(crate) number: u32,
    each: Duration,
}

impl Rounds {
    pub(crate) const fn one(duration: Duration) -> Self {
        Self {
            number: 1,
            each: duration,
        }
    }

    pub(crate) fn of(duration: Duration) -> Self {
        let number = (duration.as_millis() / SHORTEST.as_millis()) as u32;
        let number = number.clamp(1, MOST);
        Self {
            number,
            each: duration / number,
        }
    }

    pub(crate) fn stretch(self, round: u32, seed: u64) -> Stretch {
        let alone = Stretch::alone(self.each, seed);
        Stretch {
            round,
            warm_up: if round == 0 { alone.warm_up } else { WARM },
            ..alone
        }
    }

    /// Whether a load that settled then has too little left.
    pub(crate) fn are_too_short(self, settled: Option<Duration>) -> bool {
        self.number > 1 && settled.is_none_or(|settled| settled > self.each / 2)
    }

    /// One load in place of all but the first.
    pub(crate) fn joined(self) -> Self {
        Self::one(self.each * (self.number - 1))
    }
}

/// Whether a case has another round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Again,
    Over,
}

/// Loads of cases, each on a server of its own that keeps running between its turns.
pub(crate) trait Loads {
    /// A server that runs, and what it has shown.
    type UnderWay;

    /// Starts it.
    fn begin(&mut self, case: &Case) -> Result<Self::UnderWay, Error>;

    /// Loads it for one round.
    fn turn(&mut self, case: &Case, its: &mut Self::UnderWay, round: u32) -> Result<Turn, Error>;

    /// Ends it.
    fn conclude(&self, its: Self::UnderWay) -> Result<Loaded, Error>;
}

/// Fills in the records of those cases of a plan, round by round, in an order drawn anew for each.
pub(crate) fn in_rounds(
    loads: &mut impl Loads,
    plan: &Plan,
    mut left: Vec<usize>,
    records: &mut [CaseRecord],
    (interrupt, observer): (&AtomicBool, &mut dyn Observer),
) {
    let mut order = ChaCha8Rng::seed_from_u64(plan.settings.seed);
    let mut under_way = BTreeMap::new();
    let mut end = |index: usize, load: Result<Loaded, Error>, observer: &mut dyn Observer| {
        let record = &mut records[index];
        outcome::note(record, load, interrupt);
        observer.finished(CaseId::at(index), record);
    };
    for round in 0.. {
        if left.is_empty() {
            break;
        }
        match plan.settings.order {
            Order::Sequential => {}
            Order::Interleaved => left.shuffle(&mut order),
        }
        for index in std::mem::take(&mut left) {
            if interrupt.load(Ordering::Relaxed) {
                break;
            }
            let case = &plan.cases[index];
            let its = under_way.remove(&index).map_or_else(
                || {
                    observer.preparing(CaseId::at(index), case);
                    loads.begin(case)
                },
                Ok,
            );
            let turned = its.and_then(|mut its| {
                let turn = loads.turn(case, &mut its, round)?;
                Ok((its, turn))
            });
            match turned {
                Ok((its, Turn::Again)) => {
                    under_way.insert(index, its);
                    left.push(index);
                }
                Ok((its, Turn::Over)) => end(index, loads.conclude(its), observer),
                Err(error) => end(index, Err(error), observer),
            }
        }
    }
    // Interrupted: what was measured of them is kept.
    for (index, its) in under_way {
        end(index, loads.conclude(its), observer);
    }
}
