//! Account of cycles.

use std::ops::{AddAssign, Sub};

use super::core::{TRANSFERS, is_in};
use crate::instruction::Class;
use crate::named::named;

/// Instructions of a class, and the cycles that they themselves took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Instructions.
    pub count: u64,
    /// Cycles of execution: refills and waits are counted apart.
    pub cycles: u64,
}

named! {
    /// Why the pipeline stood still.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Stall {
        /// Multiplications, beyond one cycle each.
        Multiplier = "multiplier",
        /// Divisions, beyond one cycle each.
        Divider = "divider",
        /// Loads and stores, beyond one cycle each: a single load takes two, a multiple one and one a word.
        Memory = "load-use and transfers",
        /// An address computed by the instruction before.
        Address = "address dependency",
        /// Refilling the pipeline after a branch.
        Refill = "branch refill",
        /// Instructions that flash had not yet delivered.
        Fetch = "flash wait, instructions",
        /// Data read from flash.
        Data = "flash wait, data",
        /// Floating-point arithmetic beyond one cycle each, and what waits for it.
        Float = "floating point",
    }
}

impl Stall {
    /// Returns what the cycles of a class beyond the first count as.
    const fn beyond_first(class: Class) -> Option<Self> {
        Some(match class {
            Class::Multiply
            | Class::MultiplyAccumulate
            | Class::MultiplyLong
            | Class::MultiplyLongAccumulate
            | Class::Umaal
            | Class::Dsp => Self::Multiplier,
            Class::Divide => Self::Divider,
            Class::FloatAccumulate | Class::FloatMoveTwo => Self::Float,
            class if is_in(class, TRANSFERS) => Self::Memory,
            _ => return None,
        })
    }
}

/// Reads of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Reads asked for.
    pub lookups: u64,
    /// Lookups that found their line.
    pub hits: u64,
}

/// Cycles of a stretch of execution by cause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Instructions by class, in the order of [`Class::ALL`].
    pub(super) counts: [u64; Class::ALL.len()],
    /// The cycles that they took beyond one each.
    pub(super) extra: [u64; Class::ALL.len()],
    /// IT that took none.
    pub(super) folded: u64,
    /// Cycles waited for causes without a class, in the order of [`Stall::ALL`].
    pub(super) waits: [u64; Stall::ALL.len()],
    /// The instruction cache, where there is one.
    pub instruction_cache: CacheUse,
    /// The data cache, where there is one.
    pub data_cache: CacheUse,
}

impl Account {
    /// Returns count and cycles of a class.
    pub const fn class(&self, class: Class) -> Tally {
        let (count, extra) = (self.counts[class as usize], self.extra[class as usize]);
        let folded = match class {
            Class::If => self.folded,
            _ => 0,
        };
        Tally {
            count,
            cycles: count + extra - folded,
        }
    }

    /// Returns count and cycles of each kind of instruction: classes of one name together, in the order of
    /// [`Class::ALL`].
    pub fn kinds(&self) -> Vec<(&'static str, Tally)> {
        let mut kinds: Vec<(&'static str, Tally)> = Vec::new();
        for &class in Class::ALL {
            let tally = self.class(class);
            match kinds.last_mut() {
                Some((name, sum)) if *name == class.name() => {
                    sum.count += tally.count;
                    sum.cycles += tally.cycles;
                }
                _ => kinds.push((class.name(), tally)),
            }
        }
        kinds
    }

    /// IT instructions that took no cycle.
    pub const fn folded(&self) -> u64 {
        self.folded
    }

    /// Instructions retired.
    pub fn instructions(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Cycles in all.
    pub fn cycles(&self) -> u64 {
        let beyond: u64 = self.extra.iter().chain(&self.waits).sum();
        self.instructions() + beyond - self.folded
    }

    /// Cycles that a cause cost.
    pub fn stall(&self, stall: Stall) -> u64 {
        let classes = Class::ALL.iter().zip(self.extra);
        let beyond_one = classes.filter(|(class, _)| Stall::beyond_first(**class) == Some(stall));
        beyond_one.map(|(_, cycles)| cycles).sum::<u64>() + self.waits[stall as usize]
    }

    fn numbers(&mut self) -> impl Iterator<Item = &mut u64> {
        let (instructions, data) = (&mut self.instruction_cache, &mut self.data_cache);
        let caches = [
            &mut instructions.lookups,
            &mut instructions.hits,
            &mut data.lookups,
            &mut data.hits,
        ];
        let by_kind = self.counts.iter_mut().chain(&mut self.extra);
        by_kind
            .chain(&mut self.waits)
            .chain([&mut self.folded])
            .chain(caches)
    }

    /// Adds another so often.
    pub(super) fn add_times(&mut self, other: &Self, times: u64) {
        let mut other = other.clone();
        for (number, other) in self.numbers().zip(other.numbers()) {
            *number += *other * times;
        }
    }
}

impl Sub for &Account {
    type Output = Account;

    /// Returns the difference to an earlier state of the same account.
    fn sub(self, earlier: Self) -> Account {
        let (mut since, mut earlier) = (self.clone(), earlier.clone());
        for (number, earlier) in since.numbers().zip(earlier.numbers()) {
            *number = number.saturating_sub(*earlier);
        }
        since
    }
}

impl AddAssign<&Self> for Account {
    fn add_assign(&mut self, other: &Self) {
        self.add_times(other, 1);
    }
}
