//! Loads of services: each is started, driven in rounds with the others, and ended.

use std::sync::atomic::Ordering;

use keymark_bench::case::{Case, Provenance};
use keymark_bench::error::Error;
use keymark_bench::plan::{Order, Plan};
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::Observer;
use keymark_bench::server_load::ServerLoad;
use keymark_load::nanoseconds;

use super::running::Running;
use super::{FAMILY, Installed, Means};
use crate::gnupg::homes::GnupgHomes;
use crate::tls::measuring::{Client, Told, Watch};
use crate::tls::outcome::Loaded;
use crate::tls::rounds::{Loads, Rounds, Stretch, Turn, in_rounds};
use crate::tls::{Keys, saturating};

/// What cases are measured with.
#[derive(Debug)]
pub struct Measuring<'a> {
    /// Those that are installed.
    pub services: &'a Installed,
    /// The devices.
    pub keys: &'a [Keys],
    /// Homes of gpg, for services that sign by it.
    pub homes: &'a GnupgHomes,
    /// Who loads them.
    pub client: Client<'a>,
}

impl Measuring<'_> {
    /// Fills in the records of the plan's cases that are services, in rounds, one load at a time.
    pub fn run(
        &self,
        plan: &Plan,
        records: &mut [CaseRecord],
        observer: &mut dyn Observer,
        watch: &mut dyn Watch,
    ) {
        let stacks = (FAMILY.stacks)();
        let cases = plan.cases.iter().enumerate();
        let own = cases.filter(|(_, case)| stacks.contains(&case.stack));
        let own = own.map(|(index, _)| index).collect();
        let mut loading = Loading {
            measuring: self,
            plan,
            watch,
        };
        let interrupt = self.client.interrupt;
        in_rounds(&mut loading, plan, own, records, (interrupt, observer));
    }
}

/// The loads of a run, with who watches them.
struct Loading<'a> {
    measuring: &'a Measuring<'a>,
    plan: &'a Plan,
    watch: &'a mut dyn Watch,
}

/// A service that runs, and what it has shown.
struct UnderWay {
    running: Running,
    rounds: Rounds,
    load: Option<ServerLoad>,
    ended: Option<Error>,
}

impl Loads for Loading<'_> {
    type UnderWay = UnderWay;

    fn begin(&mut self, case: &Case) -> Result<UnderWay, Error> {
        let all = self.measuring;
        let mut devices = all.keys.iter();
        let keys = devices.find(|keys| keys.identity().device == case.device);
        let keys = keys.ok_or_else(|| {
            let reason = format!("{} is not a device of the plan", case.device);
            Error::call("starting a service", reason, "")
        })?;
        let means = Means {
            keys,
            homes: all.homes,
        };
        let (duration, order) = (all.client.duration, self.plan.settings.order);
        // What waits for a token does not drift with the machine, and settles slowly.
        let whole = order == Order::Sequential
            || self.plan.cases.len() == 1
            || keys.identity().provenance == Provenance::Twin;
        Ok(UnderWay {
            running: all.services.start(case, &means)?,
            rounds: if whole {
                Rounds::one(duration)
            } else {
                Rounds::of(duration)
            },
            load: None,
            ended: None,
        })
    }

    fn turn(&mut self, case: &Case, its: &mut UnderWay, round: u32) -> Result<Turn, Error> {
        let seed = self.plan.settings.seed.wrapping_add(round.into());
        let settled = self.drive(case, its, its.rounds.stretch(round, seed))?;
        let ended = self.measuring.client.interrupt.load(Ordering::Relaxed);
        if round == 0 && !ended && its.ended.is_none() && its.rounds.are_too_short(settled) {
            // What is left of its time goes to one load that can settle.
            its.rounds = its.rounds.joined();
            its.load = None;
            self.drive(case, its, its.rounds.stretch(0, seed))?;
        }
        let goes_on = its.ended.is_none() && round + 1 < its.rounds.number;
        Ok(if goes_on { Turn::Again } else { Turn::Over })
    }

    fn conclude(&self, its: UnderWay) -> Result<Loaded, Error> {
        let none = || Error::call("loading the service", "interrupted", "");
        let mut load = its.load.ok_or_else(none)?;
        if its.ended.is_some() || load.totals.failed > 0 {
            load.log = its.running.process.log_end();
        }
        if its.ended.is_some() {
            load.server_cpu_ns = None;
            load.steady = None;
            load.unsteady = Some("the service has ended".to_owned());
        }
        Ok(Loaded {
            load,
            ended: its.ended,
        })
    }
}

impl Loading<'_> {
    /// One load, behind those that there were; when it was settled.
    fn drive(
        &mut self,
        case: &Case,
        its: &mut UnderWay,
        stretch: Stretch,
    ) -> Result<Option<std::time::Duration>, Error> {
        let before = its.running.processor_time()?;
        let demand = saturating::demand(case.load);
        let mut observer = Told::of(case, self.watch);
        let client = &self.measuring.client;
        let measured = client.drive(&its.running.service, demand, stretch, &mut observer)?;
        its.ended = its.running.process.check().err();
        let settled = measured.settled;
        let mut load = measured.record(its.running.told.clone());
        if its.ended.is_none() {
            let (own, around) = its.running.processor_time()?;
            load.server_cpu_ns = Some(nanoseconds(own.saturating_sub(before.0)));
            load.service_cpu = Some(around.since(&before.1));
        }
        its.load = Some(match its.load.take() {
            Some(before) => before.then(load),
            None => load,
        });
        Ok(settled)
    }
}
