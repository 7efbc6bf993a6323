//! What of a process's time is no private-key operation, measured beside it: the program's start, loading the key, and the
//! operation by itself in keymark's own process.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::error::Error;
use keymark_bench::parts::{Part, PartSums};
use keymark_bench::workload::{Input, KeyHandle};

use super::place::{Errand, Place};

/// Of each, before each block: one could be the one that was disturbed.
const OFTEN: u32 = 3;

/// The references of one worker that works alone: of several nobody could tell whose time it was.
pub(super) struct References {
    clock: MonotonicClock,
    place: Arc<Place>,
    /// The key in this process, where it can be had here.
    here: Option<Box<dyn KeyHandle>>,
    inputs: Arc<[Input]>,
    output: Vec<u8>,
    last: Option<Measured>,
}

/// Means before the block under way.
#[derive(Debug, Clone, Copy)]
struct Measured {
    start: Duration,
    key_load: Duration,
    operation: Option<Duration>,
}

impl References {
    pub(super) fn new(
        place: Arc<Place>,
        here: Option<Box<dyn KeyHandle>>,
        inputs: Arc<[Input]>,
        capacity: usize,
    ) -> Self {
        Self {
            clock: MonotonicClock::new(),
            place,
            here,
            inputs,
            output: vec![0; capacity],
            last: None,
        }
    }

    /// Measures all of them, before a block and not in it.
    pub(super) fn measure(&mut self) -> Result<(), Error> {
        self.place.check_pin()?;
        let (mut start, mut loaded) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..OFTEN {
            start += self.process(self.place.idle(), "openssl version")?;
            loaded += self.process(self.place.command(Errand::LoadKey), "openssl pkey")?;
        }
        let (start, loaded) = (start / OFTEN, loaded / OFTEN);
        self.last = Some(Measured {
            start,
            key_load: loaded.saturating_sub(start),
            operation: self.operation()?,
        });
        Ok(())
    }

    fn process(&self, mut command: Command, call: &str) -> Result<Duration, Error> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let begin = self.clock.now();
        let status = command.status();
        let end = self.clock.now();
        let status = status.map_err(|error| Error::call(call, error, ""))?;
        if !status.success() {
            return Err(Error::call(call, status, super::process::ADVICE));
        }
        Ok(end.since(begin))
    }

    fn operation(&mut self) -> Result<Option<Duration>, Error> {
        let Some(here) = &mut self.here else {
            return Ok(None);
        };
        let mut sum = Duration::ZERO;
        for input in self.inputs.iter().cycle().take(OFTEN as usize) {
            here.arm(input)?;
            let begin = self.clock.now();
            let performed = here.perform(input, &mut self.output);
            let end = self.clock.now();
            here.collect(performed?, &mut self.output)?;
            sum += end.since(begin);
        }
        Ok(Some(sum / OFTEN))
    }

    /// Divides an operation's time: what is left is called that.
    pub(super) fn divide(&self, latency: Duration, into: &mut PartSums) {
        let Some(last) = self.last else {
            return;
        };
        into.add(Part::ProgramStart, last.start);
        into.add(Part::KeyLoad, last.key_load);
        let mut known = last.start + last.key_load;
        if let Some(operation) = last.operation {
            into.add(Part::Operation, operation);
            known += operation;
        }
        into.add_remainder(Part::Rest, latency, known);
    }
}
