//! Cases of servers in rounds of short loads, in an order drawn anew for each, so that what the machine does meanwhile
//! meets all of them alike. Servers keep running between their turns.

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
}

impl Stretch {
    /// That of a case that has no other one.
    pub(crate) const fn alone(duration: Duration, seed: u64) -> Self {
        Self {
            duration,
            seed,
            round: 0,
            warm_up: Duration::from_secs(1),
        }
    }
}

/// How the time of a case is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rounds {
    pub(super) number: u32,
    each: Duration,
}

impl Rounds {
    pub(super) const fn one(duration: Duration) -> Self {
        Self {
            number: 1,
            each: duration,
        }
    }

    pub(super) fn of(duration: Duration) -> Self {
        let number = (duration.as_millis() / SHORTEST.as_millis()) as u32;
        let number = number.clamp(1, MOST);
        Self {
            number,
            each: duration / number,
        }
    }

    pub(super) fn stretch(self, round: u32, seed: u64) -> Stretch {
        let alone = Stretch::alone(self.each, seed);
        Stretch {
            round,
            warm_up: if round == 0 { alone.warm_up } else { WARM },
            ..alone
        }
    }

    /// Whether a load that settled then has too little left.
    pub(super) fn are_too_short(self, settled: Option<Duration>) -> bool {
        self.number > 1 && settled.is_none_or(|settled| settled > self.each / 2)
    }

    /// One load in place of all but the first.
    pub(super) fn joined(self) -> Self {
        Self::one(self.each * (self.number - 1))
    }
}

/// Whether a case has had all its loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Again,
    Over,
}

/// What is done for a case in its turns.
pub(super) trait Turns {
    /// What runs between them.
    type Started;

    /// Before the first.
    fn begin(&mut self, case: &Case) -> Result<Self::Started, Error>;

    /// One load.
    fn turn(&mut self, case: &Case, its: &mut Self::Started, round: u32) -> Result<Next, Error>;

    /// After the last.
    fn conclude(&mut self, its: Self::Started) -> Result<Loaded, Error>;
}

/// Gives each case its turns, round by round.
pub(super) fn run<T: Turns>(
    plan: &Plan,
    interrupt: &AtomicBool,
    observer: &mut dyn Observer,
    turns: &mut T,
) -> Vec<CaseRecord> {
    let records = plan.cases.iter().cloned().map(CaseRecord::new);
    let mut records: Vec<CaseRecord> = records.collect();
    let mut order = ChaCha8Rng::seed_from_u64(plan.settings.seed);
    let mut left: Vec<usize> = (0..records.len()).collect();
    let mut started: BTreeMap<usize, T::Started> = BTreeMap::new();
    let mut end = |index: usize, load: Result<Loaded, Error>, observer: &mut dyn Observer| {
        let record = &mut records[index];
        record.ending = Some(outcome::ending(&load, interrupt));
        record.server_load = load.ok().map(|loaded| Box::new(loaded.load));
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
            let its = started.remove(&index).map_or_else(
                || {
                    observer.preparing(CaseId::at(index), case);
                    turns.begin(case)
                },
                Ok,
            );
            let turned = its.and_then(|mut its| Ok((turns.turn(case, &mut its, round)?, its)));
            match turned {
                Ok((Next::Again, its)) => {
                    started.insert(index, its);
                    left.push(index);
                }
                Ok((Next::Over, its)) => end(index, turns.conclude(its), observer),
                Err(error) => end(index, Err(error), observer),
            }
        }
    }
    // Interrupted: what was measured of them is kept.
    for (index, its) in started {
        end(index, turns.conclude(its), observer);
    }
    records
}
