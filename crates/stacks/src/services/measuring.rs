//! Loads of services: each is started, driven in rounds with the others, and ended.

use std::cell::OnceCell;

use keymark_bench::case::{Case, Provenance};
use keymark_bench::error::Error;
use keymark_bench::plan::{Order, Plan};
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::Observer;
use keymark_bench::server_load::ServerLoad;
use keymark_load::nanoseconds;

use super::running::Running;
use super::{FAMILY, Means, Services};
use crate::gnupg::homes::GnupgHomes;
use crate::tls::measuring::{Client, Told, Watch, keys_of};
use crate::tls::rounds::{Driven, Loads, Rounds, Stretch, in_rounds};
use crate::tls::{Keys, saturating};

/// What cases are measured with.
#[derive(Debug)]
pub struct Measuring<'a> {
    /// Those that are installed.
    pub services: &'a Services,
    /// The devices.
    pub keys: &'a [Keys],
    /// Homes of gpg, for services that sign by it.
    pub homes: OnceCell<GnupgHomes>,
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

impl Loads for Loading<'_> {
    type Server = Running;

    fn begin(&mut self, case: &Case) -> Result<(Running, Rounds), Error> {
        let all = self.measuring;
        let running = match all.services {
            Services::Started(found) => {
                let means = Means {
                    keys: keys_of(all.keys, case)?,
                    homes: &all.homes,
                };
                found.start(case, &means)?
            }
            Services::Running(authority) => authority.running(),
        };
        let duration = all.client.duration;
        // What waits for a token does not drift with the machine, and settles slowly.
        let whole = self.plan.settings.order == Order::Sequential
            || self.plan.cases.len() == 1
            || case.provenance == Provenance::Twin;
        let rounds = if whole {
            Rounds::one(duration)
        } else {
            Rounds::of(duration)
        };
        Ok((running, rounds))
    }

    fn drive(&mut self, case: &Case, its: &mut Running, stretch: Stretch) -> Result<Driven, Error> {
        let before = its.processor_time()?;
        let demand = saturating::demand(case.load);
        let mut observer = Told::of(case, self.watch);
        let client = &self.measuring.client;
        let measured = client.drive(&its.service, demand, stretch, &mut observer)?;
        let process = its.process.as_mut();
        let ended = process.and_then(|process| process.check().err());
        let settled = measured.settled;
        let mut load = measured.record(its.told.clone());
        let after = if ended.is_none() {
            its.processor_time()?
        } else {
            None
        };
        if let (Some(before), Some((own, around))) = (before, after) {
            load.server_cpu_ns = Some(nanoseconds(own.saturating_sub(before.0)));
            load.service_cpu = Some(around.since(&before.1));
        }
        Ok(Driven {
            load,
            settled,
            ended,
        })
    }

    fn conclude(&self, its: Running, load: &mut ServerLoad, ended: bool) -> Result<(), Error> {
        if let Some(process) = its.process.filter(|_| ended || load.totals.failed > 0) {
            load.log = process.log_end();
        }
        Ok(())
    }
}
