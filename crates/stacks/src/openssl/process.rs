//! One worker's `openssl pkeyutl` processes, and separate measurements of what is no private-key operation in a process's time: the
//! program's start, loading the key, and the operation by itself in keymark's own process.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::runner::measure_alone;
use keymark_bench::workload::{Calculates, Input, KeyHandle, Performed, Workload};
use keymark_bench::{Clock, During as _, Error, MonotonicClock, Part, PartSums};

use super::challenge::Task;
use super::key::{ADVICE, Errand, OpenSslKey};
use crate::program::{self, ProgramRun};
use crate::programs::OperationProcess;

/// The handle.
pub(super) struct PkeyutlProcess {
    pub(super) place: Arc<OpenSslKey>,
    pub(super) task: Task,
    pub(super) process: OperationProcess,
    pub(super) references: Option<References>,
}

impl KeyHandle for PkeyutlProcess {
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
        self.place.check_pin()?;
        // What an operation before this one has written counts for nothing.
        let _ = fs::remove_file(&self.process.output);
        let mut command = self.place.command(Errand::Operate)?;
        command
            .args(self.task.arguments())
            .arg(OsStr::from_bytes(&input.bytes))
            .arg("-out")
            .arg(&self.process.output)
            .stdout(Stdio::null());
        self.process.arm(command)
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        let (place, call) = (&self.place, self.task.call());
        let failed = |status, said: &str| place.failed(call, status, said, ADVICE);
        Ok(Performed {
            length: 0,
            cpu: Some(self.process.run(None, failed)?),
        })
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        self.process.collect(output)
    }

    fn parts(&mut self, latency: Duration, into: &mut PartSums) {
        if let Some(references) = &self.references {
            references.divide(latency, into);
        }
    }
}

/// Measured before every fourth block: they take longer than the operation, of which a block may hold one.
const BLOCKS: u32 = 4;

/// The references of one worker that works alone: of several nobody could tell whose time it was.
pub(super) struct References {
    clock: MonotonicClock,
    place: Arc<OpenSslKey>,
    /// The operation without the program, where it can be had.
    alone: Option<Workload>,
    /// Last measurements.
    last: Vec<(Part, Duration)>,
    blocks: u32,
}

impl References {
    pub(super) fn new(place: Arc<OpenSslKey>, alone: Option<Workload>) -> Self {
        Self {
            clock: MonotonicClock::new(),
            place,
            alone,
            last: Vec::new(),
            blocks: 0,
        }
    }

    /// Measures the references before a block, if it is time.
    pub(super) fn before_block(&mut self) -> Result<(), Error> {
        let due = self.blocks.is_multiple_of(BLOCKS);
        self.blocks = self.blocks.wrapping_add(1);
        if !due {
            return Ok(());
        }
        self.place.check_pin()?;
        let start = self.timed(Errand::Nothing)?;
        let loaded = self.timed(Errand::LoadKey)?;
        let key_load = loaded.saturating_sub(start);
        self.last = vec![(Part::ProgramStart, start), (Part::KeyLoad, key_load)];
        if let Some(alone) = &mut self.alone {
            let took = measure_alone(&self.clock, alone, Duration::ZERO, 1)?;
            let operation = took.first().map(|took| (Part::Operation, *took));
            self.last.extend(operation);
        }
        Ok(())
    }

    fn timed(&self, errand: Errand) -> Result<Duration, Error> {
        let mut command = self.place.command(errand)?;
        // Made ready before, as that takes as long as a short program.
        let step = ProgramRun::start().during(errand.call())?;
        let begin = self.clock.now();
        let done = step.run(&mut command, program::WORK, program::ANSWER);
        let end = self.clock.now();
        self.place
            .succeeded(errand.call(), &done.during(errand.call())?)?;
        Ok(end.since(begin))
    }

    /// Divides an operation's time: what is left is called that.
    pub(super) fn divide(&self, latency: Duration, into: &mut PartSums) {
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
