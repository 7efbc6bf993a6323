//! One case after the other: a server is started, driven, and ended.

use std::num::{NonZeroU16, NonZeroU32};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::case::{Case, CaseId, Pacing};
use keymark_bench::clock::Clock;
use keymark_bench::error::Error;
use keymark_bench::plan::Plan;
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::Observer;
use keymark_bench::server_load::Saturation;
use keymark_load::{
    Certificate, Demand, Expected, Fingerprint, Measurement, Progress, Settings, Target, Weak,
    nanoseconds,
};

use super::cluster::{Cluster, Starting};
use super::handshake::{Arrangement, Fate, Handshake, Saturating};
use super::key_use::KeyUse;
use super::keys::Keys;
use super::outcome::{self, Loaded};
use super::saturating;

/// Connections that an open loop may have at once.
pub(super) const IN_FLIGHT: NonZeroU32 = NonZeroU32::new(1000).unwrap();
/// So long a server may be busy, after a load, with what nobody waits for.
const DRAIN: Duration = Duration::from_secs(120);

/// Who watches a load while it lasts.
pub trait Watch {
    /// At most four times a second.
    fn progress(&mut self, case: &Case, progress: &Progress);
}

/// keymark's own client, as it drives the loads of a run.
#[derive(Debug, Clone, Copy)]
pub struct Client<'a> {
    /// Length of each load that counts.
    pub duration: Duration,
    /// Its threads.
    pub threads: NonZeroU32,
    /// Whether it accepts weak keys.
    pub weak: Weak,
    /// All time comes from here.
    pub clock: &'a dyn Clock,
    /// Ends the run.
    pub interrupt: &'a AtomicBool,
}

impl Client<'_> {
    /// One load.
    pub(super) fn drive(
        &self,
        target: &Target,
        demand: Demand,
        (duration, seed): (Duration, u64),
        observer: &mut Told<'_>,
    ) -> Result<Measurement, Error> {
        let settings = Settings {
            threads: self.threads,
            seed,
            weak: self.weak,
            ..Settings::new(demand, duration)
        };
        let until = (self.clock, self.interrupt);
        keymark_load::run(target, &settings, until, observer)
            .map_err(|error| Error::call("loading the server", error, ""))
    }
}

/// What cases are measured with.
#[derive(Debug)]
pub struct Measuring<'a> {
    /// The devices, one as often as servers are to have keys of their own.
    pub keys: &'a [Keys],
    /// How servers are started.
    pub starting: Starting<'a>,
    /// Who loads them.
    pub client: Client<'a>,
}

impl Measuring<'_> {
    /// Length of a load on the way to a server's limits.
    pub fn step(duration: Duration) -> Duration {
        saturating::step(duration)
    }

    /// Measures the cases of the plan one after the other: two loads at once would be in each other's way.
    pub fn run(
        &self,
        plan: &Plan,
        observer: &mut dyn Observer,
        watch: &mut dyn Watch,
    ) -> Vec<CaseRecord> {
        one_after_the_other(plan, self.client.interrupt, observer, |case| {
            self.load(case, plan.settings.seed, watch)
        })
    }

    fn load(&self, case: &Case, seed: u64, watch: &mut dyn Watch) -> Result<Loaded, Error> {
        let mut cluster = self.start(case)?;
        let target = target(case, &cluster)?;
        let asked = Handshake::of(case)?;
        let (demand, saturation) = match asked.search {
            Some(Saturating { p99 }) => {
                let found = self.saturation(case, p99, &target, seed, watch, &mut cluster)?;
                let best = NonZeroU32::new(found.best_users).unwrap_or(NonZeroU32::MIN);
                (saturating::users(best), Some(found))
            }
            None => (saturating::demand(case.load), None),
        };
        let key_use = KeyUse::begin(
            case,
            self.keys_of(case)?,
            &cluster,
            (self.client.clock, seed),
        )?;
        let before = cluster.processor_time()?;
        let mut observer = Told::of(case, watch);
        if let Arrangement::Balanced {
            fate: Fate::OneKilled,
            ..
        } = asked.arrangement
        {
            observer.killing = Some((&mut cluster, self.client.duration / 2));
        }
        let measured =
            self.client
                .drive(&target, demand, (self.client.duration, seed), &mut observer);
        let killed = observer.killed.transpose();
        let (measured, killed) = (measured?, killed?);
        let processor = cluster.processor_time()?.saturating_sub(before);
        // One that has ended answers nobody: its log says why, and what its processes took is lost with them.
        let ended = cluster.check().err();
        let handshakes = measured.handshakes();
        let mut load = measured.record(cluster.describe());
        load.saturation = saturation;
        load.killed_ns = killed.map(nanoseconds);
        load.log = cluster.log_end();
        if ended.is_none() {
            load.server_cpu_ns = Some(nanoseconds(processor));
            // Of one whose key is so slow nobody knows more than that.
            load.drained_ns = Some(nanoseconds(cluster.drain(DRAIN).unwrap_or(DRAIN)));
            // The drain ends with a handshake.
            key_use.end(handshakes + 1, &cluster, self.client.clock, &mut load)?;
        } else {
            load.steady = None;
            load.unsteady = Some("the server has ended".to_owned());
        }
        Ok(Loaded { load, ended })
    }

    fn saturation(
        &self,
        case: &Case,
        p99: Option<Duration>,
        target: &Target,
        seed: u64,
        watch: &mut dyn Watch,
        cluster: &mut Cluster,
    ) -> Result<Saturation, Error> {
        let mut seeds = seed..;
        saturating::search(case.load.concurrency, p99, |demand| {
            let step = saturating::step(self.client.duration);
            // The same pauses and arrivals each time would be no chance.
            let seed = seeds.next().unwrap_or(seed);
            let mut observer = Told::of(case, watch);
            let measured = self
                .client
                .drive(target, demand, (step, seed), &mut observer)?;
            cluster.check()?;
            let _ = cluster.drain(DRAIN);
            if self.client.interrupt.load(Ordering::Relaxed) {
                return Err(Error::call(
                    "looking for the server's limits",
                    "interrupted",
                    "",
                ));
            }
            Ok(measured)
        })
    }

    fn keys_of(&self, case: &Case) -> Result<&Keys, Error> {
        let mut devices = self.keys.iter();
        let keys = devices.find(|keys| keys.identity().device == case.device);
        keys.ok_or_else(|| {
            let reason = format!("{} is not a device of the plan", case.device);
            Error::call("starting a server", reason, "")
        })
    }

    fn start(&self, case: &Case) -> Result<Cluster, Error> {
        let of_device = |keys: &&Keys| keys.identity().device == case.device;
        let keys: Vec<&Keys> = self.keys.iter().filter(of_device).collect();
        let asked = Handshake::of(case)?;
        self.starting
            .start(case, &keys, connections(case, asked.search))
    }
}

/// The cases of a plan, each loaded when the one before is over.
pub(super) fn one_after_the_other(
    plan: &Plan,
    interrupt: &AtomicBool,
    observer: &mut dyn Observer,
    mut load: impl FnMut(&Case) -> Result<Loaded, Error>,
) -> Vec<CaseRecord> {
    let mut records = Vec::with_capacity(plan.cases.len());
    for (index, case) in plan.cases.iter().enumerate() {
        let id = CaseId::at(index);
        let mut record = CaseRecord::new(case.clone());
        if !interrupt.load(Ordering::Relaxed) {
            observer.preparing(id, case);
            let load = load(case);
            record.ending = Some(outcome::ending(&load, interrupt));
            record.server_load = load.ok().map(|loaded| Box::new(loaded.load));
            observer.finished(id, &record);
        }
        records.push(record);
    }
    records
}

/// What clients ask for. Where a certificate is the only one it is pinned; else its key is what tells it.
fn target(case: &Case, cluster: &Cluster) -> Result<Target, Error> {
    let asked = Handshake::of(case)?;
    let mut certificates = cluster.first.spec.certificates.iter();
    let alone = asked.arrangement == Arrangement::One;
    let certificate = match certificates.next().map(|one| one.certificate.to_der()) {
        Some(Ok(der)) if alone => Certificate::Pinned(Fingerprint::of(&der)),
        Some(Err(error)) => return Err(Error::call("i2d_X509", error, "")),
        Some(Ok(_)) | None => Certificate::Key(case.algorithm),
    };
    Ok(Target {
        address: cluster.address(),
        server_name: "localhost".to_owned(),
        path: cluster.first.path(),
        expected: Expected {
            version: asked.version,
            key_exchange: asked.key_exchange,
            certificate,
            body: Some(case.input_bytes.into()),
        },
    })
}

/// Passes on what a load tells, and kills a server when it is time.
pub(super) struct Told<'a> {
    case: &'a Case,
    watch: &'a mut dyn Watch,
    killing: Option<(&'a mut Cluster, Duration)>,
    killed: Option<Result<Duration, Error>>,
}

impl<'a> Told<'a> {
    pub(super) fn of(case: &'a Case, watch: &'a mut dyn Watch) -> Self {
        Self {
            case,
            watch,
            killing: None,
            killed: None,
        }
    }
}

impl keymark_load::Observer for Told<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.watch.progress(self.case, progress);
        if let Some((cluster, _)) = self.killing.take_if(|(_, when)| progress.elapsed >= *when) {
            self.killed = Some(cluster.kill_one().map(|()| progress.elapsed));
        }
    }
}

/// Room for all users, and for those who come while others leave.
fn connections(case: &Case, search: Option<Saturating>) -> NonZeroU16 {
    let with_arrivals = search.is_some_and(|search| search.p99.is_some());
    let users = match case.load.pacing {
        Pacing::Closed | Pacing::Thinking(_) if !with_arrivals => case.concurrency(),
        Pacing::Open(_) | Pacing::Closed | Pacing::Thinking(_) => IN_FLIGHT.get(),
    };
    let room = users.saturating_mul(2).clamp(256, 16_384);
    NonZeroU16::new(room as u16).unwrap_or(NonZeroU16::MAX)
}
