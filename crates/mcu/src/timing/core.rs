//! The core's rules: how many cycles each instruction takes, after DDI 0337I (Cortex-M3 TRM, r2p1) and
//! DDI 0439 (Cortex-M4 TRM), sections 3.3.1 (table) and 3.3.2 (load and store timings), and table 3-1 of DDI 0484C
//! (Cortex-M0+ TRM).

use super::account::{Account, Stall};
use super::fetch::Fetch;
use super::{CoreTiming, FlashTiming, Folding, LongMultiply, Pairing, Retired};
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
pub(super) const fn is_in(class: Class, set: u32) -> bool {
    set >> (class as u32) & 1 == 1
}

/// Classes of one cycle on all cores, without memory accesses or branches of interest.
#[rustfmt::skip]
const PLAIN: u32 = set(&[
    Class::Move, Class::Add, Class::AddCarry, Class::Logic, Class::Shift, Class::Umaal, Class::Dsp,
    Class::Branch,
]);

/// The instruction before, as far as it matters to the one behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbour {
    facts: Facts,
    /// True for a load that may overlap with what is behind it.
    pairs: bool,
}

impl Neighbour {
    /// Nothing to pair with, to depend on, or to fold onto.
    pub(super) const BEHIND_REFILL: Self = Self::of(Facts {
        size: 4,
        ..Facts::NONE
    });

    /// Returns a neighbor that is no load.
    const fn of(facts: Facts) -> Self {
        Self {
            facts,
            pairs: false,
        }
    }
}

/// A core with its flash at some moment.
#[derive(Debug, Clone)]
pub(super) struct Core {
    timing: CoreTiming,
    pub(super) fetch: Fetch,
    /// Classes of one cycle without a branch.
    single: u32,
    pub(super) now: u64,
    /// End of the division under way.
    divides: u64,
    pub(super) before: Neighbour,
    pub(super) account: Account,
}

impl Core {
    /// Starts at time zero with empty caches.
    pub(super) fn new(timing: CoreTiming, flash: FlashTiming, layout: &Layout) -> Self {
        let mut single = PLAIN;
        if timing.multiply == 1 {
            single |= set(&[Class::Multiply]);
        }
        if timing.system == 1 {
            single |= set(&[Class::System]);
        }
        if timing.long_multiply == LongMultiply::SingleCycle {
            single |= set(&[Class::MultiplyLong, Class::MultiplyLongAccumulate]);
        }
        if timing.multiply_accumulate == 1 {
            single |= set(&[Class::MultiplyAccumulate]);
        }
        Self {
            timing,
            single,
            fetch: Fetch::new(flash, layout),
            now: 0,
            divides: 0,
            before: Neighbour::BEHIND_REFILL,
            account: Account::default(),
        }
    }

    pub(super) const fn is_single(&self, class: Class) -> bool {
        is_in(class, self.single)
    }

    /// Returns the neighbor for the instruction behind.
    pub(super) const fn neighbour(&self, facts: &Facts, address: u32) -> Neighbour {
        Neighbour {
            facts: *facts,
            pairs: matches!(facts.class, Class::Load) && self.may_pair(facts, address),
        }
    }

    /// Returns the neighbor for the instruction behind one that may have been skipped.
    pub(super) fn neighbour_of(&self, retired: &Retired<'_>, index: usize) -> Neighbour {
        let instructions = &retired.block.instructions;
        let Some((address, Instruction { facts, .. })) = instructions.get(index) else {
            return Neighbour::BEHIND_REFILL;
        };
        if retired.noted.is_skipped(index) {
            // It computed and loaded nothing.
            let size = facts.size;
            return Neighbour::of(Facts {
                size,
                ..Facts::NONE
            });
        }
        self.neighbour(facts, *address)
    }

    /// Cycles of a load or store beyond the first, behind that neighbor; waits apart, and what an unaligned one takes.
    pub(super) fn transfer(&self, before: Neighbour, facts: &Facts, address: u32) -> u64 {
        match facts.class {
            // The address phase overlaps the data phase of a load before (3.3.2: "if the next instruction is
            // an LDR or STR, and the destination of the first LDR is not used to compute the address").
            Class::Load | Class::StoreRegister => {
                let overlaps = before.pairs
                    && before.facts.writes & facts.address == 0
                    && self.may_pair(facts, address);
                u64::from(!overlaps)
            }
            // "STR Rx,[Ry,#imm] is always one cycle": the write buffer takes it, where there is one.
            Class::Store => u64::from(self.timing.store) - 1,
            // Two cycles for the load and one for the addition, besides the refill.
            Class::TableBranch => 2,
            _ => u64::from(facts.bytes / 4),
        }
    }

    /// Waiting for an address that has just been computed.
    pub(super) fn address_wait(&self, before: Neighbour, facts: &Facts) -> u64 {
        let computed = before.facts.writes & facts.address != 0;
        let waits = computed && !is_in(before.facts.class, FORWARDED);
        u64::from(waits) * u64::from(self.timing.address_dependency)
    }

    /// Returns true if IT takes no cycle: "folded onto a preceding 16-bit instruction", which stays the neighbor of
    /// what follows.
    pub(super) fn folds(&self, before: Neighbour) -> bool {
        self.timing.it == Folding::BehindNarrow && before.facts.size == 2
    }

    /// Returns true if its cycles hang on its operands.
    pub(super) fn looks_at_operands(&self, class: Class) -> bool {
        let early = self.timing.long_multiply == LongMultiply::EarlyTermination;
        match class {
            Class::MultiplyLong | Class::MultiplyLongAccumulate => early,
            class => class == Class::Divide,
        }
    }

    /// Cycles of a 32-bit call or system instruction beyond the first, its refill apart.
    pub(super) fn wide(&self, facts: &Facts) -> u64 {
        match (facts.class, facts.size) {
            (Class::Call, 4) => u64::from(self.timing.call) - 1,
            (Class::System, 4) => u64::from(self.timing.system) - 1,
            _ => 0,
        }
    }

    /// Cycles of a multiplication or division beyond the first.
    pub(super) fn arithmetic(&self, class: Class, operands: (u32, u32)) -> u64 {
        match class {
            Class::Multiply => u64::from(self.timing.multiply) - 1,
            Class::MultiplyAccumulate => u64::from(self.timing.multiply_accumulate) - 1,
            Class::MultiplyLong => self.multiply_long(3, 5, operands) - 1,
            Class::MultiplyLongAccumulate => self.multiply_long(4, 7, operands) - 1,
            Class::Divide => divide(operands) - 1,
            Class::FloatAccumulate => 2,
            Class::FloatMoveTwo => 1,
            _ => 0,
        }
    }

    /// What a floating-point instruction waits for whose first cycle is counted: a division, or a cycle for what was computed
    /// just before (DDI 0439, notes of table 7-1).
    fn float_wait(&mut self, before: Neighbour, facts: &Facts) {
        let divides = self.divides.saturating_sub(self.now - 1);
        let late = u64::from(before.facts.late & facts.reads != 0);
        self.now += self.wait(Stall::Float, divides + late);
        // Other instructions do not wait for it.
        if facts.class == Class::FloatDivide {
            self.divides = self.now - 1 + FLOAT_DIVISION;
        }
    }

    /// Returns true if nothing about the access itself keeps it from overlapping with its neighbors.
    const fn may_pair(&self, facts: &Facts, address: u32) -> bool {
        match self.timing.pairing {
            Pairing::Always => true,
            Pairing::Hindered => {
                let crosses = facts.size == 4 && address & 2 != 0;
                !crosses && facts.writes & facts.address == 0
            }
            Pairing::Never => false,
        }
    }

    fn multiply_long(&self, least: u64, most: u64, (n, m): (u32, u32)) -> u64 {
        match self.timing.long_multiply {
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

    /// Counts cycles that are waited; gives them.
    #[inline(always)]
    const fn wait(&mut self, why: Stall, cycles: u64) -> u64 {
        self.account.waits[why as usize] += cycles;
        cycles
    }

    /// Counts cycles beyond the first; gives them.
    #[inline(always)]
    pub(super) const fn extra(&mut self, class: Class, cycles: u64) -> u64 {
        self.account.extra[class as usize] += cycles;
        cycles
    }

    /// Cycles waited for data in flash.
    #[inline(always)]
    pub(super) fn data_wait(&mut self, access: u32, bytes: u8, now: u64) -> u64 {
        if self.fetch.is_free(access) {
            return 0;
        }
        let wait = self.fetch.data(access, bytes, now);
        self.wait(Stall::Data, wait)
    }

    /// Counts the cycles of an instruction beyond its first, whatever comes before it; without a branch's refill.
    #[inline(never)]
    pub(super) fn beyond_first(&mut self, retired: &Retired<'_>, index: usize) {
        let Some((address, Instruction { facts, .. })) = retired.block.instructions.get(index)
        else {
            return;
        };
        let (before, access) = (self.before, retired.noted.of(index).0);
        self.before = self.neighbour_of(retired, index);
        if retired.noted.is_skipped(index) {
            return;
        }
        if is_in(facts.class, FLOATS) {
            self.float_wait(before, facts);
        }
        if is_in(facts.class, TRANSFERS) {
            let wait = self.address_wait(before, facts);
            self.now += self.wait(Stall::Address, wait);
            self.now += self.data_wait(access, facts.bytes, self.now);
            let extra = self.transfer(before, facts, *address)
                + unaligned(facts.class, facts.bytes, access);
            self.now += self.extra(facts.class, extra);
        } else if facts.class == Class::If {
            if self.folds(before) {
                self.account.folded += 1;
                self.now -= 1;
                self.before = before;
            }
        } else {
            let operands = retired.noted.of(index);
            let extra = self.arithmetic(facts.class, operands) + self.wide(facts);
            self.now += self.extra(facts.class, extra);
        }
    }

    /// Cycles in which the pipeline is filled anew behind a taken branch.
    pub(super) const fn refill_of(&self, class: Class) -> u8 {
        match class {
            Class::Load | Class::LoadMultiple | Class::TableBranch => self.timing.load_refill,
            // The table's figure for ISB is all of it.
            Class::System if self.timing.system > 1 => 0,
            _ => self.timing.refill,
        }
    }

    /// Refills the pipeline.
    #[inline(always)]
    pub(super) const fn refill(&mut self, cycles: u64) {
        self.now += self.wait(Stall::Refill, cycles);
        self.fetch.branch();
        self.before = Neighbour::BEHIND_REFILL;
    }

    /// Entering or leaving an exception.
    pub(super) const fn exception(&mut self) {
        self.refill(self.timing.exception as u64);
    }

    /// Waits for the instruction that is a branch's target; gives the time when it is there.
    #[inline(always)]
    pub(super) fn fetch_target(&mut self, address: u32, last: u32, mut now: u64) -> u64 {
        if last.wrapping_sub(address) == 3 && address & 2 != 0 {
            now += self.wait(Stall::Refill, u64::from(self.timing.unaligned_target));
        }
        let wait = self.fetch.target(address, now);
        now += self.wait(Stall::Fetch, wait);
        if self.fetch.holds(last) {
            return now;
        }
        now + self.fetch_next(now)
    }

    /// Moves to the next read of flash; returns the cycles waited for it.
    #[inline(always)]
    pub(super) fn fetch_next(&mut self, now: u64) -> u64 {
        let wait = self.fetch.next(now);
        self.wait(Stall::Fetch, wait)
    }
}

/// Cycles that an unaligned load takes more, being split: a byte-aligned word is three accesses (3.3.2, last
/// paragraph).
#[inline(always)]
pub(super) const fn unaligned(class: Class, bytes: u8, access: u32) -> u64 {
    if access & 3 == 0 || !matches!(class, Class::Load) {
        return 0;
    }
    match (bytes, access & 3) {
        (4, 1 | 3) => 2,
        (4, 2) | (2, 1 | 3) => 1,
        _ => 0,
    }
}

/// VDIV and VSQRT (DDI 0439, table 7-1).
const FLOAT_DIVISION: u64 = 14;

/// Loads and stores.
#[rustfmt::skip]
pub(super) const TRANSFERS: u32 = set(&[
    Class::Load, Class::Store, Class::StoreRegister, Class::LoadMultiple, Class::StoreMultiple, Class::TableBranch,
    Class::FloatLoad, Class::FloatStore,
]);

/// Classes of the floating-point unit.
#[rustfmt::skip]
pub(super) const FLOATS: u32 = set(&[
    Class::Float, Class::FloatMoveTwo, Class::FloatAccumulate, Class::FloatDivide, Class::FloatLoad, Class::FloatStore,
]);

/// Classes whose results can be forwarded to the address of the following access, or that have none.
#[rustfmt::skip]
const FORWARDED: u32 = set(&[
    Class::Load, Class::Store, Class::StoreRegister, Class::LoadMultiple, Class::StoreMultiple, Class::Branch, Class::Call,
    Class::FloatLoad, Class::FloatStore,
]);

/// UDIV and SDIV: 2 to 12 cycles by the leading zeros of both operands; the step is taken as linear in the
/// bits of the quotient.
fn divide((n, m): (u32, u32)) -> u64 {
    let quotient_bits = (m.leading_zeros() + 1).saturating_sub(n.leading_zeros());
    2 + u64::from((quotient_bits * 10).div_ceil(32)).min(10)
}
