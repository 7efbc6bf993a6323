//! Loads of servers: each is started, driven in rounds with the others, and ended.

use std::num::{NonZeroU16, NonZeroU32};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::runner::Observer;
use keymark_bench::{
    Case, CaseRecord, Clock, During as _, Error, Load, Pacing, Plan, Saturation, ServerLoad,
    nanoseconds,
};
use keymark_load::{
    Asked, Certificate, ClientLine, Expected, Fingerprint, Measurement, Progress, Settings, Target,
};

use super::cluster::{Cluster, Starting};
use super::handshake::{Arrangement, Fate, Handshake, Saturating};
use super::key_use::KeyUse;
use super::keys::Keys;
use super::rounds::{Driven, Loads, Rounds, in_rounds};
use super::saturating;

/// So long a server may be busy, after a load, with what nobody waits for.
const DRAIN: Duration = Duration::from_secs(120);

/// Shorter loads have too little beside their beginning.
const SHORTEST: Duration = Duration::from_millis(2500);
/// Users who think for longer settle late.
const PAUSE: Duration = Duration::from_millis(500);

/// Who watches a load while it lasts.
pub trait Watch {
    /// At most four times a second.
    fn progress(&mut self, case: &Case, progress: &Progress);

    /// Who wants what a load on a server that runs already has to tell, as soon as it can.
    fn lines(&mut self) -> Option<&mut dyn FnMut(ClientLine)> {
        None
    }
}

/// keymark's own client, as it drives the loads of a run.
#[derive(Debug, Clone)]
pub struct Client<'a> {
    /// Those of each load that counts, but for what its case says.
    pub settings: Settings,
    /// All time comes from here.
    pub clock: &'a dyn Clock,
    /// Ends the run.
    pub interrupt: &'a AtomicBool,
}

impl Client<'_> {
    /// One load.
    pub(crate) fn drive<'t>(
        &self,
        asked: impl Into<Asked<'t>>,
        settings: &Settings,
        observer: &mut Relay<'_>,
    ) -> Result<Measurement, Error> {
        let until = (self.clock, self.interrupt);
        keymark_load::run(asked, settings, until, observer).during("loading the server")
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

    /// Measures the cases of the plan in rounds, one load at a time: two at once would be in each other's way.
    pub fn run(
        &self,
        plan: &Plan,
        observer: &mut dyn Observer,
        watch: &mut dyn Watch,
    ) -> Vec<CaseRecord> {
        let records = plan.cases.iter().cloned().map(CaseRecord::new);
        let mut records: Vec<CaseRecord> = records.collect();
        let all = (0..records.len()).collect();
        let seen_by = (&self.client, observer, watch);
        in_rounds(self, plan, all, &mut records, seen_by);
        records
    }

    fn saturation(
        &self,
        case: &Case,
        wanted: Saturating,
        target: &Target,
        seed: u64,
        watch: &mut dyn Watch,
        cluster: &mut Cluster,
    ) -> Result<Saturation, Error> {
        let mut seeds = seed..;
        saturating::search(wanted.most, wanted.p99, |load| {
            let settings = Settings {
                load,
                duration: saturating::step(self.client.settings.duration),
                // The same pauses and arrivals each time would be no chance.
                seed: seeds.next().unwrap_or(seed),
                ..self.client.settings.clone()
            };
            let mut observer = Relay::of(case, watch);
            let measured = self.client.drive(target, &settings, &mut observer)?;
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

    /// The rounds of a case: one for what would not settle in less, too, and where only one server can be at the address.
    fn rounds(&self, case: &Case, plan: &Plan) -> Result<Rounds, Error> {
        let duration = self.client.settings.duration;
        let paces = case.load.pacing.pause().is_some_and(|pause| pause > PAUSE);
        let killed = one_is_killed(Handshake::of(case)?.arrangement);
        Ok(if paces || killed || self.starting.port.is_some() {
            Rounds::one(duration)
        } else {
            Rounds::of(plan, case, duration, SHORTEST)
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

/// A server that runs, and what is known of its case beside the loads.
pub(crate) struct UnderLoad {
    cluster: Cluster,
    target: Target,
    /// That of the case, or the best that was found.
    load: Load,
    saturation: Option<Saturation>,
    key_use: KeyUse,
    /// Of all loads and drains.
    handshakes: u64,
    killed: Option<Duration>,
}

impl Loads for Measuring<'_> {
    type Server = UnderLoad;

    fn begin(
        &self,
        case: &Case,
        plan: &Plan,
        watch: &mut dyn Watch,
    ) -> Result<(UnderLoad, Rounds), Error> {
        let seed = plan.settings.seed;
        let mut cluster = self.start(case)?;
        let target = target(case, &cluster)?;
        let (load, saturation) = match Handshake::of(case)?.search {
            Some(wanted) => {
                let found = self.saturation(case, wanted, &target, seed, watch, &mut cluster)?;
                let best = NonZeroU32::new(found.best_users).unwrap_or(NonZeroU32::MIN);
                (Load::closed(best), Some(found))
            }
            None => (case.load, None),
        };
        let keys = keys_of(self.keys, case)?;
        let clock = (self.client.clock, seed);
        let server = UnderLoad {
            key_use: KeyUse::begin(case, keys, &cluster, clock)?,
            cluster,
            target,
            load,
            saturation,
            handshakes: 0,
            killed: None,
        };
        Ok((server, self.rounds(case, plan)?))
    }

    fn drive(
        &self,
        case: &Case,
        its: &mut UnderLoad,
        settings: Settings,
        watch: &mut dyn Watch,
    ) -> Result<Driven, Error> {
        let before = its.cluster.processor_time()?;
        let mut observer = Relay::of(case, watch);
        if one_is_killed(Handshake::of(case)?.arrangement) {
            observer.killing = Some((&mut its.cluster, settings.duration / 2));
        }
        let settings = Settings {
            load: its.load,
            ..settings
        };
        let measured = self.client.drive(&its.target, &settings, &mut observer);
        let killed = observer.killed.transpose();
        let (measured, killed) = (measured?, killed?);
        let processor = its.cluster.processor_time()?.saturating_sub(before);
        its.killed = its.killed.or(killed);
        its.handshakes += measured.handshakes();
        let (ended, settled) = (its.cluster.check().err(), measured.settled);
        let mut load = measured.record(its.cluster.describe());
        load.server_cpu_ns = Some(nanoseconds(processor));
        if ended.is_none() {
            // Of one whose key is so slow nobody knows more than that. The drain ends with a handshake.
            load.drained_ns = Some(nanoseconds(its.cluster.drain(DRAIN).unwrap_or(DRAIN)));
            its.handshakes += 1;
        }
        Ok(Driven {
            load,
            settled,
            ended,
        })
    }

    fn conclude(
        &self,
        its: UnderLoad,
        load: &mut ServerLoad,
        ended: Option<&Error>,
    ) -> Result<(), Error> {
        load.saturation = its.saturation;
        load.killed_ns = its.killed.map(nanoseconds);
        load.log = its.cluster.log_end();
        if ended.is_some() {
            return Ok(());
        }
        its.key_use
            .end(its.handshakes, &its.cluster, self.client.clock, load)
    }
}

/// The keys of a case's device.
pub(crate) fn keys_of<'k>(keys: &'k [Keys], case: &Case) -> Result<&'k Keys, Error> {
    let mut devices = keys.iter();
    let keys = devices.find(|keys| keys.identity().device == case.device);
    keys.ok_or_else(|| {
        let reason = format!("{} is not a device of the plan", case.device);
        Error::call("starting a server", reason, "")
    })
}

fn one_is_killed(arrangement: Arrangement) -> bool {
    match arrangement {
        Arrangement::Balanced { fate, .. } => fate == Fate::OneKilled,
        Arrangement::One | Arrangement::Beside { .. } => false,
    }
}

/// What clients ask for. Where a certificate is the only one it is pinned; else its key is what tells it.
fn target(case: &Case, cluster: &Cluster) -> Result<Target, Error> {
    let asked = Handshake::of(case)?;
    let mut certificates = cluster.first.spec.certificates.iter();
    let alone = asked.arrangement == Arrangement::One;
    let certificate = match certificates.next().filter(|_| alone) {
        Some(one) => Certificate::Pinned(Fingerprint::of(
            &one.certificate.to_der().during("i2d_X509")?,
        )),
        None => Certificate::Key(case.algorithm),
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
pub(crate) struct Relay<'a> {
    case: &'a Case,
    watch: &'a mut dyn Watch,
    killing: Option<(&'a mut Cluster, Duration)>,
    killed: Option<Result<Duration, Error>>,
}

impl<'a> Relay<'a> {
    pub(crate) fn of(case: &'a Case, watch: &'a mut dyn Watch) -> Self {
        Self {
            case,
            watch,
            killing: None,
            killed: None,
        }
    }
}

impl keymark_load::Observer for Relay<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.watch.progress(self.case, progress);
        if let Some((cluster, _)) = self.killing.take_if(|(_, when)| progress.elapsed >= *when) {
            self.killed = Some(cluster.kill_one().map(|()| progress.elapsed));
        }
    }

    fn lines(&mut self) -> Option<&mut dyn FnMut(ClientLine)> {
        self.watch.lines()
    }
}

/// Room for all users, and for those who come while others leave.
fn connections(case: &Case, search: Option<Saturating>) -> NonZeroU16 {
    let with_arrivals = search.is_some_and(|search| search.p99.is_some());
    let most = search.map_or(case.load.concurrency, |search| search.most);
    let users = match case.load.pacing {
        Pacing::Closed | Pacing::Thinking(_) if !with_arrivals => most.get(),
        Pacing::Open(_) | Pacing::Closed | Pacing::Thinking(_) => Settings::IN_FLIGHT.get(),
    };
    let room = users.saturating_mul(2).clamp(256, 16_384);
    NonZeroU16::new(room as u16).unwrap_or(NonZeroU16::MAX)
}
