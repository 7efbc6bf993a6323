//! The core's rules: how many cycles each instruction takes, after DDI 0337I (Cortex-M3 TRM, r2p1) and
//! DDI 0439 (Cortex-M4 TRM), sections 3.3.1 (table) and 3.3.2 (load and store timings).

use super::account::{Account, CacheUse};
use super::fetch::Fetch;
use super::parameters::{CoreTiming, FlashTiming, Folding, LongMultiply};
use super::{Outcome, Retired, Timing};
use crate::instruction::{Class, Instruction, Register};
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

/// What the instruction before was, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A single load, whose data phase the next access can overlap.
    Load,
    /// Computes registers that cannot be forwarded to an address.
    Data,
    Other,
}

/// Times a core with its flash.
#[derive(Debug, Clone)]
pub struct Pipeline {
    core: CoreTiming,
    fetch: Fetch,
    now: u64,
    before: Before,
    before_writes: u16,
    before_narrow: bool,
    branched: bool,
    account: Account,
    phases: Vec<Phase>,
    phase: u8,
    begun: Account,
}

impl Pipeline {
    /// At the beginning of time, caches empty.
    #[must_use]
    pub fn new(core: CoreTiming, flash: FlashTiming, layout: &Layout) -> Self {
        Self {
            core,
            fetch: Fetch::new(flash, layout.flash_size, layout.ram_base),
            now: 0,
            before: Before::Other,
            before_writes: 0,
            before_narrow: false,
            branched: false,
            account: Account::default(),
            phases: Vec::new(),
            phase: 0,
            begun: Account::default(),
        }
    }

    /// Cycles so far.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Everything so far.
    #[must_use]
    pub fn account(&self) -> Account {
        let mut account = self.account.clone();
        let (instructions, data) = self.fetch.caches();
        let usage = |cache: &super::cache::Cache| CacheUse {
            lookups: cache.lookups,
            hits: cache.hits,
        };
        account.instruction_cache = instructions.map(usage).unwrap_or_default();
        account.data_cache = data.map(usage).unwrap_or_default();
        account
    }

    /// The phases that have ended, and the one under way.
    #[must_use]
    pub fn phases(&self) -> Vec<Phase> {
        let mut phases = self.phases.clone();
        phases.push(Phase {
            number: self.phase,
            account: &self.account() - &self.begun,
        });
        phases
    }

    /// Cycles of execution, waits and refills apart.
    #[inline(always)]
    fn execute(&mut self, instruction: &Instruction, retired: &Retired) -> u64 {
        match instruction.class {
            Class::Load => {
                // The address phase overlaps the data phase of a load before (3.3.2, "LDR [any] are
                // pipelined when possible").
                let overlaps =
                    self.before == Before::Load && self.before_writes & instruction.address == 0;
                if overlaps { 1 } else { 2 }
            }
            // "STR Rx,[Ry,#imm] is always one cycle": the write buffer takes it.
            Class::Store => 1,
            Class::StoreRegister if self.before == Before::Load => 1,
            Class::StoreRegister => 2,
            Class::LoadMultiple | Class::StoreMultiple => 1 + u64::from(instruction.count),
            Class::MultiplyAccumulate => u64::from(self.core.multiply_accumulate),
            Class::MultiplyLong => self.multiply_long(3, 5, retired.operands),
            Class::MultiplyLongAccumulate => self.multiply_long(4, 7, retired.operands),
            Class::Divide => divide(retired.operands),
            // Two cycles for the load and one for the addition, besides the refill.
            Class::TableBranch => 3,
            Class::If => u64::from(!(self.core.it == Folding::BehindNarrow && self.before_narrow)),
            _ => 1,
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

    /// Waits for data in flash, and for addresses that have just been computed.
    #[inline(always)]
    fn memory_waits(&mut self, instruction: &Instruction, retired: &Retired) {
        if self.before == Before::Data && self.before_writes & instruction.address != 0 {
            let wait = u64::from(self.core.address_dependency);
            self.account.address += wait;
            self.now += wait;
        }
        let wait = self.fetch.data(retired.access, self.now);
        self.account.data += wait;
        self.now += wait;
    }

    #[inline(always)]
    fn refill(&mut self, instruction: &Instruction, retired: &Retired) {
        let loads = matches!(
            instruction.class,
            Class::Load | Class::LoadMultiple | Class::TableBranch
        );
        let refill = u64::from(if loads {
            self.core.load_refill
        } else {
            self.core.refill
        });
        self.account.refill += refill;
        self.now += refill;
        let wait = self.fetch.branch(retired.next, self.now);
        self.account.fetch += wait;
        self.now += wait;
        self.branched = true;
    }
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
        let last = retired
            .address
            .wrapping_add(u32::from(instruction.size) - 1);
        let wait = self.fetch.wait_for(last, self.now);
        self.account.fetch += wait;
        self.now += wait;
        if self.branched {
            self.branched = false;
            if instruction.size == 4 && retired.address & 2 != 0 {
                let more = u64::from(self.core.unaligned_target);
                self.account.refill += more;
                self.now += more;
            }
        }
        let cycles = if retired.outcome == Outcome::Skipped {
            1
        } else {
            if instruction.address != 0 || instruction.class == Class::Load {
                self.memory_waits(instruction, retired);
            }
            self.execute(instruction, retired)
        };
        self.now += cycles;
        let tally = &mut self.account.classes[instruction.class as usize];
        tally.count += 1;
        tally.cycles += cycles;
        self.before = match instruction.class {
            Class::Load => Before::Load,
            Class::Store
            | Class::StoreRegister
            | Class::LoadMultiple
            | Class::StoreMultiple
            | Class::Branch
            | Class::Call => Before::Other,
            _ => Before::Data,
        };
        self.before_writes = instruction.writes & !Register::PC.bit();
        self.before_narrow = instruction.size == 2;
        if retired.outcome == Outcome::Taken {
            self.refill(instruction, retired);
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
