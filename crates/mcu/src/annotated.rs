//! One function, instruction by instruction.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::image::Symbol;
use crate::instruction::{Class, Instruction};
use crate::timing::{Pipeline, Retired, Stall, Timing};

/// What an instruction came to, all its executions together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Bytes of its encoding: two or four.
    pub size: u8,
    /// Its kind.
    pub class: Class,
    /// Times it was executed, or skipped by its condition.
    pub times: u64,
    /// Cycles of all these.
    pub cycles: u64,
    /// Of which it stood still, in the order of [`Stall::ALL`].
    pub stalls: [u64; Stall::ALL.len()],
}

/// Times a program, and one function of it by instruction.
#[derive(Debug, Clone)]
pub struct Annotated {
    pipeline: Pipeline,
    range: Range<u32>,
    lines: BTreeMap<u32, Line>,
}

impl Annotated {
    /// With that model, of that function.
    pub fn new(pipeline: Pipeline, function: &Symbol) -> Self {
        Self {
            pipeline,
            range: function.address..function.address.saturating_add(function.size),
            lines: BTreeMap::new(),
        }
    }

    /// The instructions that were executed, by address.
    pub fn lines(&self) -> Vec<(u32, Line)> {
        self.lines
            .iter()
            .map(|(&address, &line)| (address, line))
            .collect()
    }

    fn state(&self) -> [u64; Stall::ALL.len()] {
        std::array::from_fn(|index| self.pipeline.running().stall(Stall::ALL[index]))
    }
}

impl Timing for Annotated {
    fn retire(&mut self, instruction: &Instruction, retired: &Retired) {
        if !self.range.contains(&retired.address) {
            return self.pipeline.retire(instruction, retired);
        }
        let (before, stalls) = (self.pipeline.now(), self.state());
        self.pipeline.retire(instruction, retired);
        let (now, after) = (self.pipeline.now(), self.state());
        let line = self.lines.entry(retired.address).or_insert(Line {
            size: instruction.facts.size,
            class: instruction.facts.class,
            times: 0,
            cycles: 0,
            stalls: [0; Stall::ALL.len()],
        });
        line.times += 1;
        line.cycles = (line.cycles + now).saturating_sub(before);
        for (sum, (after, before)) in line.stalls.iter_mut().zip(after.into_iter().zip(stalls)) {
            *sum += after - before;
        }
    }

    fn marker(&mut self, number: u8) {
        self.pipeline.marker(number);
    }

    fn exception(&mut self) {
        self.pipeline.exception();
    }

    fn now(&self) -> Option<u64> {
        Timing::now(&self.pipeline)
    }
}
