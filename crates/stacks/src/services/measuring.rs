//! Loads of services: each is started, driven in rounds with the others, and ended.

use std::cell::OnceCell;
use std::time::Duration;

use keymark_bench::runner::Observer;
use keymark_bench::{Case, CaseRecord, Error, Plan, ServerLoad, nanoseconds};

use super::running::Running;
use super::{FAMILY, Means, Services};
use crate::gnupg::homes::GnupgHomes;
use crate::tls::Keys;
use crate::tls::measuring::{Client, Relay, Watch, keys_of};
use crate::tls::rounds::{Driven, Loads, Rounds, Stretch, in_rounds};

/// Ten clients of a service that takes tenths of a second settle late.
const SHORTEST: Duration = Duration::from_secs(8);

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
        let rounds = Rounds::of(self.plan, case, all.client.duration, SHORTEST);
        Ok((running, rounds))
    }

    fn drive(&mut self, case: &Case, its: &mut Running, stretch: Stretch) -> Result<Driven, Error> {
        let before = its.processor_time()?;
        let mut observer = Relay::of(case, self.watch);
        let client = &self.measuring.client;
        let measured = client.drive(&its.service, case.load, stretch, &mut observer)?;
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

    fn conclude(
        &self,
        its: Running,
        load: &mut ServerLoad,
        ended: Option<&Error>,
    ) -> Result<(), Error> {
        if let Some(process) = its
            .process
            .filter(|_| ended.is_some() || load.totals.failed > 0)
        {
            load.log = process.log_end();
        }
        Ok(())
    }
}
