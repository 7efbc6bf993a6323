//! Prepare, warm up, measure, verify, clean up: drives any [`Stack`] and knows none.

pub(crate) mod arrivals;
mod block;
mod progress;
pub(crate) mod shift;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::case::{Case, CaseId, DeviceName, StackName};
use crate::clock::{Clock, Harness, Timestamp, read_cost};
use crate::error::Error;
use crate::parts::PartSums;
use crate::plan::{Order, Plan, Settings};
use crate::record::{CaseRecord, Ending};
use crate::sample::Block;
use crate::stop::Stopped;
use crate::workload::{Stack, Workload};

use arrivals::Queue;
use block::{Buffers, Failure};
use progress::Progress;
use shift::Budget;

/// Told what happens while a plan runs. What it does with it takes no measured time.
pub trait Observer {
    /// The case is being made ready; keys may have to be generated.
    fn preparing(&mut self, id: CaseId, case: &Case) {
        let _ = (id, case);
    }
    /// Measuring begins, with so many cases ready.
    fn measuring(&mut self, harness: &Harness, ready: usize) {
        let _ = (harness, ready);
    }
    /// A block was measured and verified.
    fn block(&mut self, id: CaseId, block: &Block) {
        let _ = (id, block);
    }
    /// The case is over.
    fn finished(&mut self, id: CaseId, record: &CaseRecord) {
        let _ = (id, record);
    }
}

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
    /// What samples are timed with.
    pub clock: &'a dyn Clock,
    /// Set from outside (Ctrl-C) to end the run after the operations under way.
    pub interrupt: &'a AtomicBool,
}

/// What a run yields.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The harness's own cost.
    pub harness: Harness,
    /// One record a case of the plan, in its order.
    pub cases: Vec<CaseRecord>,
    /// Whether the user ended it.
    pub interrupted: bool,
}

impl Runner<'_> {
    /// Runs the plan to its end. A failing case ends with its reason and the others go on.
    pub fn run(&self, plan: &Plan, stacks: &Stacks<'_>, observer: &mut dyn Observer) -> Measured {
        let mut run = Run {
            runner: self,
            settings: &plan.settings,
            buffers: Buffers::default(),
            records: plan.cases.iter().cloned().map(CaseRecord::new).collect(),
            observer,
        };
        let harness = run.harness();
        let mut active = run.prepare(plan, stacks);
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
        Measured {
            harness,
            cases: run.records,
            interrupted,
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// A case under way.
struct Active {
    id: CaseId,
    workload: Workload,
    progress: Progress,
    parts: PartSums,
    /// Of an open loop.
    queue: Option<Queue>,
}

/// One run of a plan.
struct Run<'r> {
    runner: &'r Runner<'r>,
    settings: &'r Settings,
    buffers: Buffers,
    records: Vec<CaseRecord>,
    observer: &'r mut dyn Observer,
}

impl Run<'_> {
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
            let id = CaseId(u32::try_from(index).unwrap_or(u32::MAX));
            if self.runner.interrupted() {
                self.finish(id, Stopped::Interrupted, None);
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
                .map_err(Failure::from)
                .and_then(|ready| self.warm_up(id, case, ready))
            {
                Ok(case) => active.push(case),
                // What Ctrl-C broke off has not failed.
                Err(_) if self.runner.interrupted() => self.finish(id, Stopped::Interrupted, None),
                Err(reason) => self.finish(id, Stopped::Failed, Some(reason)),
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
    ) -> Result<Active, Failure> {
        let workers = u64::from(case.concurrency());
        let budget = Budget {
            operations: workers,
            lead_in: self.settings.warmup,
            ..Budget::unlimited()
        };
        let measured = block::measure(
            self.runner,
            &mut workload,
            &mut self.buffers,
            budget,
            self.settings.seed,
            &mut None,
        );
        if let Some(reason) = measured.failure {
            return Err(reason);
        }
        let cases = u32::try_from(self.records.len()).unwrap_or(u32::MAX).max(1);
        let part = self.settings.time_limit.map(|limit| limit / cases);
        let progress = Progress::new(case, self.settings, part, &measured.block);
        Ok(Active {
            id,
            workload,
            progress,
            parts: measured.parts.of_warm_up(),
            queue: None,
        })
    }

    /// Rounds over the cases until each has met its stop rule or the time is up.
    fn measure(&mut self, mut active: Vec<Active>, limit: Option<Duration>) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.settings.seed);
        let deadline = limit.map(|limit| self.runner.clock.now().after(limit));
        let part =
            limit.map(|limit| limit / u32::try_from(active.len()).unwrap_or(u32::MAX).max(1));
        for round in 0.. {
            active.shuffle(&mut rng);
            let mut remaining = Vec::with_capacity(active.len());
            for mut case in active {
                let stopped = self.visit(&mut case, round, part, deadline);
                match stopped {
                    Some((stopped, reason)) => {
                        self.note_parts(&case);
                        self.finish(case.id, stopped, reason);
                    }
                    None => remaining.push(case),
                }
            }
            active = remaining;
            if active.is_empty() {
                return;
            }
        }
    }

    /// One block of one case, or the reason why there will be no further one.
    fn visit(
        &mut self,
        case: &mut Active,
        round: u32,
        part: Option<Duration>,
        deadline: Option<Timestamp>,
    ) -> Option<(Stopped, Option<Failure>)> {
        if self.runner.interrupted() {
            return Some((Stopped::Interrupted, None));
        }
        let late = deadline.is_some_and(|deadline| self.runner.clock.now() >= deadline);
        if late && case.progress.has_samples() {
            return Some((Stopped::OutOfTime, None));
        }
        if late {
            case.progress.stop_filling();
        }
        let budget = case.progress.budget(part);
        let seed = self.settings.seed ^ (u64::from(round) << 32) ^ u64::from(case.id.0);
        let mut measured = block::measure(
            self.runner,
            &mut case.workload,
            &mut self.buffers,
            budget,
            seed,
            &mut case.queue,
        );
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
            Some(reason) => Some((Stopped::Failed, Some(reason))),
            None => case.progress.stopped().map(|stopped| (stopped, None)),
        }
    }

    fn note_parts(&mut self, case: &Active) {
        let means = case.parts.means();
        if let Some(record) = self.records.get_mut(case.id.0 as usize) {
            record.parts = (!means.0.is_empty()).then_some(means);
        }
    }

    fn finish(&mut self, id: CaseId, stopped: Stopped, failure: Option<Failure>) {
        if let Some(record) = self.records.get_mut(id.0 as usize) {
            let Failure { reason, code } = failure.unwrap_or_default();
            let reason = (!reason.is_empty()).then_some(reason);
            record.ending = Some(Ending {
                stopped,
                reason,
                code,
            });
            self.observer.finished(id, record);
        }
    }
}
