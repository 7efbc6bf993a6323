//! Loads of services: each is started, driven in rounds with the others, and ended.

use std::cell::OnceCell;
use std::time::Duration;

use keymark_bench::runner::Observer;
use keymark_bench::{Case, CaseRecord, Error, Plan, ServerLoad, nanoseconds};
use keymark_load::Settings;

use super::running::Running;
use super::{FAMILY, Services, StartContext};
use crate::gnupg::homes::GnupgHomes;
use crate::tls::Keys;
use crate::tls::measuring::{Client, Relay, Watch, keys_of};
use crate::tls::rounds::{Driven, Loads, Rounds, in_rounds};

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
        let seen_by = (&self.client, observer, watch);
        in_rounds(self, plan, own, records, seen_by);
    }
}

impl Loads for Measuring<'_> {
    type Server = Running;

    fn begin(
        &self,
        case: &Case,
        plan: &Plan,
        _: &mut dyn Watch,
    ) -> Result<(Running, Rounds), Error> {
        let running = match self.services {
            Services::Started(found) => {
                let means = StartContext {
                    keys: keys_of(self.keys, case)?,
                    homes: &self.homes,
                };
                found.start(case, &means)?
            }
            Services::Running(authority) => authority.running(),
        };
        let rounds = Rounds::of(plan, case, self.client.settings.duration, SHORTEST);
        Ok((running, rounds))
    }

    fn drive(
        &self,
        case: &Case,
        its: &mut Running,
        settings: Settings,
        watch: &mut dyn Watch,
    ) -> Result<Driven, Error> {
        let before = its.processor_time()?;
        let mut observer = Relay::of(case, watch);
        let measured = self.client.drive(&its.service, &settings, &mut observer)?;
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
