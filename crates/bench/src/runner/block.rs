//! Block: workers released together, and the check of their results.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::runner::worker::{self, Terms};
use crate::runner::workload::{Crew, Input, KeyHandle, Performed, Verifiable, Verifier, Workload};
use crate::{Block, Ending, Error, Outcome, PartSums};

use super::Runner;
use super::arrivals::ArrivalQueue;
use super::worker_loop::{Budget, Outputs, Shared, WorkDone, work};

/// Result of a block.
pub(super) struct MeasuredBlock {
    pub(super) block: Block,
    /// Why its first failing operation failed, or its result was refused.
    pub(super) failure: Option<Ending>,
    /// Parts of its operations' time.
    pub(super) parts: PartSums,
    /// Time of checking its results.
    pub(super) checking: Duration,
}

/// Room for outputs, kept from block to block: fresh pages would fault inside the timed region.
#[derive(Default)]
pub(super) struct Buffers {
    workers: Vec<Outputs>,
}

/// Measures one block.
pub(super) fn measure(
    runner: &Runner<'_>,
    workload: &mut Workload,
    buffers: &mut Buffers,
    budget: Budget,
    seed: u64,
    queue: &mut Option<ArrivalQueue>,
    limit: Option<Duration>,
) -> MeasuredBlock {
    let workers = workload.crew.size();
    if buffers.workers.len() < workers {
        buffers.workers.resize_with(workers, Outputs::default);
    }
    let outputs = &mut buffers.workers[..workers];
    outputs
        .iter_mut()
        .for_each(|outputs| outputs.reset(workload.output_capacity));
    let before = runner.reference_ns();
    let (done, stretch) = match &mut workload.crew {
        Crew::Threads(handles) => {
            let start = Start::of(workers);
            let gate = || start.arrive();
            let inputs = &workload.inputs;
            let clock = (runner.clock, runner.interrupt);
            let waiting = budget.queue(queue.take(), workers, seed);
            let shared = Shared::new(clock, inputs, budget, seed, waiting, &gate);
            let done = in_threads(&shared, &start, handles, outputs);
            let ended = shared.end_block(&done);
            let (after, stretch) = ended.unzip();
            *queue = after;
            (done, stretch)
        }
        Crew::Processes(processes) => {
            let terms = Terms {
                clock: runner.clock,
                inputs: &workload.inputs,
                output_capacity: workload.output_capacity,
                limit,
            };
            worker::in_processes(processes, &terms, budget, seed, outputs)
        }
    };
    let around = before.midpoint(runner.reference_ns());
    let checked_from = runner.clock.now();
    let mut measured = conclude(done, outputs, workload.verifier.as_ref());
    measured.checking = runner.clock.now().since(checked_from);
    measured.block.queue = stretch;
    measured.block.reference_ns = (around > 0).then_some(around);
    measured
}

/// Barrier of the workers. A missing worker is counted out.
pub(crate) struct Start {
    missing: Mutex<usize>,
    complete: Condvar,
}

impl Start {
    pub(crate) const fn of(workers: usize) -> Self {
        Self {
            missing: Mutex::new(workers),
            complete: Condvar::new(),
        }
    }

    /// Waits until the others are here.
    pub(crate) fn arrive(&self) {
        let missing = self.count_one();
        let waiting = self.complete.wait_while(missing, |missing| *missing > 0);
        drop(waiting.unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts out a missing worker.
    fn never_mind_one(&self) {
        drop(self.count_one());
    }

    fn count_one(&self) -> MutexGuard<'_, usize> {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = missing.saturating_sub(1);
        if *missing == 0 {
            self.complete.notify_all();
        }
        missing
    }
}

pub(crate) fn in_threads(
    shared: &Shared<'_>,
    start: &Start,
    handles: &mut [Box<dyn KeyHandle>],
    outputs: &mut [Outputs],
) -> Vec<WorkDone> {
    match (handles, outputs) {
        // One worker needs no thread, and no thread's start-up near its samples.
        ([handle], [outputs]) => vec![work(shared, 0, handle.as_mut(), outputs)],
        (handles, outputs) => std::thread::scope(|scope| {
            let threads: Vec<_> = (0..)
                .zip(handles.iter_mut().zip(outputs.iter_mut()))
                .map(|(worker, (handle, outputs))| {
                    let work = move || work(shared, worker, handle.as_mut(), outputs);
                    let thread = std::thread::Builder::new().spawn_scoped(scope, work);
                    thread.inspect_err(|_| start.never_mind_one())
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| match thread {
                    Ok(thread) => thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                    Err(error) => WorkDone {
                        failure: Some(Error::call("starting a thread", error, "")),
                        ..WorkDone::default()
                    },
                })
                .collect()
        }),
    }
}

/// Checks every result and puts the samples in order of their end.
fn conclude(done: Vec<WorkDone>, outputs: &[Outputs], verifier: &dyn Verifier) -> MeasuredBlock {
    let mut failure = done
        .iter()
        .find_map(|done| done.failure.clone())
        .map(Ending::from);
    let results: Vec<Verifiable<'_>> = outputs.iter().flat_map(Outputs::results).collect();
    let mut verdicts = verifier.verify(&results).into_iter();
    let mut parts = PartSums::default();
    done.iter().for_each(|done| parts.merge(&done.parts));
    let mut samples = Vec::with_capacity(results.len());
    for mut sample in done.into_iter().flat_map(|done| done.samples) {
        if sample.outcome == Outcome::Done {
            // A check that gives no verdict has not vouched for the operation.
            let verdict = verdicts
                .next()
                .unwrap_or_else(|| Err("the result was not checked".to_owned()));
            if let Err(reason) = verdict {
                sample.outcome = Outcome::Wrong;
                failure.get_or_insert(Ending::failed(reason));
            }
        }
        samples.push(sample);
    }
    samples.sort_by_key(|sample| sample.end);
    MeasuredBlock {
        block: Block {
            samples,
            ..Block::default()
        },
        failure,
        parts,
        checking: Duration::ZERO,
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
    Workload {
        crew: Crew::Threads(vec![Box::new(Idle)]),
        inputs: [Input { bytes: Vec::new() }].into(),
        verifier: Arc::new(|_: &Verifiable<'_>| Ok(())),
        output_capacity: 1,
    }
}
