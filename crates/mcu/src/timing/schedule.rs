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
    Access(Facts),
    /// The operands of a multiplication or division.
    Operands(Class),
    /// All of an instruction beyond its first cycle: it is conditional, or its neighbour is not known, but for this one.
    Whole(Option<Neighbour>),
}

#[derive(Debug, Clone, Copy)]
struct Step {
    /// Cycles since the step before that are the same every time.
    cycles: u64,
    /// The instruction's number.
    index: usize,
    look: Look,
}

/// What is known of a block.
#[derive(Debug, Clone, Default)]
pub(super) struct Schedule {
    /// Bytes and address of the first instruction.
    first: (u8, u32),
    steps: Vec<Step>,
    /// Cycles behind the last step.
    rest: u64,
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
        let (mut before, mut fetched) = (None, None);
        for (index, (address, instruction)) in block.instructions.iter().enumerate() {
            let facts = instruction.facts;
            let last = address.wrapping_add(u32::from(facts.size) - 1);
            let read = core.fetch.read_of(last);
            match fetched {
                None => schedule.first = (facts.size, *address),
                Some(fetched) if fetched != read => schedule.look(index, Look::Fetch),
                Some(_) => {}
            }
            fetched = Some(read);
            schedule.rest += 1;
            schedule.account.counts[facts.class as usize] += 1;
            before = schedule.beyond_first(core, before, index, (*address, facts));
        }
        schedule.last = before;
        schedule
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.first.0 == 0
    }

    fn look(&mut self, index: usize, look: Look) {
        let cycles = std::mem::take(&mut self.rest);
        self.steps.push(Step {
            cycles,
            index,
            look,
        });
    }

    /// Plans an instruction but for its first cycle; gives what it is to the one behind it, where that is known.
    fn beyond_first(
        &mut self,
        core: &Core,
        before: Option<Neighbour>,
        index: usize,
        (address, facts): (u32, Facts),
    ) -> Option<Neighbour> {
        let conditional = facts.condition != Condition::Al;
        let known = Some(core.neighbour(&facts, address)).filter(|_| !conditional);
        let is_transfer = is_in(facts.class, TRANSFERS);
        if !conditional && core.is_single(facts.class) {
            return known;
        }
        match before {
            Some(before) if !conditional && is_transfer => {
                let wait = core.address_wait(before, &facts);
                self.rest += wait;
                self.account.waits[Stall::Address as usize] += wait;
                self.look(index, Look::Access(facts));
                self.extra(facts.class, core.transfer(before, &facts, address));
            }
            Some(before) if !conditional && facts.class == Class::If => {
                if core.folds(before) {
                    self.account.folded += 1;
                    // The cycle that was just counted.
                    self.rest -= 1;
                    return Some(before);
                }
            }
            _ if conditional || is_transfer || facts.class == Class::If => {
                self.look(index, Look::Whole(before));
                // A folded IT leaves its neighbour to what follows.
                return known.filter(|_| facts.class != Class::If);
            }
            _ if core.looks_at_operands(facts.class) => {
                self.look(index, Look::Operands(facts.class));
            }
            _ => self.extra(facts.class, core.arithmetic(facts.class, (0, 0))),
        }
        known
    }

    fn extra(&mut self, class: Class, cycles: u64) {
        self.rest += cycles;
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
            core.now += step.cycles;
            match &step.look {
                Look::Fetch => core.fetch_next(),
                Look::Access(facts) => {
                    let access = retired.noted.address_of(step.index);
                    core.data_wait(access, facts.bytes);
                    if access & 3 != 0 {
                        core.extra(facts.class, unaligned(facts, access));
                    }
                }
                Look::Operands(class) => {
                    let operands = retired.noted.operands_of(step.index);
                    core.extra(*class, core.arithmetic(*class, operands));
                }
                Look::Whole(before) => {
                    if let Some(before) = before {
                        core.before = *before;
                    }
                    core.beyond_first(retired, step.index);
                }
            }
        }
        core.now += self.rest;
        if let Some(last) = self.last {
            core.before = last;
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
    }
}
