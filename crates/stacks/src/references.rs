//! Operations by a process each, and their references: steps measured between their blocks.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Output};
use std::time::Duration;

use keymark_bench::workload::{Calculates, Input, KeyHandle, Performed};
use keymark_bench::{Clock as _, During as _, Error, MonotonicClock, Part, PartSums};

use crate::program::{self, ProgramRun};
use crate::programs::OperationProcess;

/// Blocks from one measurement to the next: references take longer than the operation, of which a block may hold one.
const BLOCKS: u32 = 4;

/// Parts of an operation that were measured by themselves.
type Measured = Result<Vec<(Part, Duration)>, Error>;

/// The references of one worker that works alone: those of several cannot be told apart.
pub(crate) struct References {
    clock: MonotonicClock,
    measure: Box<dyn FnMut(&MonotonicClock) -> Measured + Send>,
    /// Last measurements.
    last: Vec<(Part, Duration)>,
    blocks: u32,
}

impl References {
    /// Returns references that are measured by a function.
    pub(crate) fn new(measure: impl FnMut(&MonotonicClock) -> Measured + Send + 'static) -> Self {
        Self {
            clock: MonotonicClock::new(),
            measure: Box::new(measure),
            last: Vec::new(),
            blocks: 0,
        }
    }

    /// Measures the references before a block, if it is time.
    fn before_block(&mut self) -> Result<(), Error> {
        let due = self.blocks.is_multiple_of(BLOCKS);
        self.blocks = self.blocks.wrapping_add(1);
        if due {
            self.last = (self.measure)(&self.clock)?;
        }
        Ok(())
    }

    /// Divides an operation's time: the remainder is called the rest.
    fn divide(&self, latency: Duration, into: &mut PartSums) {
        if self.last.is_empty() {
            return;
        }
        let known = self.last.iter().map(|(_, time)| *time).sum();
        into.add_remainder(Part::Rest, latency, known);
        for (part, time) in &self.last {
            into.add(*part, *time);
        }
    }
}

/// Runs a process to its end, and returns its time and its output.
pub(crate) fn timed(
    clock: &MonotonicClock,
    command: &mut Command,
    call: &str,
) -> Result<(Duration, Output), Error> {
    // Made ready before, as that takes as long as a short program.
    let step = ProgramRun::start().during(call)?;
    let begin = clock.now();
    let done = step.run(command, program::WORK, program::ANSWER);
    let end = clock.now();
    Ok((end.since(begin), done.during(call)?))
}

/// Makes the command for a file with the input and a file for the output.
type MakeCommand = Box<dyn Fn(&Path, &Path) -> Result<Command, Error> + Send>;

/// Explains a failure by exit status and message.
type Explain = Box<dyn Fn(ExitStatus, &str) -> Error + Send>;

/// Handle of a key that a process uses for each operation, with references.
pub(crate) struct ReferencedProcess {
    /// Process of the operation.
    pub(crate) process: OperationProcess,
    /// References of a worker that works alone.
    pub(crate) references: Option<References>,
    /// Command of one operation.
    pub(crate) command: MakeCommand,
    /// Words for a failed operation.
    pub(crate) failed: Explain,
}

impl KeyHandle for ReferencedProcess {
    fn calculates(&self) -> Calculates {
        Calculates::Others
    }

    fn enter(&mut self) -> Result<(), Error> {
        match &mut self.references {
            Some(references) => references.before_block(),
            None => Ok(()),
        }
    }

    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        // The output of an operation before this one counts for nothing.
        let _ = fs::remove_file(&self.process.output);
        let input = Path::new(OsStr::from_bytes(&input.bytes));
        let command = (self.command)(input, &self.process.output)?;
        self.process.arm(command)
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        self.process.run(None, &self.failed)
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        match self.process.collect(output)? {
            0 => Err(Error::call(self.process.call, "it printed nothing", "")),
            length => Ok(length),
        }
    }

    fn parts(&mut self, latency: Duration, into: &mut PartSums) {
        if let Some(references) = &self.references {
            references.divide(latency, into);
        }
    }
}
