//! Prepare, warm up, measure, verify, clean up: drives any [`Stack`] and knows none.

mod alone;
pub mod arrivals;
pub(crate) mod block;
mod progress;
mod schedule;
mod time;
pub(crate) mod worker_loop;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::runner::workload::{Stack, Workload};
use crate::{
    Block, Case, CaseId, CaseRecord, Clock, DeviceName, Ending, Error, Harness, Order, PartSums,
    Plan, Settings, StackName, StopRule, Stopped, read_cost,
};
pub mod worker;
pub mod workload;

pub use alone::measure_alone;
use arrivals::ArrivalQueue;
use block::Buffers;
use progress::CaseProgress;
use schedule::{Account, Shares};
use time::{PlanTime, longest_call};
use worker_loop::Budget;

/// Told what happens while a plan runs. What it does with it takes no measured time.
#[expect(unused_variables, reason = "the names are the documentation")]
pub trait Observer {
    /// The case is being made ready; keys may have to be generated.
    fn preparing(&mut self, id: CaseId, case: &Case) {}
    /// Measuring begins, with that number of cases ready.
    fn measuring(&mut self, harness: &Harness, ready: usize) {}
    /// A block was measured and verified.
    fn block(&mut self, id: CaseId, block: &Block) {}
    /// The case is over.
    fn finished(&mut self, id: CaseId, record: &CaseRecord) {}
}

/// Nobody watches.
impl Observer for () {}

/// Observers in a row.
impl Observer for Vec<&mut dyn Observer> {
    fn preparing(&mut self, id: CaseId, case: &Case) {
        self.iter_mut()
            .for_each(|observer| observer.preparing(id, case));
    }
    fn measuring(&mut self, harness: &Harness, ready: usize) {
        self.iter_mut()
            .for_each(|observer| observer.measuring(harness, ready));
    }
    fn block(&mut self, id: CaseId, block: &Block) {
        self.iter_mut()
            .for_each(|observer| observer.block(id, block));
    }
    fn finished(&mut self, id: CaseId, record: &CaseRecord) {
        self.iter_mut()
            .for_each(|observer| observer.finished(id, record));
    }
}

/// The ways to the devices of a plan.
pub type Stacks<'a> = BTreeMap<(DeviceName, StackName), &'a dyn Stack>;

/// Runs plans.
#[derive(Debug)]
pub struct Runner<'a> {
    /// Clock of the samples.
    pub clock: &'a dyn Clock,
    /// Calculation that shows the machine's own speed: [`crate::reference::calculate`].
    pub reference: fn(),
    /// Set from outside (Ctrl-C) to end the run after the operations under way.
    pub interrupt: &'a AtomicBool,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The harness's own cost.
    pub harness: Harness,
    /// Records of the plan's cases, in its order.
    pub cases: Vec<CaseRecord>,
    /// True if the user ended the run.
    pub interrupted: bool,
    /// Time spent.
    pub spent: Spent,
}

/// Time that a run has spent, by activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Keys, homes and connections, and the warm-up.
    pub preparing: Duration,
    /// Blocks, with what has to be done around them.
    pub measuring: Duration,
    /// The check of what they brought.
    pub checking: Duration,
}

impl Spent {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.preparing + self.measuring + self.checking
    }
}

impl Runner<'_> {
    /// Runs the plan to its end. A failing case ends with its reason and the others go on.
    pub fn run(&self, plan: &Plan, stacks: &Stacks<'_>, observer: &mut dyn Observer) -> Measured {
        let mut run = RunningPlan {
            runner: self,
            settings: &plan.settings,
            baselines: (0..plan.cases.len())
                .map(|index| plan.baseline(index))
                .collect(),
            known: BTreeSet::new(),
            buffers: Buffers::default(),
            records: plan.cases.iter().cloned().map(CaseRecord::new).collect(),
            observer,
            checking: Duration::ZERO,
        };
        let begin = self.clock.now();
        let harness = run.harness();
        let mut active = run.prepare(plan, stacks);
        let prepared = self.clock.now();
        run.checking = Duration::ZERO;
        run.observer.measuring(&harness, active.len());
        match plan.settings.order {
            Order::Interleaved => run.measure(active, plan.settings.time_limit),
            Order::Sequential => {
                // Each case gets its part of the plan's time, so that the last is not starved.
                let parts = u32::try_from(active.len()).unwrap_or(u32::MAX).max(1);
                let part = plan.settings.time_limit.map(|limit| limit / parts);
                for case in active.drain(..) {
                    run.measure(vec![case], part);
                }
            }
        }
        let interrupted = self.interrupted();
        let checking = run.checking;
        Measured {
            harness,
            cases: run.records,
            interrupted,
            spent: Spent {
                preparing: prepared.since(begin),
                measuring: self.clock.now().since(prepared).saturating_sub(checking),
                checking,
            },
        }
    }

    /// Returns the time of the reference calculation, in nanoseconds.
    fn reference_ns(&self) -> u64 {
        let begin = self.clock.now();
        (self.reference)();
        self.clock.now().0.saturating_sub(begin.0)
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// A case under way.
struct Active {
    id: CaseId,
    workload: Workload,
    progress: CaseProgress,
    account: Account,
    parts: PartSums,
    /// Of an open loop.
    queue: Option<ArrivalQueue>,
}

/// Run of a plan.
struct RunningPlan<'r> {
    runner: &'r Runner<'r>,
    settings: &'r Settings,
    /// Index of each case's baseline, in the plan's order.
    baselines: Vec<Option<usize>>,
    /// Cases that are known well enough by themselves.
    known: BTreeSet<CaseId>,
    buffers: Buffers,
    records: Vec<CaseRecord>,
    observer: &'r mut dyn Observer,
    /// Time of checks, which counts as nobody's measuring time.
    checking: Duration,
}

impl RunningPlan<'_> {
    /// The harness's own cost, with a handle that does nothing.
    fn harness(&mut self) -> Harness {
        const OPERATIONS: u64 = 2_000;
        let (clock_resolution_ns, clock_reading_ns) = read_cost(self.runner.clock);
        let mut idle = block::idle_workload();
        let budget = Budget {
            operations: OPERATIONS,
            lead_in: 100,
            ..Budget::unlimited()
        };
        let measured = block::measure(
            self.runner,
            &mut idle,
            &mut self.buffers,
            budget,
            0,
            &mut None,
            None,
        );
        let samples = &measured.block.samples;
        let loop_ns = match (samples.first(), samples.last()) {
            (Some(first), Some(last)) => {
                let inside: u64 = samples.iter().map(|sample| sample.latency_ns()).sum();
                (last.end.0 - first.start.0).saturating_sub(inside) / samples.len() as u64
            }
            _ => 0,
        };
        Harness {
            clock_resolution_ns,
            clock_reading_ns,
            loop_ns,
        }
    }

    /// Makes every case ready and warms it up; those that cannot be are ended with the reason.
    fn prepare(&mut self, plan: &Plan, stacks: &Stacks<'_>) -> Vec<Active> {
        let mut active = Vec::new();
        for (index, case) in plan.cases.iter().enumerate() {
            let id = CaseId::at(index);
            if self.runner.interrupted() {
                self.finish(id, Stopped::Interrupted.into());
                continue;
            }
            self.observer.preparing(id, case);
            let ready = match stacks.get(&(case.device.clone(), case.stack)) {
                Some(stack) => stack.prepare(case),
                None => Err(Error::Unsupported {
                    by: format!("{} through {}", case.device, case.stack),
                    operation: case.operation,
                    algorithm: case.algorithm,
                }),
            };
            match ready
                .map_err(Ending::from)
                .and_then(|ready| self.warm_up(id, case, ready))
            {
                Ok(case) => active.push(case),
                // What Ctrl-C broke off has not failed.
                Err(_) if self.runner.interrupted() => self.finish(id, Stopped::Interrupted.into()),
                Err(failure) => self.finish(id, failure),
            }
        }
        active
    }

    /// Primes caches, and learns what an operation costs.
    fn warm_up(
        &mut self,
        id: CaseId,
        case: &Case,
        mut workload: Workload,
    ) -> Result<Active, Ending> {
        let workers = u64::from(case.workers());
        let budget = Budget {
            operations: workers,
            lead_in: self.settings.warmup,
            ..Budget::unlimited()
        };
        let cases = u32::try_from(self.records.len()).unwrap_or(u32::MAX).max(1);
        let part = self.settings.time_limit.map(|limit| limit / cases);
        let given = [self.settings.time_limit, self.settings.stop.time()];
        let given = given.into_iter().flatten().min();
        let measured = block::measure(
            self.runner,
            &mut workload,
            &mut self.buffers,
            budget,
            self.settings.seed,
            &mut None,
            longest_call(given, part, Duration::ZERO),
        );
        if let Some(failure) = measured.failure {
            return Err(failure);
        }
        let progress = CaseProgress::new(case, self.settings, part, &measured.block);
        Ok(Active {
            id,
            workload,
            account: Account::new(progress.visit(part)),
            progress,
            parts: measured.parts.of_warm_up(),
            queue: None,
        })
    }

    /// Rounds over the cases until each has met its stop rule or the time is up.
    fn measure(&mut self, mut active: Vec<Active>, limit: Option<Duration>) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.settings.seed);
        let part =
            limit.map(|limit| limit / u32::try_from(active.len()).unwrap_or(u32::MAX).max(1));
        let time = PlanTime {
            deadline: limit.map(|limit| self.runner.clock.now().after(limit)),
            checked_before: self.checking,
            part,
        };
        for round in 0.. {
            // The ways to one key's operation are compared.
            let key = |case: &Active| {
                let record = self.records.get(case.id.0 as usize);
                record.map(|record| (record.case.algorithm, record.case.operation))
            };
            schedule::shuffle(&mut active, key, &mut rng);
            let left = self.left(&time, &active);
            let shares = Shares::new(active.iter().map(|case| &case.account), left);
            let mut remaining = Vec::with_capacity(active.len());
            for mut case in active {
                match self.turn(&mut case, round, &shares, &time, &mut rng) {
                    None => remaining.push(case),
                    Some(ending) => {
                        self.note_parts(&case);
                        let message_bytes = case.workload.verifier.message_bytes();
                        let ending = Ending {
                            message_bytes,
                            ..ending
                        };
                        self.finish(case.id, ending);
                    }
                }
            }
            active = remaining;
            if active.is_empty() {
                return;
            }
        }
    }

    /// Returns the time left to measure these cases; none where a number of operations ends them.
    fn left(&self, time: &PlanTime, active: &[Active]) -> Option<Duration> {
        time.left(self).or_else(|| {
            let left = active.iter().map(|case| case.progress.time_left());
            left.sum()
        })
    }

    /// Gives a case its turn in a round: a block, if credit and time suffice. Returns the case's end, if it has ended.
    fn turn(
        &mut self,
        case: &mut Active,
        round: u32,
        shares: &Shares,
        time: &PlanTime,
        rng: &mut ChaCha8Rng,
    ) -> Option<Ending> {
        if self.runner.interrupted() {
            return Some(Stopped::Interrupted.into());
        }
        let of_plan = time.left(self);
        let left = [of_plan, case.progress.time_left()];
        let left = left.into_iter().flatten().min();
        // Half a visit that would end late is as near to the promise as half a visit less.
        if left.is_some_and(|left| left < case.account.cost() / 2) && case.progress.has_samples() {
            let stopped = case.progress.stopped().unwrap_or(Stopped::OutOfTime);
            return Some(stopped.into());
        }
        if of_plan.is_some_and(|left| left.is_zero()) {
            case.progress.stop_filling();
        }
        if !case.account.receive(shares) {
            return None;
        }
        self.visit(case, round, left, time.part, rng)
    }

    /// Measures one block of a case.
    fn visit(
        &mut self,
        case: &mut Active,
        round: u32,
        left: Option<Duration>,
        part: Option<Duration>,
        rng: &mut ChaCha8Rng,
    ) -> Option<Ending> {
        let begin = self.runner.clock.now();
        let mut budget = case.progress.budget(part);
        budget.time = left.map_or(budget.time, |left| budget.time.min(left));
        let seed = self.settings.seed ^ (u64::from(round) << 32) ^ u64::from(case.id.0);
        let mut measured = block::measure(
            self.runner,
            &mut case.workload,
            &mut self.buffers,
            budget,
            seed,
            &mut case.queue,
            longest_call(left, part, case.account.cost()),
        );
        let took = self.runner.clock.now().since(begin);
        let took = took.saturating_sub(measured.checking);
        self.checking += measured.checking;
        case.account.pay(took, rng);
        case.progress.spend(took);
        measured.block.round = round;
        if measured.failure.is_none() && case.progress.fills_the_queue(&measured.block) {
            return None;
        }
        case.parts.merge(&measured.parts);
        case.progress.add(&measured.block);
        if let Some(record) = self.records.get_mut(case.id.0 as usize) {
            self.observer.block(case.id, &measured.block);
            record.blocks.push(measured.block);
        }
        match measured.failure {
            // What Ctrl-C broke off has not failed.
            Some(_) if self.runner.interrupted() => Some(Stopped::Interrupted.into()),
            Some(failure) => Some(failure),
            None => {
                let stopped = case.progress.stopped()?;
                self.known.insert(case.id);
                let goes_on = self.is_awaited(case.id, stopped);
                (!goes_on).then(|| stopped.into())
            }
        }
    }

    /// Returns true if a case that is known well enough by itself goes on, because a ratio is taken over the time in
    /// which both its sides were measured: to another case that is still measured, or of this one to a baseline that
    /// is not known well enough yet.
    fn is_awaited(&self, id: CaseId, stopped: Stopped) -> bool {
        let by_precision = match self.settings.stop {
            StopRule::Precision { .. } => stopped == Stopped::RuleMet,
            StopRule::Runs(_) | StopRule::For(_) => false,
        };
        let own = id.0 as usize;
        let is_measured = |index: usize| self.records[index].ending.is_none();
        let needs = |(index, baseline): (usize, &Option<usize>)| {
            index != own && *baseline == Some(own) && is_measured(index)
        };
        let waits = |baseline: usize| {
            let is_known = self.known.contains(&CaseId::at(baseline));
            baseline != own && is_measured(baseline) && !is_known
        };
        let interleaved = self.settings.order == Order::Interleaved;
        interleaved
            && by_precision
            && (self.baselines[own].is_some_and(waits)
                || self.baselines.iter().enumerate().any(needs))
    }

    fn note_parts(&mut self, case: &Active) {
        let means = case.parts.means();
        if let Some(record) = self.records.get_mut(case.id.0 as usize) {
            record.parts = (!means.0.is_empty()).then_some(means);
        }
    }

    fn finish(&mut self, id: CaseId, ending: Ending) {
        if let Some(record) = self.records.get_mut(id.0 as usize) {
            record.ending = Some(ending);
            self.observer.finished(id, record);
        }
    }
}
