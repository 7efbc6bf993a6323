//! Gains by more workers, and their limit.

use std::num::NonZeroU32;

use keymark_bench::{
    Bottleneck, Case, Layers, Load, Part, Point, Record, Shortage, StackName, Worker,
};
use keymark_stats::{
    Estimate, Level, PerSecond, Ratio, Seconds, Usl, UslError, Window, fit_usl, gain,
};

use serde::Serialize;
use strum::Display;

use super::limits::{self, Curve, Finding};
use super::{Row, windows};
use crate::grouped;

/// A law of three parameters says nothing of three levels that it would not say of noise.
const LEVELS_OF_A_LAW: usize = 5;

/// A case at several concurrencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The case with the fewest workers.
    pub case: Case,
    /// Concurrency and observed throughput, ascending.
    pub levels: Vec<(u32, Estimate<PerSecond>)>,
    /// Throughput over that of the fewest workers, or of a single thread if no single process was measured.
    pub gains: Vec<(u32, Estimate<Ratio>)>,
    /// Workers that the device refused.
    pub refused: Option<Refused>,
    /// The limit by the curves of threads and processes, if the workers' processor time was measured.
    pub finding: Option<Finding>,
    /// The Universal Scalability Law fitted to them, or why not.
    pub law: Result<Usl, UslError>,
    /// Bounds by the operational laws, if the parts of an operation were measured.
    pub bounds: Option<Bounds>,
}

/// Upper bounds of the throughput relative to one worker (Denning & Buzen, "The Operational
/// Analysis of Queueing Network Models", ACM Computing Surveys 10 (1978), §6: no resource is busy
/// for more than the whole time).
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Time of one operation alone.
    pub alone: Seconds,
    /// The server that workers queue for, and the time of its part.
    pub server: Option<(Bottleneck, Seconds)>,
    /// Processor time of an operation: of the process started for it and the server, or of the worker itself.
    pub processor: Seconds,
    /// Processors there are.
    pub cores: u32,
}

impl Bounds {
    /// Returns the bounds that no measured gain exceeds. An exceeded one rests on times that change under load.
    fn not_surpassed_by(mut self, gains: &[(u32, Estimate<Ratio>)]) -> Option<Self> {
        let best = gains.iter().map(|(_, gain)| gain.value.0);
        let best = best.fold(1.0, f64::max);
        if self.by_server().is_some_and(|bound| bound.0 < best) {
            self.server = None;
        }
        (self.by_cores().0 >= best).then_some(self)
    }

    /// Gain at which the server would be busy all the time.
    pub fn by_server(&self) -> Option<Ratio> {
        let (_, time) = self.server.as_ref()?;
        Some(Ratio(self.alone.0 / time.0))
    }

    /// Gain at which all processors would be busy all the time.
    pub fn by_cores(&self) -> Ratio {
        Ratio(f64::from(self.cores) * self.alone.0 / self.processor.0)
    }
}

/// Workers who were refused for want of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The resource that there was too little of.
    pub shortage: Shortage,
    /// The fewest that were refused.
    pub workers: u32,
    /// The most that were not.
    pub had: Option<u32>,
}

impl Refused {
    /// Returns the limit of more workers.
    pub const fn limit(self) -> Limit {
        match self.shortage {
            Shortage::Sessions => Limit::Sessions,
            Shortage::Memory => Limit::Memory,
        }
    }
}

type Measured = (u32, Estimate<PerSecond>);

impl Scaling {
    /// Returns the limit: by the bounds where there is a server, else by the curves.
    pub fn limit(&self) -> Option<Limit> {
        let bounds = self.bounds.as_ref();
        if let Some((bounds, (bottleneck, _))) =
            bounds.and_then(|own| Some((own, own.server.as_ref()?)))
        {
            return Some(if bounds.by_server() < Some(bounds.by_cores()) {
                Limit::Server(bottleneck.name)
            } else {
                Limit::Cores
            });
        }
        let found = self.finding.as_ref().map(|finding| finding.limit);
        match (found, self.refused) {
            (None | Some(Limit::NoneSeen), Some(refused)) => Some(refused.limit()),
            (found, _) => found,
        }
    }

    pub const fn has_levels_of_a_law(&self) -> bool {
        self.levels.len() >= LEVELS_OF_A_LAW
    }

    /// Returns the way and the kind of workers: `raw threads`.
    pub fn way(&self) -> String {
        let kind = match self.case.load.worker {
            Worker::Thread => "threads",
            Worker::Process => "processes",
        };
        format!("{} {kind}", self.case.loaded(Load::single()).way())
    }

    /// Returns the name with key and device: `rsa2048 sign softhsm raw threads`.
    pub fn name(&self) -> String {
        let (case, way) = (&self.case, self.way());
        let (algorithm, operation) = (case.algorithm, case.operation);
        format!("{algorithm} {operation} {} {way}", case.device)
    }

    /// Returns whether a case is this one at some number of workers.
    pub fn is_of(&self, case: &Case) -> bool {
        let load = case.load.with(self.case.load.workers);
        self.case.has_key(&case.key().loaded(load))
    }

    /// The number of workers of the highest throughput that was measured, and one beyond at which it was lower for
    /// certain: the intervals are apart.
    pub fn falls(&self) -> Option<(u32, u32)> {
        let highest = |a: &&Measured, b: &&Measured| a.1.value.0.total_cmp(&b.1.value.0);
        let (best, highest) = self.levels.iter().max_by(highest)?;
        let floor = highest.low?;
        let mut beyond = self.levels.iter().filter(|(level, _)| level > best);
        let (lower, _) = beyond.find(|(_, rate)| rate.high.is_some_and(|high| high < floor))?;
        Some((*best, *lower))
    }
}

/// The part that is always busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, Serialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum Limit {
    /// The one thread of the server of this name.
    #[strum(to_string = "{0}")]
    Server(&'static str),
    /// The processors.
    Cores,
    /// A lock or connection that threads share in the library.
    Library,
    /// The device, or a service before it that all processes share.
    Device,
    /// The number of sessions that the device has.
    Sessions,
    /// The secure memory of gpg-agent.
    Memory,
    /// Nothing, as far as was measured.
    #[strum(to_string = "none yet")]
    NoneSeen,
    /// Unknown: the figures do not decide.
    #[strum(to_string = "?")]
    Undecided,
}

/// Groups of closed-loop cases that differ in nothing but the number of workers.
pub(super) fn scaling(record: &Record, rows: &[Row], families: &[Layers]) -> Vec<Scaling> {
    let closed = |row: &&Row| row.case.load.is_closed() && row.case.replica == 0;
    let groups = grouped(rows.iter().filter(closed), |row| {
        let alone = row.case.load.with(NonZeroU32::MIN);
        row.case.key().loaded(alone)
    });
    let curves = groups
        .into_iter()
        .filter_map(|(_, group)| curve(record, rows, group));
    let curves: Vec<Curve<'_>> = curves.collect();
    let is_several = |curve: &&Curve<'_>| curve.gains.len() > 1 || curve.refused.is_some();
    let several = curves.iter().filter(is_several);
    let scaling = several.map(|curve| {
        let lowest = curve.lowest;
        let twin = curves.iter().find(|other| other.is_twin(curve));
        let of_library = lowest.case.stack == StackName::RAW;
        Scaling {
            case: lowest.case.clone(),
            levels: curve.rates.clone(),
            gains: curve.gains.clone(),
            refused: curve.refused,
            finding: of_library.then(|| limits::finding(curve, twin)).flatten(),
            law: law(&curve.levels, record.plan.settings.seed),
            bounds: bounds(record, rows, lowest, families)
                .or_else(|| curve.bounds.clone())
                .and_then(|bounds| bounds.not_surpassed_by(&curve.gains)),
        }
    });
    scaling.collect()
}

/// The windows of a group, and what they gain over its lowest level. Processes of which none was alone are compared
/// with a single thread: one worker is one worker.
fn curve<'r>(record: &Record, rows: &'r [Row], mut group: Vec<&'r Row>) -> Option<Curve<'r>> {
    let refused = refused(&group);
    // A level that has failed otherwise says nothing, neither of itself nor of others.
    let is_measured = |row: &Row| row.failure.is_none() && row.throughput.is_some();
    group.retain(|row| is_measured(row));
    group.sort_by_key(|row| row.case.workers());
    let lowest = *group.first()?;
    let single_thread = || {
        let alone = lowest.case.key().loaded(Load::single());
        rows.iter()
            .find(|row| is_measured(row) && row.case.has_key(&alone))
    };
    let base = match (lowest.case.load.worker, lowest.case.workers()) {
        (Worker::Thread, _) | (Worker::Process, 1) => lowest,
        (Worker::Process, _) => single_thread().unwrap_or(lowest),
    };
    let of = |row: &Row| -> Vec<Window> { windows(&record.cases[row.id.0 as usize]) };
    let levels = group.iter().map(|row| Level {
        workers: row.case.workers(),
        windows: of(row),
    });
    let levels: Vec<Level> = levels.collect();
    let (base_windows, seed) = (of(base), record.plan.settings.seed);
    let all_windows = levels.iter().map(|level| &level.windows);
    let all_windows = all_windows.chain([&base_windows]);
    let watched =
        all_windows.map(|windows| windows.iter().map(|window| window.length_ns).sum::<u64>());
    let watched = watched.min()?;
    let mut gains: Vec<(u32, Estimate<Ratio>)> = Vec::new();
    if base.case.load.worker != lowest.case.load.worker {
        gains.extend(gain(&base_windows, &base_windows, seed).map(|one| (1, one)));
    }
    let over_base = |level: &Level| {
        let gain = gain(&level.windows, &base_windows, seed)?;
        Some((level.workers, gain))
    };
    gains.extend(levels.iter().filter_map(over_base));
    let rates = group.iter();
    let rates = rates.filter_map(|row| Some((row.case.workers(), row.throughput?)));
    Some(Curve {
        lowest,
        refused,
        rates: rates.collect(),
        bounds: alone_by_cores(base, record.environment.cores),
        levels,
        watched: Seconds(watched as f64 / 1e9),
        gains,
        seed,
    })
}

/// Returns the fewest workers of a group that were refused for want of something.
fn refused(group: &[&Row]) -> Option<Refused> {
    let refused = group.iter().filter_map(|row| {
        let ending = row.ending.as_ref().filter(|_| row.failure.is_some());
        let code = ending?.code.as_ref()?;
        Some((row.case.workers(), code.shortage()?))
    });
    let (workers, shortage) = refused.min_by_key(|(workers, _)| *workers)?;
    let done = group.iter().filter(|row| row.failure.is_none());
    Some(Refused {
        shortage,
        workers,
        had: done.map(|row| row.case.workers()).max(),
    })
}

/// Returns the processors' bound, if a single worker was measured.
fn alone_by_cores(base: &Row, cores: u32) -> Option<Bounds> {
    let processor = base.parts.as_ref()?.0.get(&Part::Worker)?.mean_s;
    let rate = base.throughput?.value;
    (base.case.workers() == 1 && processor.0 > 0.0).then_some(Bounds {
        alone: Seconds(1.0 / rate.0),
        server: None,
        processor,
        cores,
    })
}

fn law(levels: &[Level], seed: u64) -> Result<Usl, UslError> {
    if levels.len() < LEVELS_OF_A_LAW {
        return Err(UslError::TooFewLevels(levels.len()));
    }
    fit_usl(levels, seed)
}

/// Returns the bounds, if the server that workers queue for was also measured alone.
fn bounds(record: &Record, rows: &[Row], alone: &Row, families: &[Layers]) -> Option<Bounds> {
    if alone.case.workers() != 1 {
        return None;
    }
    let mut bottlenecks = families
        .iter()
        .filter_map(|layers| layers.bottleneck.clone());
    let bottleneck = bottlenecks.find(|found| found.point == Point::of(&alone.case))?;
    let server = bottleneck.server.applied(&alone.case).key();
    let server = server.loaded(Load::single());
    let server = rows.iter().find(|row| row.case.has_key(&server))?;
    let server = server.summary.as_ref()?.mean.value;
    let (user, system) = alone.child_cpu?;
    Some(Bounds {
        alone: alone.summary.as_ref()?.mean.value,
        server: Some((bottleneck, server)),
        processor: Seconds(user.0 + system.0 + server.0),
        cores: record.environment.cores,
    })
}
