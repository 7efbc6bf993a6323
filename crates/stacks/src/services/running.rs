//! A service that runs, from its program to its end.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::{
    Case, Clock, Error, MonotonicClock, Plan, ServerLoad, ServiceCpu, nanoseconds,
};
use keymark_load::{LoadSettings, Service, ask};
use keymark_stores::places::process::TICK;
use keymark_stores::store::KeyStore;
use procfs::{CurrentSI as _, KernelStats};

use super::Services;
use super::agents::Agents;
use crate::gnupg::Gnupg;
use crate::gnupg::homes::GnupgHomes;
use crate::loads::{Client, Driven, LoadFamily, Rounds, UnderLoad, Watch};
use crate::tls::Keys;
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::running::{Served, on_port};

/// Shortest round: ten clients of a service that takes tenths of a second settle late.
const SHORTEST: Duration = Duration::from_secs(8);

/// Services that are loaded.
#[derive(Debug)]
pub struct ServiceLoads {
    /// The services, installed or running.
    pub services: Services,
    /// The devices.
    pub keys: Vec<Keys>,
    /// Homes of gpg, for services that sign by it.
    pub homes: OnceCell<GnupgHomes>,
}

impl ServiceLoads {
    /// Store of a case's key.
    pub(super) fn store(&self, case: &Case) -> Result<&Arc<dyn KeyStore>, Error> {
        Ok(Keys::of_case(&self.keys, case)?.store())
    }

    /// Homes of gpg, made when they are first asked for.
    pub(super) fn homes(&self) -> Result<&GnupgHomes, Error> {
        if let Some(made) = self.homes.get() {
            return Ok(made);
        }
        let made = GnupgHomes::new(Gnupg::find(None)?)?;
        Ok(self.homes.get_or_init(|| made))
    }
}

impl LoadFamily for ServiceLoads {
    fn begin<'s>(
        &'s self,
        case: &Case,
        plan: &Plan,
        (client, _): (&Client<'_>, &mut dyn Watch),
    ) -> Result<(Box<dyn UnderLoad + 's>, Rounds), Error> {
        let running = match &self.services {
            Services::Started(found) => found.start(case, self)?,
            Services::Running(authority) => authority.running(),
        };
        let rounds = Rounds::of(plan, case, client.settings.duration, SHORTEST);
        Ok((Box::new(running), rounds))
    }

    fn restore(&self) -> Vec<Error> {
        Keys::restore_all(&self.keys)
    }
}

impl UnderLoad for RunningService {
    fn load(
        &mut self,
        settings: &LoadSettings,
        (client, watch): (&Client<'_>, &mut dyn Watch),
    ) -> Result<Driven, Error> {
        let before = self.processor_time();
        let measured = client.drive(&self.service, settings, watch)?;
        let process = self.process.as_mut();
        let ended = process.and_then(|process| process.check().err());
        let settled = measured.settled;
        let mut load = measured.record(self.told.clone());
        let after = self.processor_time().filter(|_| ended.is_none());
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
        self: Box<Self>,
        load: &mut ServerLoad,
        ended: Option<&Error>,
        _: &dyn Clock,
    ) -> Result<Option<Error>, Error> {
        let has_failed = ended.is_some() || load.totals.failed > 0;
        if let Some(process) = self.process.filter(|_| has_failed) {
            load.log = process.log_end();
        }
        Ok(None)
    }
}

/// Limit until it answers.
const READY: Duration = Duration::from_secs(30);

/// Running service. It ends with the value, its agents after it.
#[derive(Debug)]
pub(crate) struct RunningService {
    /// Its process, if keymark started it.
    pub(crate) process: Option<Served>,
    pub(crate) service: Service,
    /// Everything about it, for the record.
    pub(crate) told: BTreeMap<String, String>,
    pub(crate) agents: Option<Agents>,
}

impl RunningService {
    /// Starts it at a free port, and waits for a right answer. `configured` writes what it needs into its directory.
    pub(crate) fn start(
        name: &'static str,
        service: Service,
        configured: impl Fn(&ServerDirectory, u16) -> Result<Command, Error>,
    ) -> Result<Self, Error> {
        let process = on_port(None, |port| {
            let directory = ServerDirectory::empty()?;
            let mut command = configured(&directory, port)?;
            command.env("HOME", directory.private.path());
            Served::start(command, directory, name, (port, READY), |address| {
                right(&Service {
                    address,
                    ..service.clone()
                })
            })
        })?;
        let service = Service {
            address: process.address,
            ..service
        };
        Ok(Self {
            process: Some(process),
            service,
            told: BTreeMap::from([("server".to_owned(), name.to_owned())]),
            agents: None,
        })
    }

    pub(crate) fn tell(&mut self, name: &str, value: impl ToString) {
        self.told.insert(name.to_owned(), value.to_string());
    }

    /// Processor time until now, if its processes are known: the service's own, with what it has started; and that around it.
    fn processor_time(&self) -> Option<(Duration, ServiceCpu)> {
        let process = self.process.as_ref()?;
        let agents = self.agents.as_ref().map(Agents::processor_time);
        let around = ServiceCpu {
            agent_ns: agents.map(nanoseconds),
            machine_ns: nanoseconds(machine()),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
        };
        Some((process.cpu_time(), around))
    }
}

/// Checks one answer of a service.
fn right(service: &Service) -> Result<(), String> {
    let (clock, stop) = (MonotonicClock::new(), AtomicBool::new(false));
    let answer = ask(service, (&clock, &stop));
    let (number, answer) = answer.map_err(|error| error.to_string())?;
    let checked = service.exchange.check(number, &answer);
    checked.map_err(|wrong| format!("not as expected: {wrong}"))
}

/// Time in which this machine's processors did anything, in steps of 10 ms (proc_stat(5)).
fn machine() -> Duration {
    let ticks = KernelStats::current().map_or(0, |stats| {
        let all = stats.total;
        let interrupts = all.irq.unwrap_or(0) + all.softirq.unwrap_or(0);
        all.user + all.nice + all.system + interrupts
    });
    TICK * u32::try_from(ticks).unwrap_or(u32::MAX)
}
