//! One case after the other: a server is started, driven, and ended.

use std::num::{NonZeroU16, NonZeroU32};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::case::{Case, CaseId, KeyExchange, Pacing, TlsVersion};
use keymark_bench::clock::Clock;
use keymark_bench::error::Error;
use keymark_bench::plan::Plan;
use keymark_bench::record::{CaseRecord, Ending};
use keymark_bench::runner::Observer;
use keymark_bench::server_load::ServerLoad;
use keymark_bench::stop::Stopped;
use keymark_load::{
    Arrivals, Certificate, Context, Demand, Engine, Expected, Fingerprint, FirstThink, Progress,
    Settings, Spacing, Target, Think, Users, WeakSizes,
};
use keymark_servers::{
    BodySize, Capacity, Certificates, Handshakes, Port, RunningServer, ServerSpec, TokenWay, Weak,
};
use keymark_stats::PerSecond;

use super::keys::Keys;
use super::server::Servers;
use super::{of_server, outcome};

/// Connections that an open loop may have at once.
const IN_FLIGHT: NonZeroU32 = NonZeroU32::new(1000).unwrap();
/// So long a server may be busy, after a load, with what nobody waits for.
const DRAIN: Duration = Duration::from_secs(120);

/// Who watches a load while it lasts.
pub trait Watch {
    /// At most four times a second.
    fn progress(&mut self, case: &Case, progress: &Progress);
}

/// How servers are started.
#[derive(Debug, Clone, Copy)]
pub struct Starting<'a> {
    /// Those that are installed.
    pub servers: &'a Servers,
    /// Whether what has 80 bits of security may be there.
    pub weak: Weak,
    /// How OpenSSL gets at keys on tokens, if the user has chosen.
    pub way: Option<TokenWay>,
    /// Processes of each.
    pub processes: NonZeroU16,
    /// Where each listens.
    pub port: Port,
}

impl Starting<'_> {
    /// Starts the server of a case, with a key of that device.
    ///
    /// # Errors
    /// When it cannot be had, or does not start.
    pub fn start(&self, case: &Case, keys: &Keys) -> Result<RunningServer, Error> {
        let (version, exchange) = handshake_of(case)?;
        let installed = self.servers.get(case.stack)?;
        let identity = keys.certified(case.algorithm, installed, self.way)?;
        let handshakes = Handshakes::of(of_server(version, exchange)?);
        let spec = ServerSpec {
            weak: self.weak,
            capacity: Capacity {
                processes: self.processes,
                connections: connections(case),
            },
            port: self.port,
            body: BodySize(case.input_bytes),
            ..ServerSpec::new(Certificates::one(identity), handshakes)
        };
        Ok(RunningServer::start(installed, &spec)?)
    }
}

/// What cases are measured with.
#[derive(Debug)]
pub struct Measuring<'a> {
    /// The devices.
    pub keys: &'a [Keys],
    /// How servers are started.
    pub starting: Starting<'a>,
    /// Length of each load.
    pub duration: Duration,
    /// Threads of the client.
    pub threads: NonZeroU32,
    /// All time comes from here.
    pub clock: &'a dyn Clock,
    /// Ends the run.
    pub interrupt: &'a AtomicBool,
}

impl Measuring<'_> {
    /// Measures the cases of the plan one after the other: two loads at once would be in each other's way.
    pub fn run(
        &self,
        plan: &Plan,
        observer: &mut dyn Observer,
        watch: &mut dyn Watch,
    ) -> Vec<CaseRecord> {
        let mut records = Vec::with_capacity(plan.cases.len());
        for (index, case) in plan.cases.iter().enumerate() {
            let id = CaseId::at(index);
            let mut record = CaseRecord::new(case.clone());
            if !self.interrupt.load(Ordering::Relaxed) {
                observer.preparing(id, case);
                let load = self.load(case, plan.settings.seed, watch);
                record.ending = Some(self.ending(&load));
                record.server_load = load.ok().map(Box::new);
                observer.finished(id, &record);
            }
            records.push(record);
        }
        records
    }

    fn ending(&self, load: &Result<ServerLoad, Error>) -> Ending {
        let (stopped, reason) = match load {
            Err(error) => (Stopped::Failed, Some(error.to_string())),
            Ok(_) if self.interrupt.load(Ordering::Relaxed) => (Stopped::Interrupted, None),
            Ok(load) if load.totals.transactions == 0 => {
                (Stopped::Failed, Some(outcome::why_nothing(load)))
            }
            Ok(_) => (Stopped::RuleMet, None),
        };
        Ending {
            stopped,
            reason,
            code: load.as_ref().err().and_then(Error::code).cloned(),
        }
    }

    fn load(&self, case: &Case, seed: u64, watch: &mut dyn Watch) -> Result<ServerLoad, Error> {
        let mut server = self.start(case)?;
        let target = Self::target(case, &server)?;
        let settings = self.settings(case, &target, seed);
        let before = server.cpu_time()?;
        let mut observer = Told { case, watch };
        let mut context = Context {
            clock: self.clock,
            stop: self.interrupt,
            observer: &mut observer,
        };
        let measured = keymark_load::run(&target, &settings, &mut context);
        let measured = measured.map_err(|error| failed(&error))?;
        let processor = server.cpu_time()?.since(before).total();
        // One that has ended answers nobody: its log says why.
        server.check()?;
        // Of one whose key is so slow nobody knows more than that.
        let drained = server.drain(DRAIN).unwrap_or(DRAIN);
        outcome::of(&measured, &server, processor, drained)
    }

    fn start(&self, case: &Case) -> Result<RunningServer, Error> {
        let mut devices = self.keys.iter();
        let keys = devices.find(|keys| keys.identity().device == case.device);
        let keys = keys.ok_or_else(|| {
            let reason = format!("{} is none of the plan's devices", case.device);
            Error::call("starting a server", reason, "")
        })?;
        self.starting.start(case, keys)
    }

    fn target(case: &Case, server: &RunningServer) -> Result<Target, Error> {
        let (version, exchange) = handshake_of(case)?;
        let mut certificates = server.spec().certificates.iter();
        let certificate = match certificates.next().map(|one| one.certificate().to_der()) {
            Some(Ok(der)) => Certificate::Pinned(Fingerprint::of(&der)),
            Some(Err(error)) => return Err(Error::call("i2d_X509", error, "")),
            None => Certificate::Key(case.algorithm),
        };
        Ok(Target {
            address: server.address(),
            server_name: "localhost".to_owned(),
            path: server.path(),
            expected: Expected {
                version,
                key_exchange: exchange,
                cipher: None,
                certificate,
                body: Some(case.input_bytes.into()),
            },
        })
    }

    fn settings(&self, case: &Case, target: &Target, seed: u64) -> Settings {
        let users = |think| {
            Demand::Users(Users {
                count: case.load.concurrency,
                think,
                ramp: Duration::ZERO,
            })
        };
        let demand = match case.load.pacing {
            Pacing::Closed => users(Think::None),
            Pacing::Thinking(most) => users(Think::Uniform {
                most,
                first: FirstThink::Residual,
            }),
            Pacing::Open(rate) => Demand::Arrivals(Arrivals {
                rate: PerSecond(rate.per_second()),
                spacing: Spacing::Poisson,
                most_in_flight: IN_FLIGHT,
            }),
        };
        let weak = match self.starting.weak {
            Weak::Allowed => WeakSizes::Allowed,
            Weak::Refused => WeakSizes::Refused,
        };
        // A pinned certificate does not tell its key, on which the choice depends.
        let of_its_key = Expected {
            certificate: Certificate::Key(case.algorithm),
            ..target.expected.clone()
        };
        let engine = Engine::for_expected(&of_its_key, weak);
        Settings {
            threads: self.threads,
            seed,
            weak,
            engine: Some(engine),
            ..Settings::new(demand, self.duration)
        }
    }
}

/// Passes on what a load tells.
struct Told<'a> {
    case: &'a Case,
    watch: &'a mut dyn Watch,
}

impl keymark_load::Observer for Told<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.watch.progress(self.case, progress);
    }
}

fn handshake_of(case: &Case) -> Result<(TlsVersion, KeyExchange), Error> {
    let tls = case.parameters.tls();
    tls.ok_or_else(|| Error::call("starting a server", format!("{case} is no handshake"), ""))
}

/// Room for all users, and for those who come while others leave.
fn connections(case: &Case) -> NonZeroU16 {
    let users = match case.load.pacing {
        Pacing::Closed | Pacing::Thinking(_) => case.concurrency(),
        Pacing::Open(_) => IN_FLIGHT.get(),
    };
    let room = users.saturating_mul(2).clamp(256, 16_384);
    NonZeroU16::new(room as u16).unwrap_or(NonZeroU16::MAX)
}

fn failed(error: &keymark_load::Error) -> Error {
    Error::call("loading the server", error, "")
}
