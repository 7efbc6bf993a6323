//! Running a load: its threads, who watches them, and what came of it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use keymark_bench::Clock;
use keymark_stats::PerSecond;

use crate::descriptors::make_room;
use crate::error::LoadError;
use crate::measurement::Measurement;
use crate::recorder::{ClientSecond, Recent};
use crate::settings::LoadSettings;
use crate::several::ClientLine;
use crate::target::Asked;
use crate::worker::{LoadJob, Share, ThreadReport, Worker};

/// Shortest time between two reports to the observer.
const TELL: Duration = Duration::from_millis(250);
/// Sleep of the calling thread between two looks at the others.
const LOOK: Duration = Duration::from_millis(10);
/// Threads begin together, once all are there.
const LEAD: Duration = Duration::from_millis(5);

/// State of a load under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadProgress {
    /// Time since its start.
    pub elapsed: Duration,
    /// Time until its end.
    pub left: Duration,
    /// Transactions that succeeded.
    pub transactions: u64,
    /// Transactions that failed.
    pub failed: u64,
    /// Transactions per second so far.
    pub rate: PerSecond,
}

/// Told how a load goes, at most four times a second, by the thread that called [`run`].
pub trait Observer {
    /// Receives the state of the load.
    fn progress(&mut self, progress: &LoadProgress);

    /// Receiver of a line for each second that is over on all threads, which costs them a copy.
    fn lines(&mut self) -> Option<&mut dyn FnMut(ClientLine)> {
        None
    }
}

/// Nobody watches.
impl Observer for () {
    fn progress(&mut self, _: &LoadProgress) {}
}

/// Drives a load against a server or a service, on threads of its own, until its time is over or it is stopped: set by anybody, `stop`
/// ends the load within some 50 ms, and what was done is kept. All time comes from the clock.
///
/// # Errors
///
/// If it cannot begin: OpenSSL lacks what is wanted, there are too few descriptors, the settings contradict
/// themselves. A server that cannot be reached is no error: its transactions fail.
pub fn run<'a>(
    asked: impl Into<Asked<'a>>,
    settings: &LoadSettings,
    (clock, stopped): (&dyn Clock, &AtomicBool),
    observer: &mut dyn Observer,
) -> Result<Measurement, LoadError> {
    settings.check()?;
    let threads = settings.threads.get();
    make_room(settings.connections(), threads)?;
    // The load is stopped by the caller, or by one of its threads that cannot go on.
    let stop = AtomicBool::new(false);
    let job = LoadJob {
        asked: asked.into(),
        settings,
        tells_seconds: observer.lines().is_some(),
        clock,
        origin: clock.now().after(LEAD),
        stop: &stop,
    };
    let published: Vec<Mutex<Recent>> = (0..threads).map(|_| Mutex::default()).collect();
    let workers = published
        .iter()
        .zip(0..)
        .map(|(published, thread)| Worker::new(job, Share { thread, threads }, published));
    let workers = workers.collect::<Result<Vec<_>, LoadError>>()?;
    let reports = thread::scope(|scope| {
        let handles: Vec<_> = workers
            .into_iter()
            .map(|worker| scope.spawn(move || worker.run()))
            .collect();
        watch(&handles, &job, &published, (stopped, observer));
        join(handles)
    })?;
    Ok(Measurement::of(settings, reports))
}

fn join(
    handles: Vec<ScopedJoinHandle<'_, Result<ThreadReport, LoadError>>>,
) -> Result<Vec<ThreadReport>, LoadError> {
    let joined = handles.into_iter().map(ScopedJoinHandle::join);
    let joined: Vec<_> = joined.collect();
    joined
        .into_iter()
        .map(|report| report.map_err(|_| LoadError::Panicked)?)
        .collect()
}

/// Reports to the observer until all threads are done.
fn watch(
    handles: &[ScopedJoinHandle<'_, Result<ThreadReport, LoadError>>],
    job: &LoadJob<'_>,
    published: &[Mutex<Recent>],
    (stopped, observer): (&AtomicBool, &mut dyn Observer),
) {
    let mut told = job.origin;
    let mut over = Over::default();
    while !handles.iter().all(ScopedJoinHandle::is_finished) {
        thread::sleep(LOOK);
        // One thread that is done early has failed, and what the others measure is not what was asked for.
        let failed = handles.iter().any(ScopedJoinHandle::is_finished);
        if stopped.load(Ordering::Relaxed) || failed {
            job.stop.store(true, Ordering::Relaxed);
        }
        let now = job.clock.now();
        if now.since(told) >= TELL {
            told = now;
            observer.progress(&progress(job, published, now.since(job.origin)));
            over.take(published);
            over.tell(published.len(), observer);
        }
    }
    over.take(published);
    over.tell(1, observer);
}

/// Seconds that are over on some threads: on how many, and what they have told.
#[derive(Default)]
struct Over(BTreeMap<u64, (usize, ClientSecond)>);

impl Over {
    fn take(&mut self, published: &[Mutex<Recent>]) {
        for recent in published {
            let mut recent = recent.lock().unwrap_or_else(PoisonError::into_inner);
            for told in recent.over.drain(..) {
                match self.0.entry(told.number) {
                    Entry::Vacant(first) => drop(first.insert((1, told))),
                    Entry::Occupied(mut others) => {
                        let (threads, sum) = others.get_mut();
                        *threads += 1;
                        sum.add(&told);
                    }
                }
            }
        }
    }

    /// Reports the seconds that this number of threads has finished.
    fn tell(&mut self, threads: usize, observer: &mut dyn Observer) {
        while let Some(first) = self.0.first_entry()
            && first.get().0 >= threads
        {
            let second = first.remove().1;
            if let Some(tell) = observer.lines() {
                tell(ClientLine::Second(second));
            }
        }
    }
}

fn progress(job: &LoadJob<'_>, published: &[Mutex<Recent>], elapsed: Duration) -> LoadProgress {
    let (mut transactions, mut failed) = (0, 0);
    for recent in published {
        let recent = recent.lock().unwrap_or_else(PoisonError::into_inner);
        transactions += recent.transactions;
        failed += recent.failed;
    }
    LoadProgress {
        elapsed,
        left: job.settings.duration.saturating_sub(elapsed),
        transactions,
        failed,
        rate: PerSecond(transactions as f64 / elapsed.as_secs_f64().max(f64::EPSILON)),
    }
}
