//! The limit of more workers: the device, the library, the cores, or none yet.
//!
//! Asymptotic bounds of operational analysis (Denning & Buzen 1978, §6): where *n* workers do *G* times what one does
//! and more of them do no more, each operation takes *T/G* of whatever they queue for, *T* being its time alone. A
//! device can be that only if a worker alone waits for so long, *T* − *P* with *P* of processor time; processors
//! only if *G* comes near *cores · T/P*; what threads of one process share only if processes do more.

use derive_more::Display;
use keymark_bench::{Load, Worker};
use keymark_stats::{Estimate, Level, PerSecond, Ratio, Seconds, gain};

use super::Row;
use super::scaling::{Bounds, Limit, Refused};
use crate::units;

/// Share of the cores' bound that counts as reached: other programs may use the rest.
const NEARLY: f64 = 0.75;
/// Processes that do so much more than threads are kept apart by something that threads share.
const MORE: f64 = 1.15;
/// A level that was watched for less is not believed: a scheduler's slices and a hypervisor's pauses are milliseconds.
const WATCHED: Seconds = Seconds(0.1);
/// A device accounts for a queue if a worker alone waits for so much of what it would take.
const ACCOUNTED: f64 = 0.9;

/// A case at several numbers of workers, all threads or all processes.
#[derive(Debug, Clone)]
pub(super) struct Curve<'r> {
    /// Row with the fewest workers.
    pub lowest: &'r Row,
    pub refused: Option<Refused>,
    /// Workers and throughput, ascending.
    pub rates: Vec<(u32, Estimate<PerSecond>)>,
    /// The processors' bound, if a single worker's processor time was measured.
    pub bounds: Option<Bounds>,
    pub levels: Vec<Level>,
    /// Shortest time for which a level was watched.
    pub watched: Seconds,
    /// Workers, and throughput over that of one.
    pub gains: Vec<(u32, Estimate<Ratio>)>,
    pub seed: u64,
}

/// The limit of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub limit: Limit,
    /// Why that is not known.
    pub why: Option<Undecided>,
    pub(super) said: String,
}

/// Why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Display)]
pub enum Undecided {
    /// Intervals lie on both sides.
    #[display("the limit is not known: intervals are too wide or missing; measure longer")]
    Imprecise,
    /// A level was watched for this time only.
    #[display(
        "the limit is not known: some were measured for only {}; measure longer",
        units::duration(*_0)
    )]
    TooShort(Seconds),
    /// Threads gain little, and processes were not measured.
    #[display(
        "the limit may be the library or the device: 'bench --processes' with as many shows which"
    )]
    ThreadsAlone,
    /// Threads gain little, and calculate for longer than a device could be the cause.
    #[display(
        "the limit may be a lock in the library, or other programs on the cores: 'bench --processes' with as many shows which"
    )]
    ThreadsCalculating,
    /// More is done one at a time than a worker waits for, by processes too: other programs are in the way, or a lock
    /// that processes share.
    #[display(
        "the device alone does not explain the limit: other programs take the cores, or processes share a lock"
    )]
    Calculation,
}

impl From<Undecided> for Finding {
    fn from(why: Undecided) -> Self {
        Self {
            limit: Limit::Undecided,
            why: Some(why),
            said: why.to_string(),
        }
    }
}

impl Finding {
    const fn seen(limit: Limit, said: String) -> Self {
        Self {
            limit,
            why: None,
            said,
        }
    }
}

impl Curve<'_> {
    /// Returns whether the other curve is this one by processes in place of threads, or the reverse.
    pub(super) fn is_twin(&self, other: &Self) -> bool {
        let (own, other) = (&self.lowest.case, &other.lowest.case);
        let load = Load {
            worker: match other.load.worker {
                Worker::Thread => Worker::Process,
                Worker::Process => Worker::Thread,
            },
            workers: own.load.workers,
            ..other.load
        };
        own.has_key(&other.key().loaded(load))
    }

    /// Returns the processors' bound of the gain.
    fn possible(&self, bounds: &Bounds, workers: u32) -> f64 {
        bounds.by_cores().0.min(f64::from(workers))
    }

    fn several(&self) -> impl DoubleEndedIterator<Item = &(u32, Estimate<Ratio>)> {
        self.gains.iter().filter(|(workers, _)| *workers > 1)
    }

    /// The highest level, if it certainly falls short of what the cores allow.
    fn falls_short(&self, bounds: &Bounds) -> Option<(u32, Estimate<Ratio>)> {
        let (workers, gain) = self.several().next_back()?;
        let high = gain.high?;
        (high.0 < NEARLY * self.possible(bounds, *workers)).then_some((*workers, *gain))
    }

    /// Returns the processes' rate over the threads', at the highest level of both.
    fn over_threads(&self, processes: &Self) -> Option<(u32, Estimate<Ratio>)> {
        let levels = self.levels.iter().rev();
        let mut several = levels.filter(|level| level.workers > 1);
        several.find_map(|threads| {
            let processes = processes
                .levels
                .iter()
                .find(|one| one.workers == threads.workers)?;
            let over = gain(&processes.windows, &threads.windows, self.seed)?;
            Some((threads.workers, over))
        })
    }
}

/// Returns the limit of a curve, by that of the other kind of workers if it was measured.
pub(super) fn finding(curve: &Curve<'_>, twin: Option<&Curve<'_>>) -> Option<Finding> {
    let bounds = curve.bounds.as_ref()?;
    curve.several().next()?;
    let watched = twin.map_or(curve.watched.0, |twin| curve.watched.0.min(twin.watched.0));
    if watched < WATCHED.0 {
        return Some(Undecided::TooShort(Seconds(watched)).into());
    }
    if let Some(reached) = reached(curve, bounds) {
        return Some(reached);
    }
    let Some((workers, gain)) = curve.falls_short(bounds) else {
        return Some(Undecided::Imprecise.into());
    };
    let shared = || shared(bounds, curve, workers, gain);
    let threads_alone = || {
        Finding::from(if shared().why == Some(Undecided::Calculation) {
            Undecided::ThreadsCalculating
        } else {
            Undecided::ThreadsAlone
        })
    };
    Some(match (curve.lowest.case.load.worker, twin) {
        (Worker::Thread, None) => threads_alone(),
        (Worker::Process, None) => shared(),
        (Worker::Thread, Some(processes)) => match curve.over_threads(processes) {
            None => threads_alone(),
            Some((workers, over)) => match over.low.zip(over.high) {
                Some((low, _)) if low.0 > MORE => {
                    let said = format!(
                        "the library is the limit: {workers} processes do {} the work of {workers} threads; threads \
                         share a lock or connection in it",
                        units::estimated_gain(&over)
                    );
                    Finding::seen(Limit::Library, said)
                }
                // They may do somewhat more, but nothing that would make up for what is missing.
                Some((_, high)) if high.0 < MORE * MORE => shared(),
                Some(_) | None => Undecided::Imprecise.into(),
            },
        },
        (Worker::Process, Some(threads)) => match threads.over_threads(curve) {
            Some((_, over)) if over.high.is_some_and(|high| high.0 < 1.0 / MORE) => {
                Undecided::Calculation.into()
            }
            None | Some(_) => shared(),
        },
    })
}

/// Certainly near what the cores allow: with as many workers as they have room for, or with all that were measured.
fn reached(curve: &Curve<'_>, bounds: &Bounds) -> Option<Finding> {
    let near = |(workers, gain): &&(u32, Estimate<Ratio>)| {
        let possible = curve.possible(bounds, *workers);
        gain.low.is_some_and(|low| low.0 > NEARLY * possible)
    };
    let fills = |(workers, _): &&(u32, Estimate<Ratio>)| {
        f64::from(*workers) >= ACCOUNTED * bounds.by_cores().0
    };
    if let Some((workers, gain)) = curve.several().find(|level| near(level) && fills(level)) {
        let said = format!(
            "the cores are the limit: {workers} do {} the work of one, on {} cores",
            units::estimated_gain(gain),
            bounds.cores
        );
        return Some(Finding::seen(Limit::Cores, said));
    }
    let (workers, gain) = curve.several().next_back().filter(near)?;
    let said = format!(
        "no limit seen: {workers} do {} the work of one",
        units::estimated_gain(gain)
    );
    Some(Finding::seen(Limit::NoneSeen, said))
}

/// Returns the device as the limit, if a worker alone waits for it long enough.
fn shared(bounds: &Bounds, curve: &Curve<'_>, workers: u32, gain: Estimate<Ratio>) -> Finding {
    let waiting = (1.0 - bounds.processor.0 / bounds.alone.0).max(0.0);
    // One worker gains 1, and more of them are no reason for less.
    let least = gain.low.map_or(1.0, |low| low.0.max(1.0));
    let highs = curve
        .several()
        .map(|(_, gain)| gain.high.map_or(f64::INFINITY, |high| high.0));
    let most = highs.fold(1.0, f64::max);
    if waiting >= ACCOUNTED / least {
        let at_a_time: &str = match gain.value.0.round() {
            ..=1.0 => "it does one operation at a time",
            lanes => &format!("it does up to {lanes:.0} at a time"),
        };
        let said = format!(
            "the device is the limit: {workers} do {} the work of one, which waits for {} of its time: {at_a_time}",
            units::estimated_gain(&gain),
            units::percent(waiting)
        );
        Finding::seen(Limit::Device, said)
    } else if waiting < ACCOUNTED / most {
        Undecided::Calculation.into()
    } else {
        Undecided::Imprecise.into()
    }
}
