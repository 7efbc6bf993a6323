//! How the time of a server's case is divided into rounds of short loads, so that what the machine does meanwhile meets all
//! cases alike.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use keymark_bench::runner::Observer;
use keymark_bench::{Case, CaseId, CaseRecord, Error, Order, Plan, Provenance, ServerLoad};
use keymark_load::Settings;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::measuring::{Client, Watch};
use super::outcome;

/// More rounds tell little more of their spread.
const MOST: u32 = 8;
/// What a server that has been loaded before needs until it is settled again.
const WARM: Duration = Duration::from_millis(250);

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

    /// Those of a case, none shorter than that: one where nothing else is measured meanwhile, and for what waits for a twin,
    /// which does not drift with the machine.
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

    /// Those of a case's load in that round.
    fn settings(self, of: &Settings, case: &Case, (round, seed): (u32, u64)) -> Settings {
        Settings {
            load: case.load,
            duration: self.each,
            seed,
            round,
            warm_up: if round == 0 { of.warm_up } else { WARM },
            ..of.clone()
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

/// A server under load, and what it has shown.
struct UnderWay<S> {
    server: S,
    rounds: Rounds,
    driven: Option<Driven>,
}

/// One load of a server, or all of them.
#[derive(Debug)]
pub(crate) struct Driven {
    pub(crate) load: ServerLoad,
    /// When the last one was settled.
    pub(crate) settled: Option<Duration>,
    /// How the server has ended, if it has.
    pub(crate) ended: Option<Error>,
}

/// Loads of cases, each on a server of its own that keeps running between its turns.
pub(crate) trait Loads {
    /// A server that runs.
    type Server;

    /// Starts it, and says how the time of its case is divided.
    fn begin(
        &self,
        case: &Case,
        plan: &Plan,
        watch: &mut dyn Watch,
    ) -> Result<(Self::Server, Rounds), Error>;

    /// Loads it for one round.
    fn drive(
        &self,
        case: &Case,
        server: &mut Self::Server,
        settings: Settings,
        watch: &mut dyn Watch,
    ) -> Result<Driven, Error>;

    /// Ends it; what is said of all its loads together. One that has ended itself answers nobody: how it did.
    fn conclude(
        &self,
        server: Self::Server,
        load: &mut ServerLoad,
        ended: Option<&Error>,
    ) -> Result<(), Error>;
}

impl<S> UnderWay<S> {
    /// One load, behind those that there were.
    fn drive(
        &mut self,
        loads: &impl Loads<Server = S>,
        case: &Case,
        settings: Settings,
        watch: &mut dyn Watch,
    ) -> Result<&Driven, Error> {
        let mut driven = loads.drive(case, &mut self.server, settings, watch)?;
        if let Some(before) = self.driven.take() {
            driven.load = before.load.then(driven.load);
        }
        Ok(self.driven.insert(driven))
    }

    /// Its load in one round; whether it has to have another one.
    fn turn(
        &mut self,
        loads: &impl Loads<Server = S>,
        case: &Case,
        (round, seed): (u32, u64),
        client: &Client<'_>,
        watch: &mut dyn Watch,
    ) -> Result<bool, Error> {
        let rounds = self.rounds;
        let settings = rounds.settings(&client.settings, case, (round, seed));
        let mut driven = self.drive(loads, case, settings, watch)?;
        let goes_on = driven.ended.is_none() && !client.interrupt.load(Ordering::Relaxed);
        if round == 0 && goes_on && rounds.are_too_short(driven.settled) {
            // What is left of its time goes to one load that can settle.
            self.rounds = rounds.joined();
            self.driven = None;
            let settings = self.rounds.settings(&client.settings, case, (0, seed));
            driven = self.drive(loads, case, settings, watch)?;
        }
        Ok(driven.ended.is_none() && round + 1 < self.rounds.number)
    }

    fn conclude(self, loads: &impl Loads<Server = S>) -> Result<Driven, Error> {
        let none = || Error::call("loading the server", "interrupted", "");
        let mut driven = self.driven.ok_or_else(none)?;
        let load = &mut driven.load;
        loads.conclude(self.server, load, driven.ended.as_ref())?;
        if driven.ended.is_some() {
            // Its log says why, and what its processes took is lost with them.
            load.server_cpu_ns = None;
            load.drained_ns = None;
            load.steady = None;
            load.unsteady = Some("the server has ended".to_owned());
        }
        Ok(driven)
    }
}

/// Fills in the records of those cases of a plan, round by round, in an order drawn anew for each.
pub(crate) fn in_rounds(
    loads: &impl Loads,
    plan: &Plan,
    mut left: Vec<usize>,
    records: &mut [CaseRecord],
    (client, observer, watch): (&Client<'_>, &mut dyn Observer, &mut dyn Watch),
) {
    let mut order = ChaCha8Rng::seed_from_u64(plan.settings.seed);
    let mut under_way = BTreeMap::new();
    let mut end = |index: usize, load: Result<Driven, Error>, observer: &mut dyn Observer| {
        let record = &mut records[index];
        outcome::note(record, load, client.interrupt);
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
            if client.interrupt.load(Ordering::Relaxed) {
                break;
            }
            let case = &plan.cases[index];
            let its = under_way.remove(&index).map_or_else(
                || {
                    observer.preparing(CaseId::at(index), case);
                    let (server, rounds) = loads.begin(case, plan, watch)?;
                    Ok(UnderWay {
                        server,
                        rounds,
                        driven: None,
                    })
                },
                Ok,
            );
            let at = (round, plan.settings.seed.wrapping_add(round.into()));
            let turned = its.and_then(|mut its| {
                let goes_on = its.turn(loads, case, at, client, watch)?;
                Ok((its, goes_on))
            });
            match turned {
                Ok((its, true)) => {
                    under_way.insert(index, its);
                    left.push(index);
                }
                Ok((its, false)) => end(index, its.conclude(loads), observer),
                Err(error) => end(index, Err(error), observer),
            }
        }
    }
    // Interrupted: what was measured of them is kept.
    for (index, its) in under_way {
        end(index, its.conclude(loads), observer);
    }
}
