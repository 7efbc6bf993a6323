//! A worker that is a process of its own, as servers fork them: what keymark and the process tell each
//! other, and both ends. The process opens the key anew and keeps its clock, so that what is timed there is
//! what a thread would time.

use std::any::Any;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::case::{Pacing, Rate};
use crate::clock::{Clock, MonotonicClock};
use crate::error::Error;
use crate::runner::arrivals::Queue;
use crate::runner::shift::{Budget, Outputs, Shared, Shift, work};
use crate::sample::Stretch;
use crate::workload::{Input, KeyHandle};

/// Longer messages come from nobody who speaks this protocol.
const LONGEST_MESSAGE: u32 = 64 << 20;

/// keymark's end of a process that was started and told which key it works with.
pub struct WorkerProcess {
    to: Box<dyn Write + Send>,
    from: Box<dyn Read + Send>,
    met: bool,
    /// The process itself, which ends when this is dropped.
    _process: Box<dyn Any + Send>,
}

impl std::fmt::Debug for WorkerProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WorkerProcess")
    }
}

/// What all processes of a block are told.
pub(crate) struct Terms<'a> {
    pub(crate) clock: &'a dyn Clock,
    pub(crate) inputs: &'a [Input],
    pub(crate) output_capacity: usize,
}

/// The first message to a process.
#[derive(Serialize, Deserialize)]
struct Greeting {
    worker: u32,
    epoch: Duration,
    inputs: Vec<Vec<u8>>,
    output_capacity: usize,
}

/// What a process is told to do.
#[derive(Serialize, Deserialize)]
enum Order {
    /// Get ready for a block, and say so.
    Block { budget: Budget, seed: u64 },
    /// All are ready: operate, and hand in the shift.
    Go,
}

/// What a process says.
#[derive(Serialize, Deserialize)]
enum Word {
    Ready,
    /// The key cannot be opened there.
    Refused(Error),
    Shift {
        shift: Shift,
        /// Of an open loop: what the block covers of this process's queue.
        stretch: Option<Stretch>,
        results: Vec<(usize, Vec<u8>)>,
    },
}

impl WorkerProcess {
    /// A process that reads `to` and writes `from`; `process` ends it when dropped.
    pub fn new(
        to: impl Write + Send + 'static,
        from: impl Read + Send + 'static,
        process: impl Any + Send,
    ) -> Self {
        Self {
            to: Box::new(to),
            from: Box::new(from),
            met: false,
            _process: Box::new(process),
        }
    }

    /// Gets it ready for a block.
    fn prepare(&mut self, worker: u32, terms: &Terms<'_>, order: &Order) -> Result<(), Error> {
        if !self.met {
            let epoch = terms.clock.epoch().ok_or_else(|| {
                let reason = "this clock cannot be had in another process";
                Error::call("starting a worker", reason, "")
            })?;
            let greeting = Greeting {
                worker,
                epoch,
                inputs: terms
                    .inputs
                    .iter()
                    .map(|input| input.bytes.clone())
                    .collect(),
                output_capacity: terms.output_capacity,
            };
            self.tell(&greeting)?;
            self.met = true;
        }
        self.tell(order)
    }

    /// One that is gone may have said why.
    fn tell(&mut self, message: &impl Serialize) -> Result<(), Error> {
        write(&mut self.to, message).or_else(|error| self.ready().and(Err(error)))
    }

    fn ready(&mut self) -> Result<(), Error> {
        match read(&mut self.from)? {
            Word::Ready => Ok(()),
            Word::Refused(error) => Err(error),
            Word::Shift { .. } => Err(out_of_turn()),
        }
    }

    fn shift(&mut self, outputs: &mut Outputs) -> Result<(Shift, Option<Stretch>), Error> {
        match read(&mut self.from)? {
            Word::Shift {
                shift,
                stretch,
                results,
            } => {
                for (input, output) in results {
                    outputs.take(input, &output);
                }
                Ok((shift, stretch))
            }
            Word::Refused(error) => Err(error),
            Word::Ready => Err(out_of_turn()),
        }
    }
}

fn out_of_turn() -> Error {
    Error::call("a worker process", "it spoke out of turn", "")
}

/// One block by processes: released together once all are ready.
pub(crate) fn in_processes(
    processes: &mut [WorkerProcess],
    terms: &Terms<'_>,
    budget: Budget,
    seed: u64,
    outputs: &mut [Outputs],
) -> (Vec<Shift>, Option<Stretch>) {
    let mut states: Vec<Result<(), Error>> = Vec::with_capacity(processes.len());
    let crew = processes.len() as u64;
    for (worker, process) in (0..).zip(&mut *processes) {
        let order = Order::Block {
            budget: share(budget, worker, crew),
            // Each has arrivals and thoughts of its own.
            seed: seed ^ (u64::from(worker) << 48),
        };
        states.push(process.prepare(worker, terms, &order));
    }
    for (process, state) in processes.iter_mut().zip(&mut states) {
        if state.is_ok() {
            *state = process.ready();
        }
    }
    for (process, state) in processes.iter_mut().zip(&mut states) {
        if state.is_ok() {
            *state = write(&mut process.to, &Order::Go);
        }
    }
    let mut shifts = Vec::with_capacity(processes.len());
    let mut stretches = Vec::new();
    for ((process, state), outputs) in processes.iter_mut().zip(states).zip(outputs) {
        match state.and_then(|()| process.shift(outputs)) {
            Ok((shift, stretch)) => {
                shifts.push(shift);
                stretches.extend(stretch);
            }
            Err(error) => shifts.push(Shift {
                failure: Some(error),
                ..Shift::default()
            }),
        }
    }
    (shifts, together(&stretches))
}

/// The queues of several processes last as long as each other, but for the operations that end them.
fn together(stretches: &[Stretch]) -> Option<Stretch> {
    let number = stretches.len() as u64;
    let length: u64 = stretches.iter().map(|stretch| stretch.length_ns).sum();
    (number > 0).then(|| Stretch {
        length_ns: length / number,
        waiting: stretches.iter().map(|stretch| stretch.waiting).sum(),
    })
}

/// A process's part of what all of a block may do. Arrivals are dealt at random, so that each process has
/// a Poisson process and a queue of its own, as servers have that share a port.
fn share(budget: Budget, worker: u32, crew: u64) -> Budget {
    let operations = match budget.operations {
        u64::MAX => u64::MAX,
        all => all / crew + u64::from(u64::from(worker) < all % crew),
    };
    let pacing = match budget.pacing {
        Pacing::Open(rate) => {
            let part = Rate::try_from(rate.per_second() / crew as f64);
            Pacing::Open(part.unwrap_or(rate))
        }
        Pacing::Closed | Pacing::Thinking(_) | Pacing::Saturating { .. } => budget.pacing,
    };
    Budget {
        operations,
        pacing,
        ..budget
    }
}

/// The process's end: does what it is told until keymark is gone.
///
/// # Errors
/// When what comes is not of this protocol.
pub fn serve(
    mut from: impl Read + Send,
    to: impl Write + Send,
    handle: Result<Box<dyn KeyHandle>, Error>,
) -> Result<(), Error> {
    let to = Mutex::new(to);
    let say = |word: &Word| {
        let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut *to, word)
    };
    let mut handle = match handle {
        Ok(handle) => handle,
        Err(error) => return say(&Word::Refused(error)),
    };
    // Wherever keymark turns out to be gone, there is nobody left to tell.
    let Ok(Greeting {
        worker,
        epoch,
        inputs,
        output_capacity,
    }) = read(&mut from)
    else {
        return Ok(());
    };
    let clock = MonotonicClock::with_epoch(epoch)
        .ok_or_else(|| Error::call("clock_gettime", "keymark's clock is ahead of this one", ""))?;
    let inputs: Vec<Input> = inputs.into_iter().map(|bytes| Input { bytes }).collect();
    let interrupt = AtomicBool::new(false);
    let mut outputs = Outputs::default();
    let mut queue: Option<Queue> = None;
    let from = Mutex::new(from);
    let next = || {
        let mut from = from.lock().unwrap_or_else(PoisonError::into_inner);
        read::<Order>(&mut *from)
    };
    while let Ok(order) = next() {
        let Order::Block { budget, seed } = order else {
            return Err(out_of_turn());
        };
        outputs.reset(output_capacity);
        // Where keymark is gone, nothing is begun any more.
        let gate = || {
            let released = say(&Word::Ready).and_then(|()| next());
            let gone = !matches!(released, Ok(Order::Go));
            interrupt.store(gone, Ordering::Relaxed);
        };
        let waiting = budget.queue(queue.take(), 1, seed);
        let shared = Shared::new((&clock, &interrupt), &inputs, budget, seed, waiting, &gate);
        // The only worker here, whatever its number is among the processes.
        let mut shift = work(&shared, 0, handle.as_mut(), &mut outputs);
        let ended = shared.end_block(std::slice::from_ref(&shift));
        let (after, stretch) = ended.unzip();
        queue = after;
        shift
            .samples
            .iter_mut()
            .for_each(|sample| sample.worker = worker);
        let results = outputs.results();
        let results = results.map(|result| (result.input, result.output.to_vec()));
        let results = results.collect();
        let word = Word::Shift {
            shift,
            stretch,
            results,
        };
        if say(&word).is_err() {
            break;
        }
    }
    Ok(())
}

/// Writes one message: its length in four bytes, little-endian, and itself.
///
/// # Errors
/// When the other end is gone.
pub fn write<T: Serialize>(to: &mut impl Write, message: &T) -> Result<(), Error> {
    let bytes = postcard::to_stdvec(message).map_err(broken)?;
    let length = u32::try_from(bytes.len()).map_err(broken)?;
    to.write_all(&length.to_le_bytes()).map_err(broken)?;
    to.write_all(&bytes).map_err(broken)?;
    to.flush().map_err(broken)
}

/// Reads one message.
///
/// # Errors
/// When the other end is gone, or says what is no such message.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> Result<T, Error> {
    let mut length = [0; 4];
    from.read_exact(&mut length).map_err(|error| gone(&error))?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST_MESSAGE {
        return Err(broken(format!("a message of {length} bytes")));
    }
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes).map_err(|error| gone(&error))?;
    postcard::from_bytes(&bytes).map_err(broken)
}

/// Nothing more comes.
fn gone(error: &std::io::Error) -> Error {
    if error.kind() != std::io::ErrorKind::UnexpectedEof {
        return broken(error);
    }
    let advice = "a library that crashes takes its process along: look at its log, or measure with --concurrency";
    Error::call("talking to a worker process", "it has ended", advice)
}

fn broken(error: impl ToString) -> Error {
    let advice = "the process has ended, or was ended from outside";
    Error::call("talking to a worker process", error, advice)
}
