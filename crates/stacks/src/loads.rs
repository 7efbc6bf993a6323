//! Loads on servers and services: each is started, loaded in rounds with the others, and ended. A round is a short load, so that
//! changes of the machine meet all cases alike.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::runner::Observer;
use keymark_bench::{
    Case, CaseId, CaseRecord, Clock, During as _, Ending, Error, Order, Plan, Provenance,
    ServerLoad, Stopped,
};
use keymark_load::{Asked, LoadSettings, Measurement};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Limit of rounds: more tell little more of their spread.
const MOST: u32 = 8;
/// Warm-up of a server that has been loaded before.
const WARM: Duration = Duration::from_millis(250);

/// Observer of loads, which is told whose comes next.
pub trait Watch: keymark_load::Observer {
    /// Receives the case of the next loads.
    fn begin(&mut self, case: &Case);
}

/// Servers or services that are loaded.
pub trait LoadFamily: Debug {
    /// Starts the server of a case, and divides the time of the case into rounds.
    ///
    /// # Errors
    /// When it cannot be started.
    fn begin<'s>(
        &'s self,
        case: &Case,
        plan: &Plan,
        driven_by: (&Client<'_>, &mut dyn Watch),
    ) -> Result<(Box<dyn UnderLoad + 's>, Rounds), Error>;

    /// Removes what was written for the run; returns what could not be removed.
    fn restore(&self) -> Vec<Error> {
        Vec::new()
    }
}

/// Server of one case, which keeps running between its rounds. It ends with the value.
pub trait UnderLoad {
    /// Loads it for one round.
    ///
    /// # Errors
    /// When the load cannot begin.
    fn load(
        &mut self,
        settings: &LoadSettings,
        driven_by: (&Client<'_>, &mut dyn Watch),
    ) -> Result<Driven, Error>;

    /// Adds what concerns all rounds together. `ended` is the reason of a server that has ended itself. Returns why the load
    /// was not the one that was asked for, if it was not.
    ///
    /// # Errors
    /// When that cannot be read.
    fn conclude(
        self: Box<Self>,
        load: &mut ServerLoad,
        ended: Option<&Error>,
        clock: &dyn Clock,
    ) -> Result<Option<Error>, Error>;
}

/// Division of a case's time into loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    number: u32,
    each: Duration,
}

impl Rounds {
    pub(crate) const fn one(duration: Duration) -> Self {
        Self {
            number: 1,
            each: duration,
        }
    }

    /// Rounds of at least the shortest duration: one where nothing else is measured meanwhile, and for a twin, whose waits do not
    /// drift with the machine.
    pub(crate) fn of(plan: &Plan, case: &Case, duration: Duration, shortest: Duration) -> Self {
        let alone = plan.cases.len() == 1 || plan.settings.order == Order::Sequential;
        let is_one = alone || case.provenance == Provenance::Twin;
        let number = (duration.as_millis() / shortest.as_millis()) as u32;
        let number = number.clamp(1, if is_one { 1 } else { MOST });
        Self {
            number,
            each: duration / number,
        }
    }

    /// Settings of one round of a case.
    fn settings(self, of: &LoadSettings, case: &Case, (round, seed): (u32, u64)) -> LoadSettings {
        LoadSettings {
            load: case.load,
            duration: self.each,
            seed,
            round,
            warm_up: if round == 0 { of.warm_up } else { WARM },
            ..of.clone()
        }
    }

    fn are_too_short(self, settled: Option<Duration>) -> bool {
        self.number > 1 && settled.is_none_or(|settled| settled > self.each / 2)
    }

    /// Single load in place of all rounds but the first.
    fn joined(self) -> Self {
        Self::one(self.each * (self.number - 1))
    }
}

/// Result of one load, or of several in a row.
#[derive(Debug)]
pub struct Driven {
    /// The figures.
    pub(crate) load: ServerLoad,
    /// Time until the last load was settled, if it was.
    pub(crate) settled: Option<Duration>,
    /// Why the server has ended or the load is another one, if so.
    pub(crate) ended: Option<Error>,
}

/// keymark's own client, as it drives the loads of a run.
#[derive(Debug, Clone)]
pub struct Client<'a> {
    /// Settings of each load, apart from those of its case.
    pub settings: LoadSettings,
    /// Source of all times.
    pub clock: &'a dyn Clock,
    /// Ends the run when it is set.
    pub interrupt: &'a AtomicBool,
}

impl Client<'_> {
    /// Drives one load.
    pub(crate) fn drive<'t>(
        &self,
        asked: impl Into<Asked<'t>>,
        settings: &LoadSettings,
        observer: &mut dyn keymark_load::Observer,
    ) -> Result<Measurement, Error> {
        let until = (self.clock, self.interrupt);
        keymark_load::run(asked, settings, until, observer).during("loading the server")
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Fills in the records of the cases that have not ended, round by round, in an order drawn anew for each: one load at a time,
    /// since two at once would be in each other's way.
    pub fn run(
        &self,
        family: &dyn LoadFamily,
        plan: &Plan,
        records: &mut [CaseRecord],
        (observer, watch): (&mut dyn Observer, &mut dyn Watch),
    ) {
        let mut left: Vec<usize> = (0..records.len())
            .filter(|index| records[*index].ending.is_none())
            .collect();
        let mut order = ChaCha8Rng::seed_from_u64(plan.settings.seed);
        let mut under_way: BTreeMap<usize, UnderWay<'_>> = BTreeMap::new();
        let mut end = |index: usize, load: Result<Driven, Error>, observer: &mut dyn Observer| {
            let record = &mut records[index];
            record.ending = Some(ending(&load, self));
            record.server_load = load.ok().map(|driven| Box::new(driven.load));
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
                if self.is_interrupted() {
                    break;
                }
                let case = &plan.cases[index];
                watch.begin(case);
                let its = match under_way.remove(&index) {
                    Some(its) => Ok(its),
                    None => {
                        observer.preparing(CaseId::at(index), case);
                        let begun = family.begin(case, plan, (self, &mut *watch));
                        begun.map(UnderWay::new)
                    }
                };
                let at = (round, plan.settings.seed.wrapping_add(round.into()));
                let turned = its.and_then(|mut its| {
                    let goes_on = its.turn(case, at, (self, &mut *watch))?;
                    Ok((its, goes_on))
                });
                match turned {
                    Ok((its, true)) => {
                        under_way.insert(index, its);
                        left.push(index);
                    }
                    Ok((its, false)) => end(index, its.conclude(self.clock), observer),
                    Err(error) => end(index, Err(error), observer),
                }
            }
        }
        // Interrupted: what was measured of them is kept.
        for (index, its) in under_way {
            end(index, its.conclude(self.clock), observer);
        }
    }
}

/// Server under load, with its results so far.
struct UnderWay<'s> {
    server: Box<dyn UnderLoad + 's>,
    rounds: Rounds,
    driven: Option<Driven>,
}

impl<'s> UnderWay<'s> {
    fn new((server, rounds): (Box<dyn UnderLoad + 's>, Rounds)) -> Self {
        Self {
            server,
            rounds,
            driven: None,
        }
    }

    /// Adds one load to those that there were.
    fn drive(
        &mut self,
        case: &Case,
        round: (u32, u64),
        (client, watch): (&Client<'_>, &mut dyn Watch),
    ) -> Result<&Driven, Error> {
        let settings = self.rounds.settings(&client.settings, case, round);
        let mut driven = self.server.load(&settings, (client, watch))?;
        if let Some(before) = self.driven.take() {
            driven.load = before.load.then(driven.load);
        }
        Ok(self.driven.insert(driven))
    }

    /// Loads it in one round; whether it has to have another one.
    fn turn(
        &mut self,
        case: &Case,
        (round, seed): (u32, u64),
        (client, watch): (&Client<'_>, &mut dyn Watch),
    ) -> Result<bool, Error> {
        let rounds = self.rounds;
        let mut driven = self.drive(case, (round, seed), (client, &mut *watch))?;
        let goes_on = driven.ended.is_none() && !client.is_interrupted();
        if round == 0 && goes_on && rounds.are_too_short(driven.settled) {
            // The rest of its time goes to one load that can settle.
            self.rounds = rounds.joined();
            self.driven = None;
            driven = self.drive(case, (0, seed), (client, watch))?;
        }
        Ok(driven.ended.is_none() && round + 1 < self.rounds.number)
    }

    fn conclude(self, clock: &dyn Clock) -> Result<Driven, Error> {
        let none = || Error::call("loading the server", "interrupted", "");
        let mut driven = self.driven.ok_or_else(none)?;
        let load = &mut driven.load;
        let other = self.server.conclude(load, driven.ended.as_ref(), clock)?;
        if driven.ended.is_some() {
            // Its log says why, and what its processes took is lost with them.
            load.server_cpu_ns = None;
            load.drained_ns = None;
            load.steady = None;
            load.unsteady = Some("the server has ended".to_owned());
        }
        driven.ended = driven.ended.or(other);
        Ok(driven)
    }
}

fn ending(load: &Result<Driven, Error>, client: &Client<'_>) -> Ending {
    match load {
        Ok(Driven {
            ended: Some(error), ..
        }) => Ending::failed(error.to_string()),
        // What fails then does so because it was to end.
        _ if client.is_interrupted() => Stopped::Interrupted.into(),
        Err(error) => error.clone().into(),
        Ok(Driven { load, .. }) if load.totals.transactions == 0 => {
            Ending::failed(why_nothing(load))
        }
        Ok(_) => Stopped::RuleMet.into(),
    }
}

/// Most frequent failure of a load without a success.
fn why_nothing(load: &ServerLoad) -> String {
    let failures = load.failures();
    let most = failures.iter().max_by_key(|(_, count)| **count);
    most.map_or_else(
        || "no transaction finished before the load ended".to_owned(),
        |(class, count)| {
            format!(
                "no transaction succeeded: {count} of {} {class}",
                load.totals.failed
            )
        },
    )
}
