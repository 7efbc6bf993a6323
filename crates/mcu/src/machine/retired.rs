//! Messages of a machine about executed blocks.

use super::{CodeBlock, LONGEST};
use crate::instruction::Facts;

/// Notes of an executed block that matter to its timing.
#[derive(Debug, Clone, Default)]
pub struct Noted {
    /// First address that each instruction loaded from or stored to, or the operands of a long multiplication or
    /// division (their magnitudes where it is signed).
    values: [(u32, u32); LONGEST],
    /// A bit for each whose condition in an IT block did not hold.
    pub(crate) skipped: u32,
    /// The last one that may not have gone on.
    pub(crate) at: u8,
}

impl Noted {
    #[inline(always)]
    pub(crate) const fn put(&mut self, index: u8, first: u32, second: u32) {
        self.at = index;
        self.values[index as usize % LONGEST] = (first, second);
    }

    #[inline(always)]
    pub(crate) const fn of(&self, index: usize) -> (u32, u32) {
        self.values[index % LONGEST]
    }

    pub(crate) const fn skip(&mut self, index: u8) {
        self.skipped |= 1 << (index as usize % LONGEST);
    }

    pub(crate) const fn is_skipped(&self, index: usize) -> bool {
        self.skipped >> (index % LONGEST) & 1 == 1
    }
}

/// A block that is retired.
#[derive(Debug, Clone, Copy)]
pub struct Retired<'b> {
    pub(crate) block: &'b CodeBlock,
    /// The address of the instruction after it.
    pub(crate) next: u32,
    /// True if it went elsewhere.
    pub(crate) taken: bool,
    pub(crate) noted: &'b Noted,
}

impl Retired<'_> {
    /// Returns the number of instructions.
    #[expect(clippy::len_without_is_empty, reason = "there is one at least")]
    pub const fn len(&self) -> usize {
        self.block.instructions.len()
    }

    /// The last of them with its address.
    pub(crate) fn last(&self) -> Option<(u32, Facts)> {
        let (address, last) = self.block.instructions.last()?;
        Some((*address, last.facts))
    }
}

/// Told of every retired instruction of one machine, in order.
pub trait Timing {
    /// Counts an executed block.
    fn retire(&mut self, retired: &Retired<'_>);

    /// `BKPT #number`: a phase begins (0 ends the last).
    fn marker(&mut self, number: u8);

    /// An exception is entered or left.
    fn exception(&mut self) {}

    /// Blocks are decoded anew from here on, and numbered anew.
    fn forget(&mut self) {}

    /// Cycles so far, where they are counted.
    fn now(&self) -> Option<u64> {
        None
    }
}

/// Functional execution: nothing is timed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Untimed;

impl Timing for Untimed {
    #[inline(always)]
    fn retire(&mut self, _: &Retired<'_>) {}

    fn marker(&mut self, _: u8) {}
}
