//! The timing model of a part: its core, told of blocks, and the account of each phase.

use std::collections::BTreeMap;

use super::account::{Account, Stall};
use super::core::Core;
use super::schedule::Schedule;
use super::{CoreTiming, FlashTiming, Retired, Timing};
use crate::machine::{CodeBlock, Layout};

/// All stretches that begin with markers of one number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// The marker's number; code before the first has 0.
    pub number: u8,
    /// Number of stretches.
    pub count: u64,
    /// Cycles of the shortest.
    pub shortest: u64,
    /// Cycles of the longest.
    pub longest: u64,
    /// Cycles of all stretches by cause.
    pub account: Account,
}

/// Times a core with its flash.
#[derive(Debug, Clone)]
pub struct Pipeline {
    core: Core,
    /// Schedules of the blocks by number, for either way of entering them.
    schedules: Vec<Schedule>,
    /// The numbers of those whose runs are not in the account yet.
    counted: Vec<usize>,
    phases: BTreeMap<u8, Phase>,
    phase: u8,
    begun: Account,
}

impl Pipeline {
    /// Starts at time zero with empty caches.
    pub fn new(core: CoreTiming, flash: FlashTiming, layout: &Layout) -> Self {
        Self {
            core: Core::new(core, flash, layout),
            schedules: Vec::new(),
            counted: Vec::new(),
            phases: BTreeMap::new(),
            phase: 0,
            begun: Account::default(),
        }
    }

    /// Cycles so far.
    pub const fn now(&self) -> u64 {
        self.core.now
    }

    /// Returns the waits so far that are no part of a block's plan, in the order of [`Stall::ALL`].
    pub(crate) const fn waits(&self) -> &[u64; Stall::ALL.len()] {
        &self.core.account.waits
    }

    /// Everything so far.
    pub fn account(&self) -> Account {
        let mut account = self.core.account.clone();
        for &number in &self.counted {
            self.schedules[number].count(&mut account);
        }
        [account.instruction_cache, account.data_cache] = self.core.fetch.cache_uses();
        account
    }

    /// Puts the runs of all blocks into the account.
    fn settle(&mut self) {
        for number in self.counted.drain(..) {
            let schedule = &mut self.schedules[number];
            schedule.count(&mut self.core.account);
            schedule.runs = 0;
        }
    }

    #[cold]
    fn prepare(&mut self, number: usize, block: &CodeBlock) {
        if number >= self.schedules.len() {
            self.schedules.resize_with(number + 1, Schedule::default);
        }
        self.schedules[number] = Schedule::new(&self.core, block);
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
}

impl Timing for Pipeline {
    #[inline(always)]
    fn retire(&mut self, retired: &Retired<'_>) {
        if retired.block.number == CodeBlock::PASSING {
            let mut schedule = Schedule::new(&self.core, retired.block);
            schedule.runs = 1;
            schedule.replay(&mut self.core, retired);
            return schedule.count(&mut self.core.account);
        }
        let refilled = usize::from(self.core.fetch.has_branched());
        let number = 2 * retired.block.number + refilled;
        let known = self.schedules.get(number);
        if known.is_none_or(Schedule::is_empty) {
            self.prepare(number, retired.block);
        }
        let schedule = &mut self.schedules[number];
        if schedule.runs == 0 {
            self.counted.push(number);
        }
        schedule.runs += 1;
        schedule.replay(&mut self.core, retired);
    }

    fn marker(&mut self, number: u8) {
        self.settle();
        let (account, mut phases) = (self.account(), std::mem::take(&mut self.phases));
        self.end(&account, &mut phases);
        (self.phases, self.phase, self.begun) = (phases, number, account);
    }

    fn exception(&mut self) {
        self.core.exception();
    }

    fn forget(&mut self) {
        self.settle();
        self.schedules.clear();
    }

    fn now(&self) -> Option<u64> {
        Some(self.core.now)
    }
}
