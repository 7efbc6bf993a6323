//! Where cycles went.

use std::ops::{AddAssign, Sub};

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
    }
}

/// Reads of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Reads asked for.
    pub lookups: u64,
    /// Of which it held.
    pub hits: u64,
}

/// Where the cycles of a stretch of execution went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Instructions by class, in the order of [`Class::ALL`].
    pub(super) counts: [u64; Class::ALL.len()],
    /// The cycles that they took beyond one each.
    pub(super) extra: [u64; Class::ALL.len()],
    /// IT that took none.
    pub(super) folded: u64,
    pub(super) address: u64,
    pub(super) refill: u64,
    pub(super) fetch: u64,
    pub(super) data: u64,
    /// The instruction cache, where there is one.
    pub instruction_cache: CacheUse,
    /// The data cache, where there is one.
    pub data_cache: CacheUse,
}

impl Account {
    /// What a class came to.
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

    /// What each kind of instruction came to: classes of one name together, in the order of [`Class::ALL`].
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
        let extra: u64 = self.extra.iter().sum();
        self.instructions() + extra - self.folded
            + self.address
            + self.refill
            + self.fetch
            + self.data
    }

    /// Cycles that a cause cost.
    pub fn stall(&self, stall: Stall) -> u64 {
        let beyond_one = |classes: &[Class]| {
            classes
                .iter()
                .map(|&class| self.extra[class as usize])
                .sum()
        };
        match stall {
            Stall::Multiplier => beyond_one(&[
                Class::Multiply,
                Class::MultiplyAccumulate,
                Class::MultiplyLong,
                Class::MultiplyLongAccumulate,
                Class::Umaal,
                Class::Dsp,
            ]),
            Stall::Divider => beyond_one(&[Class::Divide]),
            Stall::Memory => beyond_one(&[
                Class::Load,
                Class::Store,
                Class::StoreRegister,
                Class::LoadMultiple,
                Class::StoreMultiple,
                Class::TableBranch,
            ]),
            Stall::Address => self.address,
            Stall::Refill => self.refill,
            Stall::Fetch => self.fetch,
            Stall::Data => self.data,
        }
    }

    fn combine(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        let each = |a: &[u64; Class::ALL.len()], b: &[u64; Class::ALL.len()]| {
            std::array::from_fn(|index| with(a[index], b[index]))
        };
        let cache = |a: CacheUse, b: CacheUse| CacheUse {
            lookups: with(a.lookups, b.lookups),
            hits: with(a.hits, b.hits),
        };
        Self {
            counts: each(&self.counts, &other.counts),
            extra: each(&self.extra, &other.extra),
            folded: with(self.folded, other.folded),
            address: with(self.address, other.address),
            refill: with(self.refill, other.refill),
            fetch: with(self.fetch, other.fetch),
            data: with(self.data, other.data),
            instruction_cache: cache(self.instruction_cache, other.instruction_cache),
            data_cache: cache(self.data_cache, other.data_cache),
        }
    }
}

impl Sub for &Account {
    type Output = Account;

    /// What came since an earlier state of the same account.
    fn sub(self, earlier: Self) -> Account {
        self.combine(earlier, u64::saturating_sub)
    }
}

impl AddAssign<&Self> for Account {
    fn add_assign(&mut self, other: &Self) {
        *self = self.combine(other, u64::saturating_add);
    }
}
