//! Loads on TLS servers that keymark starts: one server with its certificates, or several behind a balancer.

use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

use keymark_bench::{
    Case, Clock, During as _, Error, Load, Pacing, Plan, Rate, Saturation, ServerLoad, TriedDemand,
    nanoseconds,
};
use keymark_load::{
    Certificate, ClientLine, Expected, Fingerprint, LoadProgress, LoadSettings, Target,
};

use super::cluster::{Cluster, Starting};
use super::handshake::{Arrangement, Fate, Handshake, Saturating};
use super::key_use::KeyUse;
use super::keys::Keys;
use crate::inventory::Inventory;
use crate::loads::{Client, Driven, LoadFamily, Rounds, UnderLoad, Watch};

/// Limit of a server's work, after a load, for clients that have left.
const DRAIN: Duration = Duration::from_secs(120);
/// Shortest round: most of a shorter load is its beginning.
const SHORTEST: Duration = Duration::from_millis(2500);
/// Longest mean pause of users whose load settles within a round.
const PAUSE: Duration = Duration::from_millis(500);
/// A load on the way to a server's limits is this part of the one that counts.
const PART: u32 = 4;
/// Shortest load on that way: shorter ones have no steady state of whole seconds.
const SHORTEST_STEP: Duration = Duration::from_secs(3);

/// Length of a load on the way to a server's limits.
pub fn search_step(duration: Duration) -> Duration {
    (duration / PART).max(SHORTEST_STEP)
}

/// Servers that keymark starts.
#[derive(Debug)]
pub struct StartedServers<'a> {
    /// The devices, one as often as servers are to have keys of their own.
    pub keys: Vec<Keys>,
    /// Copies of twins for several servers, whose tokens end with the value.
    pub copies: Vec<Inventory>,
    /// Start of the servers.
    pub starting: Starting<'a>,
}

impl LoadFamily for StartedServers<'_> {
    fn begin<'s>(
        &'s self,
        case: &Case,
        plan: &Plan,
        (client, watch): (&Client<'_>, &mut dyn Watch),
    ) -> Result<(Box<dyn UnderLoad + 's>, Rounds), Error> {
        let seed = plan.settings.seed;
        let asked = Handshake::of(case)?;
        let keys: Vec<&Keys> = self
            .keys
            .iter()
            .filter(|keys| keys.identity().device == case.device)
            .collect();
        let room = connections(case, asked.search);
        let mut cluster = self.starting.start(case, &keys, room)?;
        let target = target(case, asked, &cluster)?;
        let (load, saturation) = match asked.search {
            Some(wanted) => {
                let place = (&target, &mut cluster);
                let found = limits(wanted, seed, place, (client, watch))?;
                let best = NonZeroU32::new(found.best_users).unwrap_or(NonZeroU32::MIN);
                (Load::closed(best), Some(found))
            }
            None => (case.load, None),
        };
        let keys = Keys::of_case(&self.keys, case)?;
        let server = LoadedServer {
            key_use: KeyUse::begin(case, keys, &cluster, (client.clock, seed))?,
            asked,
            cluster,
            target,
            load,
            saturation,
            handshakes: 0,
            killed: None,
        };
        let duration = client.settings.duration;
        // One round for what would not settle in less, and where only one server can be at the address.
        let paces = case.load.pacing.pause().is_some_and(|pause| pause > PAUSE);
        let rounds = if paces || is_killed(asked.arrangement) || self.starting.port.is_some() {
            Rounds::one(duration)
        } else {
            Rounds::of(plan, case, duration, SHORTEST)
        };
        Ok((Box::new(server), rounds))
    }

    fn restore(&self) -> Vec<Error> {
        Keys::restore_all(&self.keys)
    }
}

/// Searches for the number of users with the best throughput, and for the highest rate within the limit of latency.
fn limits(
    wanted: Saturating,
    seed: u64,
    (target, cluster): (&Target, &mut Cluster),
    (client, watch): (&Client<'_>, &mut dyn Watch),
) -> Result<Saturation, Error> {
    const CALL: &str = "looking for the server's limits";
    let mut seeds = seed..;
    let found = keymark_load::search(wanted.most, wanted.p99, |tried| {
        let settings = LoadSettings {
            load: match tried {
                TriedDemand::Users(count) => {
                    Load::closed(NonZeroU32::new(count).unwrap_or(wanted.most))
                }
                TriedDemand::Rate(rate) => Load {
                    pacing: Pacing::Open(
                        Rate::try_from(rate).map_err(|wrong| Error::call(CALL, wrong, ""))?,
                    ),
                    ..Load::single()
                },
            },
            duration: search_step(client.settings.duration),
            // The same pauses and arrivals each time would be no chance.
            seed: seeds.next().unwrap_or(seed),
            ..client.settings.clone()
        };
        let measured = client.drive(target, &settings, &mut *watch)?;
        cluster.check()?;
        let _ = cluster.drain(DRAIN);
        if client.is_interrupted() {
            return Err(Error::call(CALL, "interrupted", ""));
        }
        measured
            .tried(tried)
            .map_err(|none| Error::call(CALL, none, "make the loads longer with --case-time"))
    })?;
    found.ok_or_else(|| {
        let advice = "'keymark tls bench --workers 1' shows their class";
        Error::call(CALL, "every load failed", advice)
    })
}

/// Running server of a case.
struct LoadedServer {
    cluster: Cluster,
    target: Target,
    /// Load of the case, or the best that was found.
    load: Load,
    saturation: Option<Saturation>,
    key_use: KeyUse,
    /// Handshakes of all loads and drains.
    handshakes: u64,
    /// Handshake of the case.
    asked: Handshake,
    /// Time from the load's start until it was killed.
    killed: Option<Duration>,
}

impl UnderLoad for LoadedServer {
    fn load(
        &mut self,
        settings: &LoadSettings,
        (client, watch): (&Client<'_>, &mut dyn Watch),
    ) -> Result<Driven, Error> {
        let before = self.cluster.processor_time();
        let settings = LoadSettings {
            load: self.load,
            ..settings.clone()
        };
        let mut observer = Killing {
            watch,
            pending: is_killed(self.asked.arrangement)
                .then_some((&mut self.cluster, settings.duration / 2)),
            killed: None,
        };
        let measured = client.drive(&self.target, &settings, &mut observer)?;
        self.killed = self.killed.or(observer.killed);
        let processor = self.cluster.processor_time().saturating_sub(before);
        self.handshakes += measured.handshakes();
        let (ended, settled) = (self.cluster.check().err(), measured.settled);
        let mut load = measured.record(self.cluster.describe());
        load.server_cpu_ns = Some(nanoseconds(processor));
        if ended.is_none() {
            // Of one whose key is so slow nobody knows more than that. The drain ends with a handshake.
            load.drained_ns = Some(nanoseconds(self.cluster.drain(DRAIN).unwrap_or(DRAIN)));
            self.handshakes += 1;
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
        clock: &dyn Clock,
    ) -> Result<Option<Error>, Error> {
        load.saturation = self.saturation;
        load.killed_ns = self.killed.map(nanoseconds);
        load.log = self.cluster.log_end();
        if ended.is_some() {
            return Ok(None);
        }
        self.key_use
            .end(self.handshakes, &self.cluster, clock, load)?;
        Ok(self.asked.missed_share(load))
    }
}

fn is_killed(arrangement: Arrangement) -> bool {
    match arrangement {
        Arrangement::Balanced { fate, .. } => fate == Fate::OneKilled,
        Arrangement::One | Arrangement::Beside { .. } => false,
    }
}

/// Target of a case's clients. Where a certificate is the only one it is pinned; otherwise its key identifies it.
fn target(case: &Case, asked: Handshake, cluster: &Cluster) -> Result<Target, Error> {
    let server = &cluster.first.spec;
    let certificate = if asked.arrangement == Arrangement::One {
        let own = server.certificates.first.certificate.to_der();
        Certificate::Pinned(Fingerprint::of(&own.during("i2d_X509")?))
    } else {
        Certificate::Key(case.algorithm)
    };
    Ok(Target {
        address: cluster.address(),
        server_name: "localhost".to_owned(),
        path: cluster.first.path(),
        client: server.client_identity(),
        expected: Expected {
            version: asked.version,
            key_exchange: asked.key_exchange,
            certificate,
            body: Some(case.input_bytes.into()),
            resumed: asked.resumed,
        },
    })
}

/// Observer that kills a server when it is time.
struct Killing<'a> {
    watch: &'a mut dyn Watch,
    pending: Option<(&'a mut Cluster, Duration)>,
    killed: Option<Duration>,
}

impl keymark_load::Observer for Killing<'_> {
    fn progress(&mut self, progress: &LoadProgress) {
        self.watch.progress(progress);
        if let Some((cluster, _)) = self.pending.take_if(|(_, when)| progress.elapsed >= *when) {
            cluster.kill_one();
            self.killed = Some(progress.elapsed);
        }
    }

    fn lines(&mut self) -> Option<&mut dyn FnMut(ClientLine)> {
        self.watch.lines()
    }
}

/// Room for all users, and for those who come while others leave.
fn connections(case: &Case, search: Option<Saturating>) -> NonZeroU16 {
    let with_arrivals = search.is_some_and(|search| search.p99.is_some());
    let most = search.map_or(case.load.workers, |search| search.most);
    let users = match case.load.pacing {
        Pacing::Closed | Pacing::Thinking(_) if !with_arrivals => most.get(),
        Pacing::Open(_) | Pacing::Closed | Pacing::Thinking(_) => LoadSettings::IN_FLIGHT.get(),
    };
    let room = users.saturating_mul(2).clamp(256, 16_384);
    NonZeroU16::new(room as u16).unwrap_or(NonZeroU16::MAX)
}
