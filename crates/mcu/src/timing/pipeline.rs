//! The core's rules: how many cycles each instruction takes, after DDI 0337I (Cortex-M3 TRM, r2p1) and
//! DDI 0439 (Cortex-M4 TRM), sections 3.3.1 (table) and 3.3.2 (load and store timings).

use std::collections::BTreeMap;

use super::account::{Account, CacheUse, Stall};
use super::fetch::{Cache, Fetch};
use super::{CoreTiming, FlashTiming, Folding, LongMultiply, Outcome, Pairing, Retired, Timing};
use crate::instruction::{Class, Facts, Instruction};
use crate::machine::Layout;

/// Operands below this end a long multiplication early.
const SHORT_OPERAND: u32 = 1 << 16;

/// A set of classes, a bit each.
const fn set(classes: &[Class]) -> u32 {
    match classes {
        [] => 0,
        [class, others @ ..] => 1 << *class as u32 | set(others),
    }
}

#[inline(always)]
const fn is_in(class: Class, set: u32) -> bool {
    set >> (class as u32) & 1 == 1
}

/// What takes one cycle on both cores, touches no memory and, as far as it is here, goes nowhere else.
#[rustfmt::skip]
const PLAIN: u32 = set(&[
    Class::Move, Class::Add, Class::AddCarry, Class::Logic, Class::Shift, Class::Multiply, Class::Umaal, Class::Dsp,
    Class::Branch, Class::System,
]);

/// All stretches that begin with markers of one number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// The marker's number; code before the first has 0.
    pub number: u8,
    /// How many stretches.
    pub count: u64,
    /// Cycles of the shortest.
    pub shortest: u64,
    /// And of the longest.
    pub longest: u64,
    /// Where the cycles of all went.
    pub account: Account,
}

/// Times a core with its flash.
#[derive(Debug, Clone)]
pub struct Pipeline {
    core: CoreTiming,
    fetch: Fetch,
    /// What takes one cycle where it goes straight on.
    single: u32,
    now: u64,
    /// The instruction before, as far as it matters to the one behind it.
    before: Facts,
    /// If that is a load: whether it may overlap with what is behind it.
    pairs: bool,
    account: Account,
    phases: BTreeMap<u8, Phase>,
    phase: u8,
    begun: Account,
}

impl Pipeline {
    /// At the beginning of time, caches empty.
    pub fn new(core: CoreTiming, flash: FlashTiming, layout: &Layout) -> Self {
        let mut single = PLAIN;
        if core.long_multiply == LongMultiply::SingleCycle {
            single |= set(&[Class::MultiplyLong, Class::MultiplyLongAccumulate]);
        }
        if core.multiply_accumulate == 1 {
            single |= set(&[Class::MultiplyAccumulate]);
        }
        Self {
            core,
            single,
            fetch: Fetch::new(flash, layout),
            now: 0,
            before: Facts::NONE,
            pairs: false,
            account: Account::default(),
            phases: BTreeMap::new(),
            phase: 0,
            begun: Account::default(),
        }
    }

    /// Cycles so far.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Everything so far.
    pub fn account(&self) -> Account {
        let mut account = self.account.clone();
        let (instructions, data) = self.fetch.caches();
        let usage = |cache: &Cache| CacheUse {
            lookups: cache.lookups,
            hits: cache.hits,
        };
        account.instruction_cache = instructions.map(usage).unwrap_or_default();
        account.data_cache = data.map(usage).unwrap_or_default();
        account
    }

    /// The phases by number, with the stretch under way.
    pub fn phases(&self) -> Vec<Phase> {
        let mut phases = self.phases.clone();
        self.end(&self.account(), &mut phases);
        phases.into_values().collect()
    }

    /// Counts the stretch that ends now.
    fn end(&self, account: &Account, phases: &mut BTreeMap<u8, Phase>) {
        let stretch = account - &self.begun;
        let cycles = stretch.cycles();
        let phase = phases.entry(self.phase).or_insert_with(|| Phase {
            number: self.phase,
            count: 0,
            shortest: cycles,
            longest: cycles,
            account: Account::default(),
        });
        phase.count += 1;
        phase.shortest = phase.shortest.min(cycles);
        phase.longest = phase.longest.max(cycles);
        phase.account += &stretch;
    }

    /// Cycles of a load or store beyond the first, waits apart.
    #[inline(always)]
    fn transfer(&mut self, facts: &Facts, retired: &Retired) -> u64 {
        match facts.class {
            // The address phase overlaps the data phase of a load before (3.3.2: "if the next instruction is
            // an LDR or STR, and the destination of the first LDR is not used to compute the address").
            Class::Load => {
                let cycles = u64::from(!self.overlaps(facts, retired)) + unaligned(facts, retired);
                self.pairs = self.may_pair(facts, retired.address);
                cycles
            }
            // "STR Rx,[Ry,#imm] is always one cycle": the write buffer takes it.
            Class::Store => 0,
            Class::StoreRegister => u64::from(!self.overlaps(facts, retired)),
            // Two cycles for the load and one for the addition, besides the refill.
            Class::TableBranch => 2,
            _ => u64::from(facts.bytes / 4),
        }
    }

    /// Cycles of a multiplication or division beyond the first.
    #[inline(always)]
    fn arithmetic(&self, class: Class, retired: &Retired) -> u64 {
        match class {
            Class::MultiplyAccumulate => u64::from(self.core.multiply_accumulate) - 1,
            Class::MultiplyLong => self.multiply_long(3, 5, retired.operands) - 1,
            Class::MultiplyLongAccumulate => self.multiply_long(4, 7, retired.operands) - 1,
            Class::Divide => divide(retired.operands) - 1,
            _ => 0,
        }
    }

    /// Whether its address phase overlaps the data phase of the load before.
    #[inline(always)]
    const fn overlaps(&self, facts: &Facts, retired: &Retired) -> bool {
        matches!(self.before.class, Class::Load)
            && self.pairs
            && self.before.writes & facts.address == 0
            && self.may_pair(facts, retired.address)
    }

    /// Whether nothing about the access itself keeps it from overlapping with its neighbours.
    #[inline(always)]
    const fn may_pair(&self, facts: &Facts, address: u32) -> bool {
        match self.core.pairing {
            Pairing::Always => true,
            Pairing::Hindered => {
                let crosses = facts.size == 4 && address & 2 != 0;
                !crosses && facts.writes & facts.address == 0
            }
        }
    }

    #[inline(always)]
    fn multiply_long(&self, least: u64, most: u64, (n, m): (u32, u32)) -> u64 {
        match self.core.long_multiply {
            LongMultiply::SingleCycle => 1,
            LongMultiply::Worst => most,
            // "ABS(inputs) < 64K terminates early"; the case of one short operand is taken as halfway.
            LongMultiply::EarlyTermination => match (n < SHORT_OPERAND, m < SHORT_OPERAND) {
                (true, true) => least,
                (false, false) => most,
                _ => u64::midpoint(least, most),
            },
        }
    }

    #[inline(always)]
    const fn wait(&mut self, why: Stall, cycles: u64) {
        self.account.waits[why as usize] += cycles;
        self.now += cycles;
    }

    /// Waits for data in flash, and for addresses that have just been computed.
    #[inline(always)]
    fn memory_waits(&mut self, facts: &Facts, retired: &Retired) {
        if self.before.writes & facts.address != 0 && !is_in(self.before.class, FORWARDED) {
            let wait = u64::from(self.core.address_dependency);
            self.wait(Stall::Address, wait);
        }
        if !self.fetch.is_free(retired.access) {
            let wait = self.fetch.data(retired.access, facts.bytes, self.now);
            self.wait(Stall::Data, wait);
        }
    }

    /// Whatever takes more or less than a cycle, or may.
    #[inline(always)]
    fn retire_other(&mut self, facts: &Facts, retired: &Retired) {
        if is_in(facts.class, TRANSFERS) {
            self.memory_waits(facts, retired);
            let extra = self.transfer(facts, retired);
            self.account.extra[facts.class as usize] += extra;
            self.now += extra;
        } else if facts.class == Class::If {
            // "Folded onto a preceding 16-bit instruction", which stays the neighbour of what follows.
            if self.core.it == Folding::BehindNarrow && self.before.size == 2 {
                self.account.folded += 1;
                self.now -= 1;
                return;
            }
        } else {
            let extra = self.arithmetic(facts.class, retired);
            self.account.extra[facts.class as usize] += extra;
            self.now += extra;
        }
        self.before = *facts;
        if retired.outcome == Outcome::Taken {
            self.refill(facts.class);
            self.before = BEHIND_REFILL;
        }
    }

    #[inline(always)]
    fn refill(&mut self, class: Class) {
        let refill = u64::from(match class {
            Class::Load | Class::LoadMultiple | Class::TableBranch => self.core.load_refill,
            _ => self.core.refill,
        });
        self.wait(Stall::Refill, refill);
        self.fetch.branch();
    }

    /// Waits for an instruction that is not in what has been fetched.
    #[inline(never)]
    fn fetch(&mut self, size: u8, address: u32) {
        if self.fetch.has_branched() {
            if size == 4 && address & 2 != 0 {
                let more = u64::from(self.core.unaligned_target);
                self.wait(Stall::Refill, more);
            }
            let wait = self.fetch.target(address, self.now);
            self.wait(Stall::Fetch, wait);
            if self.fetch.holds(address.wrapping_add(u32::from(size) - 1)) {
                return;
            }
        }
        let wait = self.fetch.next(self.now);
        self.wait(Stall::Fetch, wait);
    }
}

/// Entering an exception takes 12 cycles (DDI 0337I, 3.9; DDI 0439, 3.9); leaving one moves as much.
const EXCEPTION: u64 = 12;

/// No neighbour: nothing to pair with, to depend on, or to fold onto.
const BEHIND_REFILL: Facts = Facts {
    size: 4,
    ..Facts::NONE
};

/// Cycles that an unaligned load takes more, being split: a byte-aligned word is three accesses (3.3.2, last
/// paragraph).
#[inline(always)]
const fn unaligned(facts: &Facts, retired: &Retired) -> u64 {
    if retired.access & 3 == 0 {
        return 0;
    }
    match (facts.bytes, retired.access & 3) {
        (4, 1 | 3) => 2,
        (4, 2) | (2, 1 | 3) => 1,
        _ => 0,
    }
}

/// Loads and stores.
#[rustfmt::skip]
const TRANSFERS: u32 = set(&[
    Class::Load, Class::Store, Class::StoreRegister, Class::LoadMultiple, Class::StoreMultiple, Class::TableBranch,
]);

/// Those whose results can be forwarded to the address of the following access, or that have none.
#[rustfmt::skip]
const FORWARDED: u32 = set(&[
    Class::Load, Class::Store, Class::StoreRegister, Class::LoadMultiple, Class::StoreMultiple, Class::Branch, Class::Call,
]);

/// UDIV and SDIV: 2 to 12 cycles by the leading zeros of both operands; the step is taken as linear in the
/// bits of the quotient.
fn divide((n, m): (u32, u32)) -> u64 {
    let quotient_bits = (m.leading_zeros() + 1).saturating_sub(n.leading_zeros());
    2 + u64::from((quotient_bits * 10).div_ceil(32)).min(10)
}

impl Timing for Pipeline {
    #[inline(always)]
    fn retire(&mut self, instruction: &Instruction, retired: &Retired) {
        let facts = instruction.facts;
        let last = retired.address.wrapping_add(u32::from(facts.size) - 1);
        if !self.fetch.holds(last) {
            self.fetch(facts.size, retired.address);
        }
        self.now += 1;
        self.account.counts[facts.class as usize] += 1;
        if retired.outcome == Outcome::Executed && is_in(facts.class, self.single) {
            self.before = facts;
        } else if retired.outcome == Outcome::Skipped {
            // It computed and loaded nothing.
            self.before = Facts {
                size: facts.size,
                ..Facts::NONE
            };
        } else {
            self.retire_other(&facts, retired);
        }
    }

    fn marker(&mut self, number: u8) {
        let (account, mut phases) = (self.account(), std::mem::take(&mut self.phases));
        self.end(&account, &mut phases);
        (self.phases, self.phase, self.begun) = (phases, number, account);
    }

    fn exception(&mut self) {
        self.wait(Stall::Refill, EXCEPTION);
        self.fetch.branch();
        self.before = BEHIND_REFILL;
    }

    fn now(&self) -> Option<u64> {
        Some(self.now)
    }
}
