//! What executing costs: a trait that is told of every retired instruction, and the models behind it.

mod account;
mod cache;
mod fetch;
mod parameters;
mod pipeline;

pub use account::{Account, CacheUse, Stall, Tally};
pub use parameters::{CacheShape, CoreTiming, FlashTiming, Folding, LongMultiply, Pairing};
pub use pipeline::{Phase, Pipeline};

use crate::instruction::Instruction;

/// What happened to an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Executed; the next instruction follows it.
    Executed,
    /// Its condition in an IT block did not hold.
    Skipped,
    /// It went elsewhere.
    Taken,
}

/// A retired instruction, as the timing model sees it.
#[derive(Debug, Clone, Copy)]
pub struct Retired {
    /// Its address.
    pub address: u32,
    /// That of the one after it.
    pub next: u32,
    /// Whether it was executed, and went elsewhere.
    pub outcome: Outcome,
    /// The first address that it loaded from or stored to.
    pub access: u32,
    /// The operands of a long multiplication or division; their magnitudes where it is signed.
    pub operands: (u32, u32),
}

/// Told of every retired instruction, in order.
pub trait Timing {
    /// One more instruction is done.
    fn retire(&mut self, instruction: &Instruction, retired: &Retired);

    /// `BKPT #number`: a phase begins (0 ends the last).
    fn marker(&mut self, number: u8);
}

/// Functional execution: nothing is timed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Untimed;

impl Timing for Untimed {
    #[inline(always)]
    fn retire(&mut self, _: &Instruction, _: &Retired) {}

    fn marker(&mut self, _: u8) {}
}
