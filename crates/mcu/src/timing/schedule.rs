//! What is known of a block before it runs: its cycles but for what hangs on addresses, operands and the time, which are
//! the steps that are left to be looked at whenever it runs.

use super::Retired;
use super::account::{Account, Stall};
use super::core::{Core, Neighbour, TRANSFERS, is_in, unaligned};
use crate::instruction::{Class, Condition, Facts};
use crate::machine::Block;

/// What has to be looked at.
#[derive(Debug, Clone, Copy)]
enum Look {
    /// Another read of flash is executed from.
    Fetch,
    /// An access to memory.
    Access,
    /// The operands of a multiplication or division.
    Operands,
    /// That instruction is the neighbour of the next one.
    Neighbour,
    /// All of an instruction beyond its first cycle: it is conditional, or its neighbour is not known beforehand.
    Whole,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    /// Cycles since the step before that are the same every time.
    cycles: u32,
    look: Look,
    /// The instruction's number, class and bytes moved.
    index: u8,
    class: Class,
    bytes: u8,
}

/// What is known of a block.
#[derive(Debug, Clone, Default)]
pub(super) struct Schedule {
    /// Bytes and address of the first instruction.
    first: (u8, u32),
    steps: Vec<Step>,
    /// Cycles behind the last step.
    rest: u32,
    /// Cycles of refilling the pipeline where the last instruction goes elsewhere.
    refill: u8,
    /// What the last instruction is to the one behind it, where that is known.
    last: Option<Neighbour>,
    /// What is counted whenever it runs.
    account: Account,
    /// How often it has run since that was counted.
    pub(super) runs: u64,
}

impl Schedule {
    pub(super) fn new(core: &Core, block: &Block) -> Self {
        let mut schedule = Self::default();
        // The number of the neighbour, and the read that is executed from.
        let (mut before, mut fetched) = (None, None);
        let neighbour = |index: usize| {
            let instruction = block.instructions.get(index);
            instruction.map(|(address, instruction)| core.neighbour(&instruction.facts, *address))
        };
        for (index, (address, instruction)) in block.instructions.iter().enumerate() {
            let facts = instruction.facts;
            let last = address.wrapping_add(u32::from(facts.size) - 1);
            let read = core.fetch.read_of(last);
            match fetched {
                None => schedule.first = (facts.size, *address),
                Some(fetched) if fetched != read => schedule.look(index, &facts, Look::Fetch),
                Some(_) => {}
            }
            fetched = Some(read);
            schedule.refill = core.refill_of(facts.class);
            schedule.rest += 1;
            schedule.account.counts[facts.class as usize] += 1;
            let known = before.and_then(|index| Some((index, neighbour(index)?)));
            let is_plain = facts.condition == Condition::Al && core.is_single(facts.class);
            if is_plain || schedule.plan(core, known, index, (*address, facts)) {
                before = Some(index);
                continue;
            }
            // IT leaves its neighbour to what follows if it folds.
            let folds = |(_, before)| facts.class == Class::If && core.folds(before);
            before = before.filter(|_| known.is_some_and(folds));
        }
        schedule.last = before.and_then(neighbour);
        schedule
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.first.0 == 0
    }

    fn look(&mut self, index: usize, facts: &Facts, look: Look) {
        self.steps.push(Step {
            cycles: std::mem::take(&mut self.rest),
            look,
            index: index as u8,
            class: facts.class,
            bytes: facts.bytes,
        });
    }

    /// Plans an instruction but for its first cycle; says whether it is known to be the neighbour of the one behind it.
    fn plan(
        &mut self,
        core: &Core,
        before: Option<(usize, Neighbour)>,
        index: usize,
        (address, facts): (u32, Facts),
    ) -> bool {
        let is_transfer = is_in(facts.class, TRANSFERS);
        match before {
            _ if facts.condition != Condition::Al => {}
            Some((_, before)) if is_transfer => {
                let wait = core.address_wait(before, &facts);
                self.rest += wait as u32;
                self.account.waits[Stall::Address as usize] += wait;
                self.look(index, &facts, Look::Access);
                self.extra(facts.class, core.transfer(before, &facts, address));
                return true;
            }
            Some((_, before)) if facts.class == Class::If => {
                let folds = core.folds(before);
                self.account.folded += u64::from(folds);
                // The cycle that was just counted.
                self.rest -= u32::from(folds);
                return !folds;
            }
            None if is_transfer || facts.class == Class::If => {}
            _ if core.looks_at_operands(facts.class) => {
                self.look(index, &facts, Look::Operands);
                return true;
            }
            _ => {
                self.extra(facts.class, core.arithmetic(facts.class, (0, 0)));
                return true;
            }
        }
        if let Some((before, _)) = before {
            self.look(before, &facts, Look::Neighbour);
        }
        self.look(index, &facts, Look::Whole);
        // Whether it is skipped or folds is not known.
        facts.condition == Condition::Al && facts.class != Class::If
    }

    fn extra(&mut self, class: Class, cycles: u64) {
        self.rest += cycles as u32;
        self.account.extra[class as usize] += cycles;
    }

    /// Adds what is the same every time.
    pub(super) fn count(&self, account: &mut Account) {
        account.add_times(&self.account, self.runs);
    }

    /// Times one run of it.
    #[inline(always)]
    pub(super) fn replay(&self, core: &mut Core, retired: &Retired<'_>) {
        core.fetch(self.first.1, self.first.0);
        for step in &self.steps {
            core.now += u64::from(step.cycles);
            let index = usize::from(step.index);
            // The usual ones first.
            if let Look::Fetch = step.look {
                core.fetch_next();
            } else if let Look::Access = step.look {
                let access = retired.noted.address_of(index);
                core.data_wait(access, step.bytes);
                if access & 3 != 0 {
                    core.extra(step.class, unaligned(step.class, step.bytes, access));
                }
            } else {
                step.rare(core, retired);
            }
        }
        core.now += u64::from(self.rest);
        if retired.taken {
            core.refill(u64::from(self.refill));
        } else if let Some(last) = self.last {
            core.before = last;
        }
    }
}

impl Step {
    #[inline(never)]
    fn rare(&self, core: &mut Core, retired: &Retired<'_>) {
        let index = usize::from(self.index);
        match self.look {
            Look::Operands => {
                let operands = retired.noted.operands_of(index);
                core.extra(self.class, core.arithmetic(self.class, operands));
            }
            Look::Neighbour => {
                if let Some((address, before)) = retired.block.instructions.get(index) {
                    core.before = core.neighbour(&before.facts, *address);
                }
            }
            Look::Whole => core.beyond_first(retired, index),
            Look::Fetch | Look::Access => {}
        }
    }
}

impl Core {
    /// Times instructions one by one, where a block was not executed to its end.
    #[cold]
    pub(super) fn step(&mut self, retired: &Retired<'_>) {
        let (from, to) = retired.range;
        let instructions = retired.block.instructions.iter().enumerate();
        for (index, (address, instruction)) in instructions.take(to).skip(from) {
            let facts = instruction.facts;
            self.fetch(*address, facts.size);
            self.now += 1;
            self.account.counts[facts.class as usize] += 1;
            self.beyond_first(retired, index);
        }
        if retired.taken {
            let class = retired.last().1.facts.class;
            self.refill(u64::from(self.refill_of(class)));
        }
    }
}
