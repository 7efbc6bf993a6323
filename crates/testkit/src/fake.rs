//! A stack with scripted latencies and failures: drives the whole pipeline in tests, exactly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use keymark_bench::workload::{Crew, Input, KeyHandle, Performed, Stack, Verifiable, Workload};
use keymark_bench::{Case, Error, ManualClock, StackName, StoreKind};

use crate::CaseBuilder;

/// A case of the fake device; otherwise as [`crate::case`].
pub fn case(algorithm: &str) -> CaseBuilder {
    crate::case(algorithm).device(DEVICE).store(StoreKind::FAKE)
}

/// The name of the fake device.
pub const DEVICE: &str = "fake";

/// Behavior of a fake operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptedStep {
    /// Takes this long and yields the right result.
    Take(Duration),
    /// Takes this long and yields a wrong result.
    Wrong(Duration),
    /// Takes this long and fails.
    Fail(Duration),
    /// Takes this long and says that it has succeeded, though it wrote nothing.
    Nothing(Duration),
    /// Panics.
    Panic,
}

/// The script of one case: its steps, from the top again when they are used up.
#[derive(Debug, Clone)]
pub enum Script {
    /// The case gets ready and performs these.
    Steps(Vec<ScriptedStep>),
    /// The case cannot be made ready.
    Unprepared(String),
}

/// Chooses the script of a case.
pub type Scripting = Box<dyn Fn(&Case) -> Script + Send + Sync>;

/// A stack that follows scripts on a clock that only it moves.
#[derive(derive_more::Debug)]
#[debug("FakeStack({name})")]
pub struct FakeStack {
    name: StackName,
    clock: Arc<ManualClock>,
    scripting: Scripting,
    check: Duration,
    entered: Arc<Entered>,
}

/// Handles of a stack that are entered.
#[derive(Debug, Default)]
struct Entered {
    now: AtomicUsize,
    most: AtomicUsize,
    times: AtomicUsize,
}

impl FakeStack {
    /// A stack of that name.
    pub fn new(name: StackName, clock: Arc<ManualClock>, scripting: Scripting) -> Self {
        Self {
            name,
            clock,
            scripting,
            check: Duration::ZERO,
            entered: Arc::default(),
        }
    }

    /// Makes the check of each result take that long.
    pub fn checking(self, check: Duration) -> Self {
        Self { check, ..self }
    }

    /// Returns the name of the stack.
    pub const fn name(&self) -> StackName {
        self.name
    }

    /// Handles that are entered, and the most that were at a time.
    pub fn entered(&self) -> (usize, usize) {
        let Entered { now, most, .. } = self.entered.as_ref();
        (now.load(Ordering::SeqCst), most.load(Ordering::SeqCst))
    }

    /// Returns how often a handle was entered.
    pub fn times_entered(&self) -> usize {
        self.entered.times.load(Ordering::SeqCst)
    }
}

impl Stack for FakeStack {
    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        let steps = match (self.scripting)(case) {
            Script::Steps(steps) => steps,
            Script::Unprepared(reason) => return Err(Error::call("prepare", reason, "")),
        };
        let (clock, check) = (Arc::clone(&self.clock), self.check);
        let handle = || -> Box<dyn KeyHandle> {
            Box::new(FakeHandle {
                clock: Arc::clone(&self.clock),
                steps: steps.clone(),
                next: 0,
                entered: Arc::clone(&self.entered),
            })
        };
        Ok(Workload {
            crew: Crew::Threads((0..case.workers()).map(|_| handle()).collect()),
            inputs: [Input { bytes: vec![1] }, Input { bytes: vec![2] }].into(),
            verifier: Arc::new(move |result: &Verifiable<'_>| {
                clock.advance(check);
                echo(result)
            }),
            output_capacity: 1,
        })
    }
}

struct FakeHandle {
    clock: Arc<ManualClock>,
    steps: Vec<ScriptedStep>,
    next: usize,
    entered: Arc<Entered>,
}

impl KeyHandle for FakeHandle {
    fn enter(&mut self) -> Result<(), Error> {
        let now = self.entered.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.entered.most.fetch_max(now, Ordering::SeqCst);
        self.entered.times.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Error> {
        self.entered.now.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }

    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let step = self.steps[self.next % self.steps.len()];
        self.next += 1;
        let right = input.bytes[0];
        let (time, wrote) = match step {
            ScriptedStep::Take(time) => (time, Ok(Some(right))),
            ScriptedStep::Wrong(time) => (time, Ok(Some(!right))),
            ScriptedStep::Nothing(time) => (time, Ok(None)),
            ScriptedStep::Fail(time) => (time, Err(Error::call("FAKE", "scripted failure", ""))),
            ScriptedStep::Panic => panic!("as scripted"),
        };
        self.clock.advance(time);
        if let Some(octet) = wrote? {
            output[0] = octet;
        }
        Ok(Performed {
            length: 1,
            cpu: None,
        })
    }
}

/// The right result is the input itself.
fn echo(result: &Verifiable<'_>) -> Result<(), String> {
    if result.output == [u8::try_from(result.input + 1).unwrap_or(0)] {
        Ok(())
    } else {
        Err("scripted wrong result".to_owned())
    }
}
