//! Cycles of each instruction of a stretch of code.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use crate::machine::SimulatedMachine;
use crate::microcontroller::Microcontroller;
use crate::timing::{Pipeline, Retired, Stall, Timing};

/// Bytes of code that are looked at: no function is longer, whatever a file says.
const MOST_BYTES: u32 = 1 << 20;

/// Cycles of an instruction over all its executions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct InstructionCost {
    /// Number of executions.
    pub count: u64,
    /// Cycles, with what it waited.
    pub cycles: u64,
    /// Waits among the cycles. A branch has the refill behind it, its target the wait for flash.
    pub waits: BTreeMap<Stall, u64>,
}

/// Times a program, and keeps the cycles of each instruction between two addresses.
#[derive(Debug, Clone)]
pub struct Listing {
    timing: Pipeline,
    range: Range<u32>,
    lines: BTreeMap<u32, InstructionCost>,
}

impl Listing {
    /// Prepares a listing of that code on that part, with a machine that was not run before. Each of its instructions
    /// becomes a block of its own.
    pub fn new(
        mcu: &Microcontroller,
        range: Range<u32>,
        machine: SimulatedMachine,
    ) -> (Self, SimulatedMachine) {
        let range = range.start..range.end.min(range.start.saturating_add(MOST_BYTES));
        let machine = machine.with_boundaries(range.clone().step_by(2).chain([range.end]));
        let listing = Self {
            timing: Pipeline::new(mcu.timing, mcu.flash, &mcu.layout),
            range,
            lines: BTreeMap::new(),
        };
        (listing, machine)
    }

    /// The instructions that were executed, by their addresses.
    pub const fn lines(&self) -> &BTreeMap<u32, InstructionCost> {
        &self.lines
    }
}

impl Timing for Listing {
    fn retire(&mut self, retired: &Retired<'_>) {
        let address = retired.block.address(0);
        let (begun, waits) = (self.timing.now(), *self.timing.waits());
        self.timing.retire(retired);
        if self.range.contains(&address) {
            let line = self.lines.entry(address).or_default();
            line.count += 1;
            line.cycles += self.timing.now() - begun;
            let now = self.timing.waits().iter().zip(waits);
            for (&stall, (now, before)) in Stall::ALL.iter().zip(now) {
                *line.waits.entry(stall).or_default() += now - before;
            }
        }
    }

    fn marker(&mut self, _: u8) {}

    fn exception(&mut self) {
        self.timing.exception();
    }

    fn forget(&mut self) {
        self.timing.forget();
    }

    fn now(&self) -> Option<u64> {
        Some(self.timing.now())
    }
}
