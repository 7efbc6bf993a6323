//! Schedule of a block before it runs: its cycles except for those that depend on addresses, operands and the time,
//! which remain as steps for each run.

use super::Retired;
use super::account::{Account, Stall};
use super::core::{Core, FLOATS, Neighbour, TRANSFERS, is_in, unaligned};
use crate::instruction::{Class, Condition, Facts};
use crate::machine::CodeBlock;

/// Reason to look at an instruction.
#[derive(Debug, Clone, Copy)]
enum Look {
    /// Another read of flash is executed from.
    Fetch,
    /// An access to memory.
    Access,
    /// The operands of a multiplication or division.
    Operands,
    /// That instruction is the neighbor of the next one to be looked at, if it is not skipped.
    Neighbour,
    /// All of an instruction beyond its first cycle: it is conditional, its neighbor is not known beforehand, or it waits
    /// for the floating-point unit.
    Whole,
}

#[derive(Debug, Clone, Copy)]
struct ScheduleStep {
    /// Cycles since the step before that are the same every time.
    cycles: u32,
    look: Look,
    /// The instruction's number, class and bytes moved.
    index: u8,
    class: Class,
    bytes: u8,
}

/// Knowledge of the instruction before.
#[derive(Debug, Clone, Copy)]
enum Before {
    /// All, and its number where the core does not say so already.
    Known(Neighbour, Option<usize>),
    /// Its number: it may be skipped.
    Conditional(usize),
    /// Whatever the core says.
    Unknown,
}

/// Schedule of a block, entered in one way.
#[derive(Debug, Clone, Default)]
pub(super) struct Schedule {
    /// The addresses of the first instruction's first and last bytes.
    first: u32,
    first_last: u32,
    /// True if it is entered with the pipeline empty.
    refilled: bool,
    steps: Vec<ScheduleStep>,
    /// Cycles behind the last step.
    rest: u32,
    /// Cycles of refilling the pipeline where the last instruction goes elsewhere.
    refill: u8,
    /// Neighbor for the instruction behind the block, where that is known.
    last: Option<Neighbour>,
    /// Account of a run.
    account: Box<Account>,
    /// Number of runs since they were counted.
    pub(super) runs: u64,
}

impl Schedule {
    /// Plans a block that the core is about to enter.
    pub(super) fn new(core: &Core, block: &CodeBlock) -> Self {
        let mut schedule = Self {
            refilled: core.fetch.has_branched(),
            ..Self::default()
        };
        let mut before = if schedule.refilled {
            Before::Known(Neighbour::BEHIND_REFILL, None)
        } else {
            Before::Unknown
        };
        let mut fetched = None;
        for (index, (address, instruction)) in block.instructions.iter().enumerate() {
            let facts = instruction.facts;
            let last = address.wrapping_add(u32::from(facts.size) - 1);
            let read = core.fetch.read_of(last);
            match fetched {
                None => (schedule.first, schedule.first_last) = (*address, last),
                Some(fetched) if fetched != read => schedule.look(index, &facts, Look::Fetch),
                Some(_) => {}
            }
            fetched = Some(read);
            schedule.refill = core.refill_of(facts.class);
            schedule.rest += 1;
            schedule.account.counts[facts.class as usize] += 1;
            before = schedule.plan(core, before, index, (*address, facts));
        }
        match before {
            Before::Known(last, _) => schedule.last = Some(last),
            Before::Conditional(index) => schedule.look(index, &Facts::NONE, Look::Neighbour),
            Before::Unknown => {}
        }
        schedule
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.first_last == 0
    }

    fn look(&mut self, index: usize, facts: &Facts, look: Look) {
        self.steps.push(ScheduleStep {
            cycles: std::mem::take(&mut self.rest),
            look,
            index: index as u8,
            class: facts.class,
            bytes: facts.bytes,
        });
    }

    /// Plans an instruction but for its first cycle; gives what it is to the one behind it.
    fn plan(
        &mut self,
        core: &Core,
        before: Before,
        index: usize,
        (address, facts): (u32, Facts),
    ) -> Before {
        let known = Before::Known(core.neighbour(&facts, address), Some(index));
        let is_conditional = facts.condition != Condition::Al;
        let is_float = is_in(facts.class, FLOATS);
        let is_transfer = is_in(facts.class, TRANSFERS) && !is_float;
        let is_if = facts.class == Class::If && !is_conditional;
        match before {
            _ if core.is_single(facts.class) && is_conditional => Before::Conditional(index),
            _ if core.is_single(facts.class) => known,
            Before::Known(before, _) if is_transfer && !is_conditional => {
                let wait = core.address_wait(before, &facts);
                self.rest += wait as u32;
                self.account.waits[Stall::Address as usize] += wait;
                self.look(index, &facts, Look::Access);
                self.extra(facts.class, core.transfer(before, &facts, address));
                known
            }
            // IT leaves its neighbor to what follows if it folds.
            Before::Known(neighbour, _) if is_if && core.folds(neighbour) => {
                self.account.folded += 1;
                // The cycle that was just counted.
                self.rest -= 1;
                before
            }
            Before::Known(..) if is_if => known,
            _ if is_conditional || is_transfer || is_if || is_float => {
                if let Before::Known(_, Some(before)) | Before::Conditional(before) = before {
                    self.look(before, &facts, Look::Neighbour);
                }
                self.look(index, &facts, Look::Whole);
                // Whether it is skipped or folds is not known.
                if is_conditional || is_if {
                    Before::Unknown
                } else {
                    known
                }
            }
            _ if core.looks_at_operands(facts.class) => {
                self.look(index, &facts, Look::Operands);
                known
            }
            _ => {
                let extra = core.arithmetic(facts.class, (0, 0)) + core.wide(&facts);
                self.extra(facts.class, extra);
                known
            }
        }
    }

    fn extra(&mut self, class: Class, cycles: u64) {
        self.rest += cycles as u32;
        self.account.extra[class as usize] += cycles;
    }

    /// Adds what is the same every time.
    pub(super) fn count(&self, account: &mut Account) {
        account.add_times(&self.account, self.runs);
    }

    /// Times one run of it. The time is kept in a register of the host.
    #[inline(always)]
    pub(super) fn replay(&self, core: &mut Core, retired: &Retired<'_>) {
        let mut now = core.now;
        if self.refilled {
            now = core.fetch_target(self.first, self.first_last, now);
        } else if !core.fetch.holds(self.first_last) {
            now += core.fetch_next(now);
        }
        for step in &self.steps {
            now += u64::from(step.cycles);
            // The usual ones first.
            if let Look::Fetch = step.look {
                now += core.fetch_next(now);
            } else if let Look::Access = step.look {
                let (access, _) = retired.noted.of(usize::from(step.index));
                if access & 3 == 0 && core.fetch.is_free(access) {
                    continue;
                }
                now += core.data_wait(access, step.bytes, now);
                now += core.extra(step.class, unaligned(step.class, step.bytes, access));
            } else {
                core.now = now;
                step.rare(core, retired);
                now = core.now;
            }
        }
        core.now = now + u64::from(self.rest);
        if retired.taken {
            core.refill(u64::from(self.refill));
        } else if let Some(last) = self.last {
            core.before = last;
        }
    }
}

impl ScheduleStep {
    #[inline(never)]
    fn rare(&self, core: &mut Core, retired: &Retired<'_>) {
        let index = usize::from(self.index);
        match self.look {
            Look::Operands => {
                let operands = retired.noted.of(index);
                core.now += core.extra(self.class, core.arithmetic(self.class, operands));
            }
            Look::Neighbour => core.before = core.neighbour_of(retired, index),
            Look::Whole => core.beyond_first(retired, index),
            Look::Fetch | Look::Access => {}
        }
    }
}
