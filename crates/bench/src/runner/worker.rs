//! Workers in a process of their own: what keymark and the process tell each other, and both ends. The process
//! opens the key anew and keeps its clock, so that what is timed there is what a thread of keymark's would time.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::runner::arrivals::ArrivalQueue;
use crate::runner::block::{Start, in_threads};
use crate::runner::worker_loop::{Budget, Outputs, Shared, WorkDone};
use crate::runner::workload::{Input, KeyHandle};
use crate::{Clock, Error, MonotonicClock, Pacing, Rate, Stretch};

/// Longer messages come from nobody who speaks this protocol.
const LONGEST_MESSAGE: u32 = 64 << 20;

/// The connection to a process of keymark's, at the end that has started it.
pub trait Channel: Send {
    /// Returns the process that is there. Called before each block.
    ///
    /// # Errors
    /// Why nobody is.
    fn begin(&mut self) -> Result<Peer, Error>;

    /// Sends a request.
    ///
    /// # Errors
    /// Why it is gone.
    fn send(&mut self, request: &Request) -> Result<(), Error>;

    /// Receives the next reply. No single call of the process is waited for longer than `limit`.
    ///
    /// # Errors
    /// The end of the process: its fate, and the call in which it came.
    fn recv(&mut self, limit: Option<Duration>) -> Result<Reply, Error>;
}

/// The process at the other end of a [`Channel`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A process that has not been greeted.
    New,
    /// The process that was greeted before.
    Known,
}

/// A process that works, with one or several threads.
#[derive(derive_more::Debug)]
#[debug("WorkerProcess({threads})")]
pub struct WorkerProcess {
    channel: Box<dyn Channel>,
    threads: usize,
}

/// What all processes of a block are told.
pub(crate) struct Terms<'a> {
    pub(crate) clock: &'a dyn Clock,
    pub(crate) inputs: &'a [Input],
    pub(crate) output_capacity: usize,
    /// How long a single call may take.
    pub(crate) limit: Option<Duration>,
}

/// A request to a process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request(Message);

#[derive(Debug, Serialize, Deserialize)]
enum Message {
    /// The first message to a process.
    Greeting {
        /// The number of its first worker.
        first: u32,
        epoch: Duration,
        inputs: Vec<Input>,
        output_capacity: usize,
    },
    /// Get ready for a block, and say so.
    Block { budget: Budget, seed: u64 },
    /// All are ready: operate, and tell what was done.
    Go,
}

/// A reply of a process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply(Said);

#[derive(Debug, Serialize, Deserialize)]
enum Said {
    Ready,
    /// The key cannot be opened there.
    Refused(Error),
    Done {
        /// One a thread.
        done: Vec<WorkDone>,
        /// Of an open loop: what the block covers of this process's queue.
        stretch: Option<Stretch>,
        /// Of each thread, the outputs of what succeeded, with the input.
        results: Vec<Vec<(usize, Vec<u8>)>>,
    },
}

impl WorkerProcess {
    /// The process behind the line, with that number of threads.
    pub fn new(channel: impl Channel + 'static, threads: usize) -> Self {
        Self {
            channel: Box::new(channel),
            threads,
        }
    }

    /// Its workers.
    pub const fn threads(&self) -> usize {
        self.threads
    }

    /// Gets it ready for a block.
    fn prepare(&mut self, first: u32, terms: &Terms<'_>, request: &Request) -> Result<(), Error> {
        if self.channel.begin()? == Peer::New {
            let epoch = terms.clock.epoch().ok_or_else(|| {
                let reason = "this clock cannot be used in another process";
                Error::call("starting a worker", reason, "")
            })?;
            let greeting = Request(Message::Greeting {
                first,
                epoch,
                inputs: terms.inputs.to_vec(),
                output_capacity: terms.output_capacity,
            });
            self.send(&greeting, terms)?;
        }
        self.send(request, terms)
    }

    /// One that is gone may have said why.
    fn send(&mut self, request: &Request, terms: &Terms<'_>) -> Result<(), Error> {
        self.channel
            .send(request)
            .or_else(|error| self.ready(terms).and(Err(error)))
    }

    fn ready(&mut self, terms: &Terms<'_>) -> Result<(), Error> {
        match self.channel.recv(terms.limit)?.0 {
            Said::Ready => Ok(()),
            Said::Refused(error) => Err(error),
            Said::Done { .. } => Err(out_of_turn()),
        }
    }

    fn work(
        &mut self,
        terms: &Terms<'_>,
        outputs: &mut [Outputs],
    ) -> Result<(Vec<WorkDone>, Option<Stretch>), Error> {
        match self.channel.recv(terms.limit)?.0 {
            Said::Done {
                done,
                stretch,
                results,
            } => {
                for (of_worker, outputs) in results.into_iter().zip(outputs) {
                    for (input, output) in of_worker {
                        outputs.take(input, &output);
                    }
                }
                Ok((done, stretch))
            }
            Said::Refused(error) => Err(error),
            Said::Ready => Err(out_of_turn()),
        }
    }
}

fn out_of_turn() -> Error {
    let reason = "it sent an unexpected message";
    Error::call("talking to a worker process", reason, "")
}

/// One block by processes: released together once all are ready.
pub(crate) fn in_processes(
    processes: &mut [WorkerProcess],
    terms: &Terms<'_>,
    budget: Budget,
    seed: u64,
    mut outputs: &mut [Outputs],
) -> (Vec<WorkDone>, Option<Stretch>) {
    let mut states: Vec<Result<(), Error>> = Vec::with_capacity(processes.len());
    let crew = processes.len() as u64;
    let mut first = 0;
    for (number, process) in (0..).zip(&mut *processes) {
        let request = Request(Message::Block {
            budget: share(budget, number, crew),
            // Each has arrivals and thoughts of its own.
            seed: seed ^ (u64::from(number) << 48),
        });
        states.push(process.prepare(first, terms, &request));
        first += process.threads as u32;
    }
    for (process, state) in processes.iter_mut().zip(&mut states) {
        if state.is_ok() {
            *state = process.ready(terms);
        }
    }
    for (process, state) in processes.iter_mut().zip(&mut states) {
        if state.is_ok() {
            *state = process.channel.send(&Request(Message::Go));
        }
    }
    let mut done = Vec::with_capacity(outputs.len());
    let mut stretches = Vec::new();
    for (process, state) in processes.iter_mut().zip(states) {
        let (own, others) = outputs.split_at_mut(process.threads.min(outputs.len()));
        outputs = others;
        match state.and_then(|()| process.work(terms, own)) {
            Ok((of_process, stretch)) => {
                done.extend(of_process);
                stretches.extend(stretch);
            }
            Err(error) => done.push(WorkDone {
                failure: Some(error),
                ..WorkDone::default()
            }),
        }
    }
    (done, together(&stretches))
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
    let pacing = budget.pacing.rate().map_or(budget.pacing, |rate| {
        let part = Rate::try_from(rate.per_second() / crew as f64);
        Pacing::Open(part.unwrap_or(rate))
    });
    Budget {
        operations,
        pacing,
        ..budget
    }
}

/// The process's end: the workers of one case, by their handles.
#[derive(derive_more::Debug)]
#[debug("Workers({})", handles.len())]
pub struct Workers {
    handles: Vec<Box<dyn KeyHandle>>,
    greeting: Option<Greeting>,
    outputs: Vec<Outputs>,
    queue: Option<ArrivalQueue>,
}

/// What the greeting has told.
struct Greeting {
    first: u32,
    clock: MonotonicClock,
    inputs: Vec<Input>,
    output_capacity: usize,
}

/// What workers source to keymark by.
#[derive(derive_more::Debug)]
#[debug("RequestSource")]
pub struct RequestSource<'a> {
    /// Sends a reply.
    pub send: &'a (dyn Fn(Reply) -> Result<(), Error> + Sync),
    /// Receives the next request.
    pub recv: &'a (dyn Fn() -> Result<Request, Error> + Sync),
    /// Set when the user ends the run: what is under way is finished, and nothing more begun.
    pub interrupt: &'a AtomicBool,
}

impl Workers {
    /// One a handle.
    pub const fn new(handles: Vec<Box<dyn KeyHandle>>) -> Self {
        Self {
            handles,
            greeting: None,
            outputs: Vec::new(),
            queue: None,
        }
    }

    /// Serves one request.
    ///
    /// # Errors
    /// When it is not of this protocol, or nobody listens.
    pub fn handle(&mut self, request: Request, source: &RequestSource<'_>) -> Result<(), Error> {
        match request.0 {
            Message::Greeting {
                first,
                epoch,
                inputs,
                output_capacity,
            } => {
                let clock = MonotonicClock::with_epoch(epoch).ok_or_else(|| {
                    let reason = "its clock is behind keymark's";
                    Error::call("clock_gettime", reason, "")
                })?;
                self.greeting = Some(Greeting {
                    first,
                    clock,
                    inputs,
                    output_capacity,
                });
                Ok(())
            }
            Message::Block { budget, seed } => self.block(budget, seed, source),
            Message::Go => Err(out_of_turn()),
        }
    }

    fn block(
        &mut self,
        budget: Budget,
        seed: u64,
        source: &RequestSource<'_>,
    ) -> Result<(), Error> {
        let greeting = self.greeting.as_ref().ok_or_else(out_of_turn)?;
        let workers = self.handles.len();
        self.outputs.resize_with(workers, Outputs::default);
        for outputs in &mut self.outputs {
            outputs.reset(greeting.output_capacity);
        }
        let (start, released) = (Start::of(workers), OnceLock::new());
        let gate = || {
            start.arrive();
            // Where keymark is gone, nothing is begun any more.
            released.get_or_init(|| {
                let ready = (source.send)(Reply(Said::Ready));
                if !matches!(
                    ready.and_then(|()| (source.recv)()),
                    Ok(Request(Message::Go))
                ) {
                    source.interrupt.store(true, Ordering::Relaxed);
                }
            });
        };
        let waiting = budget.queue(self.queue.take(), workers, seed);
        let clock = (&greeting.clock as &dyn Clock, source.interrupt);
        let shared = Shared::new(clock, &greeting.inputs, budget, seed, waiting, &gate);
        let mut done = in_threads(&shared, &start, &mut self.handles, &mut self.outputs);
        let (after, stretch) = shared.end_block(&done).unzip();
        self.queue = after;
        let samples = done.iter_mut().flat_map(|done| &mut done.samples);
        samples.for_each(|sample| sample.worker += greeting.first);
        let results = self.outputs.iter().map(|outputs| {
            let results = outputs.results();
            results
                .map(|result| (result.input, result.output.to_vec()))
                .collect()
        });
        (source.send)(Reply(Said::Done {
            done,
            stretch,
            results: results.collect(),
        }))
    }
}

/// Works with one key until keymark is gone.
///
/// # Errors
/// When what comes is not of this protocol.
pub fn serve(
    from: impl Read + Send,
    to: impl Write + Send,
    handle: Result<Box<dyn KeyHandle>, Error>,
) -> Result<(), Error> {
    let (from, to) = (Mutex::new(from), Mutex::new(to));
    let send = |reply: Reply| {
        let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut *to, &reply)
    };
    let recv = || {
        let mut from = from.lock().unwrap_or_else(PoisonError::into_inner);
        read::<Request>(&mut *from)
    };
    let mut workers = match handle {
        Ok(handle) => Workers::new(vec![handle]),
        Err(error) => return send(Reply(Said::Refused(error))),
    };
    let interrupt = AtomicBool::new(false);
    let source = RequestSource {
        send: &send,
        recv: &recv,
        interrupt: &interrupt,
    };
    // Wherever keymark turns out to be gone, there is nobody left to tell.
    while let Ok(request) = recv() {
        workers.handle(request, &source)?;
        if interrupt.load(Ordering::Relaxed) {
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
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return Error::call("talking to a worker process", "it has ended", "");
    }
    broken(error)
}

fn broken(error: impl ToString) -> Error {
    let advice = "the process has ended";
    Error::call("talking to a worker process", error, advice)
}
