//! The core's rules: how many cycles each instruction takes, after DDI 0337I (Cortex-M3 TRM, r2p1) and
//! DDI 0439 (Cortex-M4 TRM), sections 3.3.1 (table) and 3.3.2 (load and store timings).

use super::account::{Account, CacheUse, Stall};
use super::fetch::{Cache, Fetch};
use super::{CoreTiming, FlashTiming, Folding, LongMultiply, Outcome, Pairing, Retired, Timing};
use crate::instruction::{Class, Facts, Instruction};
use crate::machine::Layout;

/// Operands below this end a long multiplication early.
const SHORT_OPERAND: u32 = 1 << 16;

/// A stretch between two markers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// The marker's number; code before the first has 0.
    pub number: u8,
    /// Where its cycles went.
    pub account: Account,
}

/// Times a core with its flash.
#[derive(Debug, Clone)]
pub struct Pipeline {
    core: CoreTiming,
    fetch: Fetch,
    now: u64,
    /// The instruction before, as far as it matters to the one behind it.
    before: Facts,
    /// If that is a load: whether it may overlap with what is behind it.
    pairs: bool,
    account: Account,
    phases: Vec<Phase>,
    phase: u8,
    begun: Account,
}

impl Pipeline {
    /// At the beginning of time, caches empty.
    pub fn new(core: CoreTiming, flash: FlashTiming, layout: &Layout) -> Self {
        Self {
            core,
            fetch: Fetch::new(flash, layout.flash_size, layout.ram_base),
            now: 0,
            before: Facts::NONE,
            pairs: false,
            account: Account::default(),
            phases: Vec::new(),
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

    /// The phases that have ended, and the one under way.
    pub fn phases(&self) -> Vec<Phase> {
        let mut phases = self.phases.clone();
        phases.push(Phase {
            number: self.phase,
            account: &self.account() - &self.begun,
        });
        phases
    }

    /// Cycles of execution beyond the first, waits and refills apart.
    #[inline(always)]
    fn execute(&mut self, facts: &Facts, retired: &Retired) -> u64 {
        match facts.class {
            // The address phase overlaps the data phase of a load before (3.3.2: "if the next instruction is
            // an LDR or STR, and the destination of the first LDR is not used to compute the address").
            Class::Load => u64::from(!self.overlaps(facts, retired)) + unaligned(facts, retired),
            // "STR Rx,[Ry,#imm] is always one cycle": the write buffer takes it.
            Class::Store => 0,
            Class::StoreRegister => u64::from(!self.overlaps(facts, retired)),
            Class::LoadMultiple | Class::StoreMultiple => u64::from(facts.bytes / 4),
            Class::MultiplyAccumulate => u64::from(self.core.multiply_accumulate) - 1,
            Class::MultiplyLong => self.multiply_long(3, 5, retired.operands) - 1,
            Class::MultiplyLongAccumulate => self.multiply_long(4, 7, retired.operands) - 1,
            Class::Divide => divide(retired.operands) - 1,
            // Two cycles for the load and one for the addition, besides the refill.
            Class::TableBranch => 2,
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
        if self.before.writes & facts.address != 0 && computes(self.before.class) {
            let wait = u64::from(self.core.address_dependency);
            self.wait(Stall::Address, wait);
        }
        let wait = self
            .fetch
            .data(retired.access, facts.bytes.div_ceil(4).max(1), self.now);
        self.wait(Stall::Data, wait);
    }

    /// Whatever takes more or less than a cycle, or may.
    #[inline(always)]
    fn retire_other(&mut self, facts: &Facts, retired: &Retired) {
        if facts.class == Class::If {
            // "Folded onto a preceding 16-bit instruction", which stays the neighbour of what follows.
            if self.core.it == Folding::BehindNarrow && self.before.size == 2 {
                self.account.folded += 1;
                self.now -= 1;
                return;
            }
        } else {
            if facts.address != 0 || facts.class == Class::Load {
                self.memory_waits(facts, retired);
            }
            let extra = self.execute(facts, retired);
            self.account.extra[facts.class as usize] += extra;
            self.now += extra;
            self.pairs = self.may_pair(facts, retired.address);
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
    #[inline(always)]
    fn fetch(&mut self, facts: &Facts, address: u32, last: u32) {
        if self.fetch.has_branched() {
            if facts.size == 4 && address & 2 != 0 {
                let more = u64::from(self.core.unaligned_target);
                self.wait(Stall::Refill, more);
            }
            let wait = self.fetch.target(address, self.now);
            self.wait(Stall::Fetch, wait);
            if self.fetch.holds(last) {
                return;
            }
        }
        let wait = self.fetch.next(self.now);
        self.wait(Stall::Fetch, wait);
    }
}

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

/// Whether results cannot be forwarded to the address of the following access.
const fn computes(class: Class) -> bool {
    !matches!(
        class,
        Class::Load
            | Class::Store
            | Class::StoreRegister
            | Class::LoadMultiple
            | Class::StoreMultiple
            | Class::Branch
            | Class::Call
    )
}

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
            self.fetch(&facts, retired.address, last);
        }
        self.now += 1;
        self.account.counts[facts.class as usize] += 1;
        if retired.outcome == Outcome::Skipped {
            // It computed and loaded nothing.
            self.before = Facts {
                size: facts.size,
                ..Facts::NONE
            };
        } else if facts.class.is_plain() {
            self.before = facts;
        } else {
            self.retire_other(&facts, retired);
        }
    }

    fn marker(&mut self, number: u8) {
        let account = self.account();
        self.phases.push(Phase {
            number: self.phase,
            account: &account - &self.begun,
        });
        self.phase = number;
        self.begun = account;
    }
}
