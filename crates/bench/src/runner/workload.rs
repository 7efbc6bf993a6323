//! The seam to stacks: what yields a timed operation.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::runner::worker::WorkerProcess;
use crate::{Case, CpuTime, Error, PartSums};

/// Input of one operation: a ciphertext, a digest, the path of a file, as the handle expects it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The bytes that [`KeyHandle::perform`] gets.
    pub bytes: Vec<u8>,
}

/// Result of an operation that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Performed {
    /// Bytes written to the output.
    pub length: usize,
    /// Processor time of the child process, where there was one.
    pub cpu: Option<CpuTime>,
}

/// Owner of the processor time of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calculates {
    /// The worker's, which calls a library.
    Worker,
    /// Other processes, for which the worker waits.
    Others,
}

/// Worker's access to a key. Only `perform` is between the two clock readings.
#[expect(unused_variables, reason = "the names are the documentation")]
pub trait KeyHandle: Send {
    /// Untimed, before each block: takes what the device has too little of to be held from the
    /// beginning of the run to its end (a TPM holds three objects, a card one key a slot).
    ///
    /// # Errors
    /// When it cannot be had.
    fn enter(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Untimed, after each block that was entered: gives it back.
    ///
    /// # Errors
    /// When the device refuses.
    fn leave(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Untimed, before each operation: opens the file that will take the output, say.
    ///
    /// # Errors
    /// When that fails.
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        Ok(())
    }

    /// The operation.
    ///
    /// # Errors
    /// With the failing call and its code.
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error>;

    /// Untimed, after each operation: fetches output that `perform` left elsewhere.
    ///
    /// # Errors
    /// When the output cannot be had.
    fn collect(&mut self, performed: Performed, output: &mut [u8]) -> Result<usize, Error> {
        Ok(performed.length)
    }

    /// Returns the owner of the processor time that tells about the operation.
    fn calculates(&self) -> Calculates {
        Calculates::Worker
    }

    /// Untimed, after `collect`: where the time of the operation went, if that was measured.
    fn parts(&mut self, latency: Duration, into: &mut PartSums) {}
}

/// An operation's input and output, for the check.
#[derive(Debug, Clone, Copy)]
pub struct Verifiable<'a> {
    /// Index of the workload's input.
    pub input: usize,
    /// Output of the operation.
    pub output: &'a [u8],
}

/// Checks, outside the timed region, that the intended thing happened.
pub trait Verifier: Send + Sync {
    /// Returns one verdict per operation: the reason why the result is wrong, or nothing.
    fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>>;

    /// Returns the size of the longest signature or ciphertext so far in bytes; none where the stack does not tell it.
    fn message_bytes(&self) -> Option<u32> {
        None
    }
}

/// A check of one result by itself.
impl<F: Fn(&Verifiable<'_>) -> Result<(), String> + Send + Sync> Verifier for F {
    fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        verify_each(results, self)
    }
}

/// Checks results one by one, on all processors if they are many: a signature can take longer to
/// verify than to make. Verdicts come in the order of the results.
pub fn verify_each<'r>(
    results: &[Verifiable<'r>],
    check: impl Fn(&Verifiable<'r>) -> Result<(), String> + Sync,
) -> Vec<Result<(), String>> {
    /// Fewer are not worth a thread.
    const FEW: usize = 16;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let part = results.len().div_ceil(processors).max(FEW);
    std::thread::scope(|scope| {
        let check = &check;
        let mut parts = results.chunks(part);
        let own = parts.next().unwrap_or_default();
        let others: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(check).collect::<Vec<_>>()))
            .collect();
        let mut verdicts: Vec<_> = own.iter().map(check).collect();
        for other in others {
            verdicts.extend(
                other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            );
        }
        verdicts
    })
}

/// Workers of a case.
pub enum Crew {
    /// Threads, by their handles.
    Threads(Vec<Box<dyn KeyHandle>>),
    /// Processes, started and waiting: of one worker each, or the process of a library with all of them.
    Processes(Vec<WorkerProcess>),
}

impl Debug for Crew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew").field("size", &self.size()).finish()
    }
}

impl Crew {
    /// Makes threads, each with the handle of its number.
    pub fn threads(
        workers: u32,
        handle: impl FnMut(u32) -> Result<Box<dyn KeyHandle>, Error>,
    ) -> Result<Self, Error> {
        let handles = (0..workers).map(handle);
        handles.collect::<Result<_, _>>().map(Self::Threads)
    }

    /// Workers.
    pub fn size(&self) -> usize {
        match self {
            Self::Threads(handles) => handles.len(),
            Self::Processes(processes) => processes.iter().map(WorkerProcess::threads).sum(),
        }
    }

    /// Returns the same threads, each with its handle wrapped.
    pub fn wrapped(self, wrap: impl FnMut(Box<dyn KeyHandle>) -> Box<dyn KeyHandle>) -> Self {
        match self {
            Self::Threads(handles) => Self::Threads(handles.into_iter().map(wrap).collect()),
            Self::Processes(processes) => Self::Processes(processes),
        }
    }

    /// The handles of threads; processes keep theirs.
    pub fn handles(&mut self) -> &mut [Box<dyn KeyHandle>] {
        match self {
            Self::Threads(handles) => handles,
            Self::Processes(_) => &mut [],
        }
    }
}

/// Copies an answer to where the operation's output is wanted, and returns how long it is.
pub fn copy_answer(call: &str, answer: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    let length = answer.len();
    let long = || {
        Error::call(
            call,
            format!("its answer of {length} bytes is too long"),
            "",
        )
    };
    let room = output.get_mut(..length);
    room.ok_or_else(long)?.copy_from_slice(answer);
    Ok(length)
}

/// A case made ready: keys exist, agents run, inputs are prepared.
#[derive(derive_more::Debug)]
#[debug("Workload({crew:?}, {} inputs)", inputs.len())]
pub struct Workload {
    /// The workers.
    pub crew: Crew,
    /// Inputs, used in turn.
    pub inputs: Arc<[Input]>,
    /// The check.
    pub verifier: Arc<dyn Verifier>,
    /// Room for one output, in bytes.
    pub output_capacity: usize,
}

/// A program path to keys: makes cases ready to be measured.
pub trait Stack: Send + Sync {
    /// Makes the case ready.
    ///
    /// # Errors
    /// Why it cannot be measured here.
    fn prepare(&self, case: &Case) -> Result<Workload, Error>;
}

/// A function is one.
impl<F: Fn(&Case) -> Result<Workload, Error> + Send + Sync> Stack for F {
    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        self(case)
    }
}
