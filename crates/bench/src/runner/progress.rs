//! Progress of a case: the length of its next block, and its end.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_stats::RunningMean;

use crate::{Block, Case, Pacing, Precision, Settings, StopRule, Stopped, Timestamp};

use super::worker_loop::Budget;

/// Fewer blocks than this say too little about the spread between blocks: a rule that stops on them
/// stops where the spread looks small by chance (`make calibration` shows it).
const LEAST_BLOCKS: usize = 20;
/// Nor is a stretch shorter than this worth believing: machines have slow states that come seldom and last for
/// a second.
const LEAST_TIME: Duration = Duration::from_secs(2);
/// A block is this part of its case's share of the plan's time: blocks vary among each other by more than the operations
/// in them do, so that many short ones say more than a few long ones (Kalibera & Jones, ISMM 2013, §6).
const PARTS: u32 = 200;
/// A block without a plan's time limit lasts this long.
const USUAL_BLOCK: Duration = Duration::from_millis(10);
/// Blocks of operations shorter than this hold several of them; longer ones are alone.
const SHORT_OPERATION: Duration = Duration::from_millis(1);
/// Blocks of operations shorter than this are led in by one that is not counted, because the caches hold another
/// case's data when a block begins. What takes longer fills them as it goes.
const CACHED_OPERATION: Duration = Duration::from_millis(10);
/// Operations of one who thinks before each, in a block.
const LEAST_OPERATIONS: u32 = 4;
/// Operations that each of several workers does in a block, at least: where a block ends, it cuts one of
/// each, and a shorter block is mostly its ends.
const LEAST_OF_EACH: u32 = 8;
/// A block of several workers lasts at least this long, and those of short operations lead in with several: threads that
/// are new are slower until the scheduler has spread them. Blocks of 10 ms with one showed two threads on SoftHSM2 5 % too
/// slow (`make overhead`).
const LEAST_TOGETHER: Duration = Duration::from_millis(40);
const LEAD_IN_TOGETHER: u32 = 4;
/// The factor by which a block of several workers is made longer, at most, while one of them is done before another begins.
const LONGEST_TOGETHER: u32 = 64;
/// A block of an open loop; its queue goes on in the next.
const OPEN_BLOCK: Duration = Duration::from_millis(500);
/// Arrivals of an open loop that a block should hold at most: their results are kept until its end.
const MOST_ARRIVALS: f64 = 2_000.0;
/// The part of a case's time in which its queue may fill.
const FILLING: u32 = 5;

pub(super) struct CaseProgress {
    stop: StopRule,
    pacing: Pacing,
    workers: NonZeroU32,
    mean: RunningMean,
    done: u64,
    blocks: usize,
    /// Time on visits, including the work around the operations, but without checks.
    spent: Duration,
    /// First sample's start and last sample's end, whatever was measured in between.
    span: Option<(Timestamp, Timestamp)>,
    operation: Duration,
    /// The factor by which blocks of several workers have to be longer for them to work together: who finds what
    /// they queue for taken may be back for it much later (pcscd's clients look ten times a second).
    longer: u32,
    /// Time that an open loop still has to run before it counts.
    filling: Duration,
    /// The part of the case's own time, if it has any, after which it counts all the same: its queue's clock stops
    /// for what is done around blocks, which may be the most of it.
    filled_at: Option<Duration>,
}

impl CaseProgress {
    /// Starts from what the warm-up showed, with this part of the plan's time.
    pub(super) fn new(
        case: &Case,
        settings: &Settings,
        part: Option<Duration>,
        warm_up: &Block,
    ) -> Self {
        let operation = service_time(warm_up);
        Self {
            stop: settings.stop,
            pacing: case.load.pacing,
            workers: case.load.workers,
            mean: RunningMean::default(),
            done: 0,
            blocks: 0,
            spent: Duration::ZERO,
            span: None,
            operation,
            longer: 1,
            filling: filling(case, settings.stop, part, operation),
            filled_at: settings.stop.time().or(part).map(|limit| limit / FILLING),
        }
    }

    const fn is_open(&self) -> bool {
        self.pacing.rate().is_some()
    }

    /// The plan's time is up: what is there of the queue has to do.
    pub(super) const fn stop_filling(&mut self) {
        self.filling = Duration::ZERO;
    }

    /// Returns true if the block only fills the queue of an open loop, which begins empty.
    pub(super) fn fills_the_queue(&mut self, block: &Block) -> bool {
        let Some(stretch) = block.queue.filter(|_| !self.filling.is_zero()) else {
            return false;
        };
        if self.filled_at.is_some_and(|limit| self.spent > limit) {
            self.stop_filling();
            return false;
        }
        let length = Duration::from_nanos(stretch.length_ns);
        self.filling = self.filling.saturating_sub(length);
        true
    }

    /// A visit took so long.
    pub(super) fn spend(&mut self, took: Duration) {
        self.spent += took;
    }

    /// Returns the rest of the case's own time, if it has any.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let limit = self.stop.time();
        limit.map(|limit| limit.saturating_sub(self.spent))
    }

    /// Returns the expected time of a visit.
    pub(super) fn visit(&self, part: Option<Duration>) -> Duration {
        let Budget { time, lead_in, .. } = self.budget(part);
        time.max(self.operation) + self.operation * lead_in
    }

    pub(super) const fn has_samples(&self) -> bool {
        self.done > 0
    }

    /// Length of the next block, given this case's part of the plan's time.
    pub(super) fn budget(&self, part: Option<Duration>) -> Budget {
        let usual = part.map_or(USUAL_BLOCK, |part| {
            (part / PARTS).clamp(Duration::from_millis(5), Duration::from_millis(20))
        });
        let cached = self.operation <= CACHED_OPERATION;
        let time = match self.pacing {
            Pacing::Open(rate) => {
                // Those that find all workers busy wait for the next block: it need not be short for them.
                let served = f64::from(self.workers.get()) / self.operation.as_secs_f64();
                let full = MOST_ARRIVALS / rate.per_second().min(served);
                let full = Duration::try_from_secs_f64(full);
                let left = match self.stop {
                    StopRule::Precision { .. } | StopRule::For(_) => f64::MAX,
                    StopRule::Runs(runs) => f64::from(runs.get()) - self.done as f64,
                };
                let rest = Duration::try_from_secs_f64(left.max(1.0) / rate.per_second());
                let block = OPEN_BLOCK.min(full.unwrap_or(OPEN_BLOCK));
                block.min(rest.unwrap_or(block))
            }
            // Each user gets round a few times.
            Pacing::Thinking(longest) => {
                usual.max((self.operation + longest / 2) * LEAST_OPERATIONS)
            }
            Pacing::Closed if self.workers.get() > 1 => {
                LEAST_TOGETHER.max(self.operation * LEAST_OF_EACH) * self.longer
            }
            Pacing::Closed if self.operation <= SHORT_OPERATION => usual,
            // One, whatever it takes.
            Pacing::Closed => Duration::ZERO,
        };
        let operations = match self.stop {
            StopRule::Precision { .. } | StopRule::For(_) => u64::MAX,
            // A block that ends with its last arrival would be shorter than what it holds took to come.
            StopRule::Runs(_) if self.is_open() => u64::MAX,
            StopRule::Runs(runs) => {
                let runs = u64::from(runs.get());
                let left = runs.saturating_sub(self.done);
                let workers = u64::from(self.workers.get());
                let least = if workers > 1 {
                    workers * u64::from(LEAST_OF_EACH)
                } else {
                    1
                };
                left.min((runs / 20).max(least))
            }
        };
        Budget {
            time,
            operations,
            // Several workers get going together; in an open loop they would be a burst that nobody has sent.
            lead_in: match self.workers.get() {
                _ if self.is_open() => 0,
                1 => u32::from(cached),
                _ if self.operation <= SHORT_OPERATION => LEAD_IN_TOGETHER,
                _ => 1,
            },
            pacing: self.pacing,
        }
    }

    pub(super) fn add(&mut self, block: &Block) {
        let latencies = block.latencies_ns();
        self.done += latencies.len() as u64;
        self.blocks += 1;
        self.mean.push_block(&latencies);
        if let Some((first, last)) = block.span() {
            let begun = self.span.map_or(first, |(begun, _)| begun);
            self.span = Some((begun, last));
        }
        if !latencies.is_empty() {
            self.operation = service_time(block);
        }
        if work_apart(block) {
            self.longer = (2 * self.longer).min(LONGEST_TOGETHER);
        }
    }

    /// Returns the reason to stop, if the stop rule is met.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        match self.stop {
            StopRule::Runs(runs) => {
                (self.done >= u64::from(runs.get())).then_some(Stopped::RuleMet)
            }
            StopRule::Precision { target, max_time } => {
                if self.reached(target) {
                    return Some(Stopped::RuleMet);
                }
                max_time
                    .is_some_and(|limit| self.spent >= limit)
                    .then_some(Stopped::OutOfTime)
            }
            StopRule::For(length) => (self.spent >= length).then_some(Stopped::RuleMet),
        }
    }

    fn watched(&self) -> Duration {
        let span = self.span.map(|(first, last)| last.since(first));
        span.unwrap_or_default()
    }

    fn reached(&self, target: Precision) -> bool {
        self.blocks >= LEAST_BLOCKS
            && self.watched() >= LEAST_TIME
            && self.mean.is_within(target.fraction())
    }
}

/// How long an open loop runs before it counts: ten times what its queue takes to forget how it began, about
/// S/(1−ρ)² for one server (relaxation time of M/M/1: Cohen, "The Single Server Queue", 1982, II.2.1), but at
/// most a part of the time that is given.
fn filling(case: &Case, stop: StopRule, part: Option<Duration>, operation: Duration) -> Duration {
    let Some(rate) = case.load.pacing.rate() else {
        return Duration::ZERO;
    };
    let service = operation.as_secs_f64();
    let busy = rate.per_second() * service / f64::from(case.workers());
    let idle = (1.0 - busy).max(1e-3);
    let most = match stop {
        StopRule::Runs(runs) => f64::from(runs.get()) / rate.per_second(),
        StopRule::Precision { max_time, .. } => {
            let limit = max_time.or(part);
            limit.unwrap_or(Duration::from_secs(60)).as_secs_f64()
        }
        StopRule::For(length) => length.as_secs_f64(),
    };
    let wanted = 10.0 * service / (idle * idle);
    Duration::try_from_secs_f64(wanted.min(most / f64::from(FILLING))).unwrap_or_default()
}

/// Returns true if a worker was done before another began: together they have no rate then, and no waits.
fn work_apart(block: &Block) -> bool {
    let common = block.common();
    common.is_some_and(|(_, latest, earliest)| latest >= earliest)
}

/// Mean time an operation took, without what it waited for in an open loop.
fn service_time(block: &Block) -> Duration {
    let each = block.done().map(|sample| sample.end.since(sample.start));
    let total: Duration = each.sum();
    let number = u32::try_from(block.done().count()).unwrap_or(u32::MAX);
    total / number.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Capability, DeviceName, Load, Operation, Provenance, Sample, StoreIdentity, StoreKind,
    };

    fn apart(samples: &[(u32, u64, u64)]) -> bool {
        let sample = |&(worker, start, end): &(u32, u64, u64)| {
            Sample::done(worker, Timestamp(start), Timestamp(end))
        };
        work_apart(&Block {
            samples: samples.iter().map(sample).collect(),
            ..Block::default()
        })
    }

    /// The budget of these workers, whose operation takes that long.
    fn budget(workers: u32, operation: Duration) -> Budget {
        let capability = Capability::new("ed25519".parse().unwrap(), Operation::Sign);
        let (device, store) = (DeviceName::software(), StoreKind::SOFTWARE);
        let identity = StoreIdentity::new(device, store, Provenance::Measured, "");
        let load = Load::closed(NonZeroU32::new(workers).unwrap());
        let case = identity.case(capability).loaded(load);
        let settings = Settings {
            stop: StopRule::For(Duration::from_secs(1)),
            ..Settings::default()
        };
        let mut progress = CaseProgress::new(&case, &settings, None, &Block::default());
        progress.operation = operation;
        progress.budget(None)
    }

    #[test]
    fn several_workers_have_blocks_as_long_as_new_threads_need() {
        let (short, long) = (Duration::from_micros(50), Duration::from_millis(200));
        let of = |workers, operation| {
            let budget = budget(workers, operation);
            (budget.time, budget.lead_in)
        };
        assert_eq!(of(1, short), (USUAL_BLOCK, 1));
        assert_eq!(of(2, short), (LEAST_TOGETHER, LEAD_IN_TOGETHER));
        // More would be a good part of what gpg's visits take.
        assert_eq!(of(4, long), (8 * long, 1));
        assert_eq!(of(1, long), (Duration::ZERO, 0));
    }

    #[test]
    fn workers_are_apart_when_one_is_done_before_another_begins() {
        assert!(!apart(&[(0, 0, 10), (0, 10, 20)]));
        assert!(!apart(&[(0, 0, 10), (1, 5, 15)]));
        // Three, of which two are never there together.
        assert!(apart(&[(0, 0, 10), (1, 5, 30), (2, 20, 40)]));
        assert!(apart(&[(0, 0, 10), (0, 10, 20), (1, 200, 210)]));
        assert!(!apart(&[]));
    }
}
