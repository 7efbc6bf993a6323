//! Worker's part of a block, in a thread or a process: two clock readings per operation.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::arrivals::{ArrivalQueue, Thoughts};
use crate::runner::workload::{Calculates, Input, KeyHandle, Performed, Verifiable};
use crate::{
    Clock, Error, Outcome, Pacing, Part, PartSums, Sample, Stretch, Timestamp, nanoseconds,
};

/// Limits of a block.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Budget {
    /// No operation starts later than this after the first.
    pub(crate) time: Duration,
    /// Nor are there more of them, over all workers.
    pub(crate) operations: u64,
    /// Operations each worker does first, uncounted.
    pub(crate) lead_in: u32,
    /// Rule that decides when operations start.
    pub(crate) pacing: Pacing,
}

impl Budget {
    /// The queue of an open loop: the one that is there, or a new one.
    pub(crate) fn queue(
        &self,
        queue: Option<ArrivalQueue>,
        workers: usize,
        seed: u64,
    ) -> Option<ArrivalQueue> {
        let rate = self.pacing.rate()?;
        queue.or_else(|| Some(ArrivalQueue::new(rate, workers, seed)))
    }

    pub(crate) const fn unlimited() -> Self {
        Self {
            time: Duration::MAX,
            operations: u64::MAX,
            lead_in: 0,
            pacing: Pacing::Closed,
        }
    }
}

/// Interval at which a thinking user checks whether the run goes on.
const LOOK: Duration = Duration::from_millis(50);

/// Fill of an output buffer before an operation.
const BLANK: u8 = 0xAA;

/// The outputs of one worker's operations, kept for the check after the block. All of its memory has been written to
/// before: a page that is new would be fetched between two operations.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    bytes: Vec<u8>,
    slot: usize,
    filled: Vec<Option<(usize, usize)>>,
    /// Room for samples, empty.
    samples: Vec<Sample>,
}

impl Outputs {
    /// Bytes a worker may fill before its block ends.
    const ROOM: usize = 4 << 20;
    /// Operations a worker may do before its block ends.
    const OPERATIONS: usize = 8_192;

    pub(crate) fn reset(&mut self, slot: usize) {
        // An operation that writes nothing must not pass by what the last block left here.
        let used = (self.filled.len() * self.slot).min(self.bytes.len());
        self.bytes[..used].fill(BLANK);
        self.slot = slot.max(1);
        let operations = (Self::ROOM / self.slot).clamp(1, Self::OPERATIONS);
        let wanted = operations * self.slot;
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, BLANK);
        }
        if self.samples.capacity() < operations {
            let blank = Sample::done(0, Timestamp(0), Timestamp(0));
            self.samples = vec![blank; operations];
            self.filled = vec![None; operations];
        }
        self.samples.clear();
        self.filled.clear();
    }

    fn is_full(&self) -> bool {
        (self.filled.len() + 1) * self.slot > self.bytes.len()
            || self.filled.len() >= Self::OPERATIONS
    }

    fn next(&mut self) -> &mut [u8] {
        let from = self.filled.len() * self.slot;
        &mut self.bytes[from..from + self.slot]
    }

    /// The outputs of the operations that succeeded, each with its input, in their order.
    pub(crate) fn results(&self) -> impl Iterator<Item = Verifiable<'_>> {
        self.filled
            .iter()
            .enumerate()
            .filter_map(|(place, filled)| {
                let (input, length) = (*filled)?;
                let from = place * self.slot;
                let output = self.bytes.get(from..from + length.min(self.slot))?;
                Some(Verifiable { input, output })
            })
    }

    /// Takes over what a worker elsewhere brought.
    pub(crate) fn take(&mut self, input: usize, output: &[u8]) {
        if self.is_full() {
            return;
        }
        let length = output.len().min(self.slot);
        self.next()[..length].copy_from_slice(&output[..length]);
        self.filled.push(Some((input, length)));
    }
}

/// State that the workers of a block share.
pub(crate) struct Shared<'a> {
    clock: &'a dyn Clock,
    interrupt: &'a AtomicBool,
    inputs: &'a [Input],
    budget: Budget,
    /// Barrier at which each worker waits until all are ready.
    gate: &'a (dyn Fn() + Sync),
    /// Operations that may still start.
    tickets: AtomicI64,
    /// Set by a failing worker, so that the others also stop.
    failed: AtomicBool,
    /// Time when the first worker passed the barrier.
    begin: OnceLock<Timestamp>,
    /// Of an open loop.
    queue: Option<Mutex<ArrivalQueue>>,
    /// Seed of the block.
    seed: u64,
}

/// Result of one worker.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct WorkDone {
    pub(crate) samples: Vec<Sample>,
    pub(crate) failure: Option<Error>,
    pub(crate) parts: PartSums,
    /// Time on the queue's clock when the worker had finished everything it began, in an open loop.
    pub(crate) stopped: Option<Duration>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(
        (clock, interrupt): (&'a dyn Clock, &'a AtomicBool),
        inputs: &'a [Input],
        budget: Budget,
        seed: u64,
        queue: Option<ArrivalQueue>,
        gate: &'a (dyn Fn() + Sync),
    ) -> Self {
        Self {
            clock,
            interrupt,
            inputs,
            budget,
            gate,
            tickets: AtomicI64::new(i64::try_from(budget.operations).unwrap_or(i64::MAX)),
            failed: AtomicBool::new(false),
            begin: OnceLock::new(),
            queue: queue.map(Mutex::new),
            seed,
        }
    }

    /// Waits, and returns whether the moment has come: not if the user ends the run.
    fn waited_until(&self, moment: Timestamp) -> bool {
        loop {
            if self.interrupt.load(Ordering::Relaxed) {
                return false;
            }
            let next = self.clock.now().after(LOOK);
            self.clock.wait_until(next.min(moment));
            if next >= moment {
                return true;
            }
        }
    }

    /// The queue after the block, and what the block covers of it.
    pub(crate) fn end_block(self, done: &[WorkDone]) -> Option<(ArrivalQueue, Stretch)> {
        let mut queue = self
            .queue?
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let stopped =
            |(worker, done): (u32, &WorkDone)| done.stopped.unwrap_or_else(|| queue.free(worker));
        let stopped = (0..).zip(done).map(stopped).collect();
        let stretch = queue.end_block(stopped);
        Some((queue, stretch))
    }
}

/// A worker's view of the queue of an open loop: which moment of its clock is which of the wall's.
struct Turns<'a> {
    queue: &'a Mutex<ArrivalQueue>,
    /// Beginning on the wall's clock, plus keymark's own time since the block began.
    begin: Timestamp,
    /// Beginning on the queue's clock.
    origin: Duration,
    until: Duration,
    free: Duration,
}

impl<'a> Turns<'a> {
    fn new(
        queue: &'a Mutex<ArrivalQueue>,
        worker: u32,
        begin: Timestamp,
        length: Duration,
    ) -> Self {
        let state = queue.lock().unwrap_or_else(PoisonError::into_inner);
        let origin = state.now();
        Self {
            queue,
            begin,
            origin,
            until: origin.saturating_add(length),
            free: state.free(worker),
        }
    }

    /// Waits until the work left over from another block is finished: the next arrival is for the first free worker.
    fn wait_until_free(&self, clock: &dyn Clock) {
        if self.free < self.until {
            clock.wait_until(self.wall(self.free));
        }
    }

    fn claim(&mut self) -> Option<Duration> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let due = queue.claim(self.free, self.until);
        if due.is_none() {
            // It has waited for arrivals that did not come.
            self.free = self.free.max(self.until);
        }
        due
    }

    /// A moment of the queue's clock on the wall's. What arrived before the block did so before its begin.
    fn wall(&self, moment: Duration) -> Timestamp {
        let since = |earlier: Duration, later: Duration| later.saturating_sub(earlier);
        let before = nanoseconds(since(moment, self.origin));
        let begin = self.begin.after(since(self.origin, moment));
        Timestamp(begin.0.saturating_sub(before))
    }

    /// The queue's clock stops for what keymark spends on itself.
    fn pause(&mut self, length: Duration) {
        self.begin = self.begin.after(length);
    }

    fn ended(&mut self, end: Timestamp) {
        self.free = self.origin + end.since(self.begin);
    }
}

/// Enters, waits for the others, leads in, operates until the budget is spent, and leaves.
///
/// Workers lead in together, and what they lead in with is part of the load: by the time that each has
/// finished once, what they queue for is as busy as it stays.
pub(crate) fn work(
    shared: &Shared<'_>,
    worker: u32,
    handle: &mut dyn KeyHandle,
    outputs: &mut Outputs,
) -> WorkDone {
    let mut done = WorkDone {
        samples: std::mem::take(&mut outputs.samples),
        ..WorkDone::default()
    };
    let first = worker as usize % shared.inputs.len().max(1);
    // Everybody comes to the gate, failed or not, and in a panic too: heads are counted.
    let arrival = Arrival(shared.gate);
    let entered = handle.enter();
    drop(arrival);
    let begun = match &entered {
        Ok(()) => lead_in(shared, handle, outputs, first),
        Err(error) => Err(error.clone()),
    };
    if let Err(error) = begun {
        shared.failed.store(true, Ordering::Relaxed);
        done.failure = Some(error);
    }
    if done.failure.is_none() {
        let before = shared.clock.processor();
        operate_until_spent(shared, worker, handle, outputs, first, &mut done);
        note_processor(shared, handle, before, &mut done);
    }
    if entered.is_ok()
        && let Err(error) = handle.leave()
    {
        done.failure.get_or_insert(error);
    }
    let samples = done.samples.clone();
    outputs.samples = std::mem::replace(&mut done.samples, samples);
    done
}

/// Two readings a block, none between operations: asking the kernel costs as much as a short operation's per cent.
fn note_processor(
    shared: &Shared<'_>,
    handle: &dyn KeyHandle,
    before: Option<Duration>,
    done: &mut WorkDone,
) {
    let spent = || shared.clock.processor()?.checked_sub(before?);
    // Who waits for arrivals or thinks spins before each operation.
    let (Pacing::Closed, Calculates::Worker) = (shared.budget.pacing, handle.calculates()) else {
        return;
    };
    if let Some(spent) = spent() {
        let operations = done.samples.len() as u64;
        done.parts.add_all(Part::Worker, operations, spent);
    }
}

/// Comes to the gate when it is dropped.
struct Arrival<'a>(&'a (dyn Fn() + Sync));

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        (self.0)();
    }
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
    // The first operation that counts gets the same input and the same place.
    outputs.next().fill(BLANK);
    Ok(())
}

fn operate_until_spent(
    shared: &Shared<'_>,
    worker: u32,
    handle: &mut dyn KeyHandle,
    outputs: &mut Outputs,
    first: usize,
    done: &mut WorkDone,
) {
    let begin = *shared.begin.get_or_init(|| shared.clock.now());
    let deadline = begin.after(shared.budget.time);
    let mut thoughts = Thoughts::new(shared.seed, worker);
    let queue = shared.queue.as_ref();
    let mut turns = queue.map(|queue| Turns::new(queue, worker, begin, shared.budget.time));
    let mut next_input = first;
    while done.failure.is_none() && may_start(shared, outputs) {
        let mut due = None;
        match (shared.budget.pacing.pause(), &mut turns) {
            (None, None) => {}
            (Some(longest), _) => {
                let ready = shared.clock.now().after(thoughts.next(longest));
                // Whom the end of the block finds thinking starts nothing more. Who has done nothing yet thinks until
                // then: a block that ended at once would be followed by another one, in which thoughts may be shorter.
                if ready >= deadline {
                    if done.samples.is_empty() {
                        shared.waited_until(deadline);
                    }
                    break;
                }
                if !shared.waited_until(ready) {
                    break;
                }
            }
            (None, Some(turns)) => {
                turns.wait_until_free(shared.clock);
                due = turns.claim();
                if due.is_none() {
                    break;
                }
            }
        }
        let turn = turns.as_mut().zip(due);
        let input = (next_input, &shared.inputs[next_input]);
        let end = operate(shared, worker, handle, outputs, input, turn, done);
        next_input = (next_input + 1) % shared.inputs.len();
        if turns.is_none() && end >= deadline {
            break;
        }
    }
    done.stopped = turns.map(|turns| turns.free);
}

fn may_start(shared: &Shared<'_>, outputs: &Outputs) -> bool {
    !outputs.is_full()
        && !shared.interrupt.load(Ordering::Relaxed)
        && !shared.failed.load(Ordering::Relaxed)
        && shared.tickets.fetch_sub(1, Ordering::Relaxed) > 0
}

/// Measures one sample. Only `perform` is between the two clock readings.
fn operate(
    shared: &Shared<'_>,
    worker: u32,
    handle: &mut dyn KeyHandle,
    outputs: &mut Outputs,
    (number, input): (usize, &Input),
    mut turn: Option<(&mut Turns<'_>, Duration)>,
    done: &mut WorkDone,
) -> Timestamp {
    let arming = turn.as_ref().map(|_| shared.clock.now());
    let armed = handle.arm(input);
    let output = outputs.next();
    let scheduled = match (&mut turn, arming) {
        (Some((turns, due)), Some(arming)) => {
            turns.pause(shared.clock.now().since(arming));
            shared.clock.wait_until(turns.wall(turns.free.max(*due)));
            Some(turns.wall(*due))
        }
        _ => None,
    };
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
            outputs.filled.push(Some((number, length)));
            handle.parts(end.since(start), &mut done.parts);
        }
        Err(error) => {
            sample.outcome = Outcome::Failed;
            outputs.filled.push(None);
            shared.failed.store(true, Ordering::Relaxed);
            done.failure = Some(error);
        }
    }
    if let Some((turns, _)) = turn {
        turns.ended(end);
        turns.pause(shared.clock.now().since(end));
    }
    done.samples.push(sample);
    end
}
