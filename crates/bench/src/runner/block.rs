//! One block: workers released by one barrier, two clock readings an operation, checks afterwards.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, OnceLock};
use std::time::Duration;

use crate::case::Pacing;
use crate::clock::{Clock, Timestamp};
use crate::error::{Error, ReturnCode};
use crate::parts::PartSums;
use crate::sample::{Block, Outcome, Sample};
use crate::workload::{Input, KeyHandle, Performed, Verifiable, Verifier, Workload};

use super::Runner;
use super::arrivals::{self, Thoughts};

/// How long a block may last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// No operation starts later than this after the first.
    pub(super) time: Duration,
    /// Nor are there more of them, over all workers.
    pub(super) operations: u64,
    /// Operations each worker does before the barrier, uncounted.
    pub(super) lead_in: u32,
    /// When operations start.
    pub(super) pacing: Pacing,
}

impl Budget {
    pub(super) const fn unlimited() -> Self {
        Self {
            time: Duration::MAX,
            operations: u64::MAX,
            lead_in: 0,
            pacing: Pacing::Closed,
        }
    }
}

/// What a block yields.
pub(super) struct MeasuredBlock {
    pub(super) block: Block,
    /// Why its first failing operation failed.
    pub(super) failure: Option<Failure>,
    /// Where the time of its operations went.
    pub(super) parts: PartSums,
}

/// Why a case ends early: an error, or a result that the check refused.
#[derive(Debug, Default)]
pub(super) struct Failure {
    pub(super) reason: String,
    pub(super) code: Option<ReturnCode>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            reason: error.to_string(),
            code: error.code().cloned(),
        }
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self { reason, code: None }
    }
}

/// Room for outputs, kept from block to block: fresh pages would fault inside the timed region.
#[derive(Default)]
pub(super) struct Buffers {
    workers: Vec<Outputs>,
}

/// The outputs of one worker's operations, kept for the check after the block.
#[derive(Default)]
struct Outputs {
    bytes: Vec<u8>,
    slot: usize,
    filled: Vec<Option<(usize, usize)>>,
}

impl Outputs {
    /// Bytes a worker may fill before its block ends.
    const ROOM: usize = 4 << 20;
    /// Operations a worker may do before its block ends.
    const OPERATIONS: usize = 8_192;

    fn reset(&mut self, slot: usize) {
        self.slot = slot.max(1);
        let operations = (Self::ROOM / self.slot).clamp(1, Self::OPERATIONS);
        let wanted = operations * self.slot;
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0xAA);
        }
        self.filled.clear();
        self.filled.reserve(operations);
    }

    fn is_full(&self) -> bool {
        (self.filled.len() + 1) * self.slot > self.bytes.len()
            || self.filled.len() >= Self::OPERATIONS
    }

    fn next(&mut self) -> &mut [u8] {
        let from = self.filled.len() * self.slot;
        &mut self.bytes[from..from + self.slot]
    }
}

/// What the workers of a block share.
struct Shared<'a> {
    clock: &'a dyn Clock,
    interrupt: &'a AtomicBool,
    inputs: &'a [Input],
    budget: Budget,
    barrier: Barrier,
    /// Operations that may still start.
    tickets: AtomicI64,
    /// Set by a failing worker, so that the others stop as well.
    failed: AtomicBool,
    /// When the first worker came past the barrier.
    begin: OnceLock<Timestamp>,
    /// Arrivals of an open loop, counted from `begin`.
    due: Vec<Duration>,
    /// Of what is random in the block.
    seed: u64,
    /// The next of them.
    arrival: AtomicUsize,
}

/// What one worker brings back.
struct Shift {
    samples: Vec<Sample>,
    failure: Option<Error>,
    parts: PartSums,
}

/// Measures one block.
pub(super) fn measure(
    runner: &Runner<'_>,
    workload: &mut Workload,
    buffers: &mut Buffers,
    budget: Budget,
    seed: u64,
) -> MeasuredBlock {
    let workers = workload.handles.len();
    if buffers.workers.len() < workers {
        buffers.workers.resize_with(workers, Outputs::default);
    }
    let shared = Shared {
        clock: runner.clock,
        interrupt: runner.interrupt,
        inputs: &workload.inputs,
        budget,
        barrier: Barrier::new(workers),
        tickets: AtomicI64::new(i64::try_from(budget.operations).unwrap_or(i64::MAX)),
        failed: AtomicBool::new(false),
        begin: OnceLock::new(),
        due: match budget.pacing {
            Pacing::Closed | Pacing::Thinking(_) => Vec::new(),
            Pacing::Open(rate) => arrivals::poisson(rate, budget.time, seed),
        },
        seed,
        arrival: AtomicUsize::new(0),
    };
    let outputs = &mut buffers.workers[..workers];
    outputs
        .iter_mut()
        .for_each(|outputs| outputs.reset(workload.output_capacity));
    let shifts: Vec<Shift> = match (workload.handles.as_mut_slice(), &mut *outputs) {
        // One worker needs no thread, and no thread's start-up near its samples.
        ([handle], [outputs]) => vec![work(&shared, 0, handle.as_mut(), outputs)],
        (handles, outputs) => std::thread::scope(|scope| {
            let threads: Vec<_> = (0..)
                .zip(handles.iter_mut().zip(outputs.iter_mut()))
                .map(|(worker, (handle, outputs))| {
                    let shared = &shared;
                    scope.spawn(move || work(shared, worker, handle.as_mut(), outputs))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        }),
    };
    conclude(shifts, outputs, workload.verifier.as_ref())
}

/// One worker's part: enters, leads in, waits for the others, operates until the budget is spent, and
/// leaves.
fn work(
    shared: &Shared<'_>,
    worker: u32,
    handle: &mut dyn KeyHandle,
    outputs: &mut Outputs,
) -> Shift {
    let mut shift = Shift {
        samples: Vec::with_capacity(1024),
        failure: None,
        parts: PartSums::default(),
    };
    let first = worker as usize % shared.inputs.len().max(1);
    let entered = handle.enter();
    let begun = match &entered {
        Ok(()) => lead_in(shared, handle, outputs, first),
        Err(error) => Err(error.clone()),
    };
    if let Err(error) = begun {
        shared.failed.store(true, Ordering::Relaxed);
        shift.failure = Some(error);
    }
    // Everybody comes here, failed or not: the barrier counts heads.
    shared.barrier.wait();
    if shift.failure.is_none() {
        operate_until_spent(shared, worker, handle, outputs, first, &mut shift);
    }
    if entered.is_ok()
        && let Err(error) = handle.leave()
    {
        shift.failure.get_or_insert(error);
    }
    shift
}

fn lead_in(
    shared: &Shared<'_>,
    handle: &mut dyn KeyHandle,
    outputs: &mut Outputs,
    first: usize,
) -> Result<(), Error> {
    for _ in 0..shared.budget.lead_in {
        let input = &shared.inputs[first];
        handle.arm(input)?;
        let performed = handle.perform(input, outputs.next())?;
        handle.collect(performed, outputs.next())?;
    }
    Ok(())
}

fn operate_until_spent(
    shared: &Shared<'_>,
    worker: u32,
    handle: &mut dyn KeyHandle,
    outputs: &mut Outputs,
    first: usize,
    shift: &mut Shift,
) {
    let begin = *shared.begin.get_or_init(|| shared.clock.now());
    let deadline = begin.after(shared.budget.time);
    let mut thoughts = Thoughts::new(shared.seed, worker);
    let mut next_input = first;
    while shift.failure.is_none() && may_start(shared, outputs) {
        let scheduled = match shared.budget.pacing {
            Pacing::Closed => None,
            Pacing::Thinking(longest) => {
                let ready = shared.clock.now().after(thoughts.next(longest));
                // Whom the end of the block finds thinking starts nothing more; one operation is wanted.
                if ready >= deadline && !shift.samples.is_empty() {
                    break;
                }
                shared.clock.wait_until(ready);
                None
            }
            Pacing::Open(_) => {
                let next = shared.arrival.fetch_add(1, Ordering::Relaxed);
                let Some(offset) = shared.due.get(next) else {
                    break;
                };
                shared.clock.wait_until(begin.after(*offset));
                Some(begin.after(*offset))
            }
        };
        let end = operate(
            shared, worker, handle, outputs, next_input, scheduled, shift,
        );
        next_input = (next_input + 1) % shared.inputs.len();
        // Arrivals of an open loop are all served.
        if scheduled.is_none() && end >= deadline {
            break;
        }
    }
}

fn may_start(shared: &Shared<'_>, outputs: &Outputs) -> bool {
    !outputs.is_full()
        && !shared.interrupt.load(Ordering::Relaxed)
        && !shared.failed.load(Ordering::Relaxed)
        && shared.tickets.fetch_sub(1, Ordering::Relaxed) > 0
}

/// One sample. Only `perform` stands between the two clock readings.
fn operate(
    shared: &Shared<'_>,
    worker: u32,
    handle: &mut dyn KeyHandle,
    outputs: &mut Outputs,
    next_input: usize,
    scheduled: Option<Timestamp>,
    shift: &mut Shift,
) -> Timestamp {
    let input = &shared.inputs[next_input];
    let armed = handle.arm(input);
    let output = outputs.next();
    let start = shared.clock.now();
    let performed = armed.and_then(|()| handle.perform(input, output));
    let end = shared.clock.now();
    let cpu = performed.as_ref().ok().and_then(|performed| performed.cpu);
    let collected = performed.and_then(|performed: Performed| handle.collect(performed, output));
    let mut sample = Sample {
        worker,
        scheduled: scheduled.unwrap_or(start),
        start,
        end,
        outcome: Outcome::Done,
        cpu,
    };
    match collected {
        Ok(length) => {
            outputs.filled.push(Some((next_input, length)));
            handle.parts(end.since(start), &mut shift.parts);
        }
        Err(error) => {
            sample.outcome = Outcome::Failed;
            outputs.filled.push(None);
            shared.failed.store(true, Ordering::Relaxed);
            shift.failure = Some(error);
        }
    }
    shift.samples.push(sample);
    end
}

/// Checks every result and puts the samples in order of their end.
fn conclude(shifts: Vec<Shift>, outputs: &[Outputs], verifier: &dyn Verifier) -> MeasuredBlock {
    let mut failure = shifts
        .iter()
        .find_map(|shift| shift.failure.clone())
        .map(Failure::from);
    let results: Vec<Verifiable<'_>> = outputs
        .iter()
        .flat_map(|outputs| {
            outputs
                .filled
                .iter()
                .enumerate()
                .filter_map(|(place, filled)| {
                    let (input, length) = (*filled)?;
                    let from = place * outputs.slot;
                    let output = outputs.bytes.get(from..from + length.min(outputs.slot))?;
                    Some(Verifiable { input, output })
                })
        })
        .collect();
    let mut verdicts = verifier.verify(&results).into_iter();
    let mut parts = PartSums::default();
    shifts.iter().for_each(|shift| parts.merge(&shift.parts));
    let mut samples = Vec::with_capacity(results.len());
    for mut sample in shifts.into_iter().flat_map(|shift| shift.samples) {
        if sample.outcome == Outcome::Done {
            // A check that gives no verdict has not vouched for the operation.
            let verdict = verdicts
                .next()
                .unwrap_or_else(|| Err("the result was not checked".to_owned()));
            if let Err(reason) = verdict {
                sample.outcome = Outcome::Wrong;
                failure.get_or_insert(Failure::from(reason));
            }
        }
        samples.push(sample);
    }
    samples.sort_by_key(|sample| sample.end);
    MeasuredBlock {
        block: Block { round: 0, samples },
        failure,
        parts,
    }
}

/// A workload that does nothing, to measure the loop around it.
pub(super) fn idle_workload() -> Workload {
    struct Idle;
    impl KeyHandle for Idle {
        fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
            std::hint::black_box((input, output));
            Ok(Performed::default())
        }
    }
    impl Verifier for Idle {
        fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
            vec![Ok(()); results.len()]
        }
    }
    Workload {
        handles: vec![Box::new(Idle)],
        inputs: [Input { bytes: Vec::new() }].into(),
        verifier: Arc::new(Idle),
        output_capacity: 1,
    }
}
