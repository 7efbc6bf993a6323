//! Decoded code: straight stretches of instructions, each with the function that executes it.

use std::collections::{BTreeMap, BTreeSet};

use super::execute::{self, Done, Handler};
use super::memory::{Layout, Memory};
use super::{SimulatedMachine, transfer};
use crate::decode;
use crate::instruction::{Condition, Core, Effect, Instruction, Register};

/// The most instructions of a block: a bit each says which were skipped.
pub(crate) const LONGEST: usize = 32;

/// Operation of a block, an instruction or its preparation, with those behind it: each goes on with the next itself,
/// so that a host can predict the branches.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    run: Handler,
    pub(super) next: Option<Box<Operation>>,
    pub(super) effect: Effect,
    /// The instruction's number in its block.
    pub(super) index: u8,
}

impl Operation {
    #[inline(always)]
    pub(super) fn run(&self, machine: &mut SimulatedMachine) -> Done {
        (self.run)(machine, self)
    }

    /// Runs the operation behind it, if there is one: they are too few to matter to the stack.
    #[inline(always)]
    pub(super) fn go_on(&self, machine: &mut SimulatedMachine) -> Done {
        match &self.next {
            Some(next) => next.run(machine),
            None => Ok(()),
        }
    }
}

/// Instructions that are executed one behind the other. Only the last may go elsewhere.
#[derive(Debug, Clone)]
pub struct CodeBlock {
    /// Number among the machine's blocks, if it is kept: timing models index by it.
    pub(crate) number: usize,
    /// Instructions with their addresses.
    pub(crate) instructions: Vec<(u32, Instruction)>,
    /// The address behind it.
    pub(super) after: u32,
    pub(super) first: Operation,
}

impl CodeBlock {
    /// The number of those that are not kept.
    pub(crate) const PASSING: usize = usize::MAX;

    /// There is one instruction at least.
    fn new(number: usize, instructions: Vec<(u32, Instruction)>, after: u32, core: Core) -> Self {
        let mut first = None;
        let mut put = |run, effect, index| {
            let next = first.take().map(Box::new);
            first = Some(Operation {
                run,
                next,
                effect,
                index,
            });
        };
        // From the last on, since each holds those behind it.
        for (index, (address, instruction)) in instructions.iter().enumerate().rev() {
            let (index, effect) = (index as u8, instruction.effect);
            put(execute::handler(&effect), effect, index);
            if core == Core::CortexM0Plus && transfer::may_be_unaligned(&effect) {
                put(transfer::check_alignment, effect, index);
            }
            if instruction.facts.condition != Condition::Al {
                put(
                    execute::unless(instruction.facts.condition),
                    Effect::If,
                    index,
                );
            }
            let addresses_by_pc = instruction.facts.address & Register::PC.bit() != 0;
            if addresses_by_pc || effect.reads_pc() {
                put(
                    execute::set_pc,
                    Effect::Branch(address.wrapping_add(4)),
                    index,
                );
            }
        }
        let nothing = || Operation {
            run: execute::handler(&Effect::Nop),
            next: None,
            effect: Effect::Nop,
            index: 0,
        };
        Self {
            number,
            first: first.unwrap_or_else(nothing),
            instructions,
            after,
        }
    }

    /// Its first instructions alone.
    #[cold]
    pub(super) fn shortened(&self, count: usize, core: Core) -> Self {
        let instructions = self.instructions.iter().copied().take(count).collect();
        let after = self.address(count);
        Self::new(Self::PASSING, instructions, after, core)
    }

    /// The address of an instruction by its number, or that behind the last.
    pub(crate) fn address(&self, index: usize) -> u32 {
        let there = self.instructions.get(index);
        there.map_or(self.after, |(address, _)| *address)
    }
}

/// Decoded code of flash and RAM.
#[derive(Debug, Clone, Default)]
pub(super) struct Code {
    blocks: Vec<CodeBlock>,
    /// Flash, RAM, and flash by its other name, since targets of branches are absolute.
    regions: [Region; 3],
    instructions: BTreeMap<u32, Instruction>,
    /// Addresses before which a block ends at the latest: where code gets another name.
    pub(super) boundaries: BTreeSet<u32>,
    pub(super) core: Core,
}

/// The numbers of the blocks that begin at each halfword, from 1 on; 0 where none does.
#[derive(Debug, Clone, Default)]
struct Region {
    base: u32,
    numbers: Vec<u32>,
}

impl Region {
    fn new(base: u32, size: u32) -> Self {
        Self {
            base,
            numbers: vec![0; size as usize / 2],
        }
    }

    #[inline(always)]
    const fn index(&self, address: u32) -> usize {
        (address.wrapping_sub(self.base) >> 1) as usize
    }

    #[inline(always)]
    fn number(&self, address: u32) -> Option<&u32> {
        self.numbers.get(self.index(address))
    }
}

impl Code {
    /// Nothing decoded yet. `entry` is where it begins: the name of flash there is looked for first.
    pub(super) fn new(layout: &Layout, entry: u32) -> Self {
        let is_aliased = entry.wrapping_sub(layout.flash_base) >= layout.flash_size;
        let names = if is_aliased {
            [0, layout.flash_base]
        } else {
            [layout.flash_base, 0]
        };
        let [flash, alias] = names.map(|base| Region::new(base, layout.flash_size));
        Self {
            regions: [flash, Region::new(layout.ram_base, layout.ram_size), alias],
            ..Self::default()
        }
    }

    /// The block that begins there, if it is decoded.
    #[inline(always)]
    pub(super) fn block(&self, address: u32) -> Option<&CodeBlock> {
        let [flash, ram, alias] = &self.regions;
        let number = (flash.number(address))
            .or_else(|| ram.number(address))
            .or_else(|| alias.number(address))?;
        self.blocks.get((*number as usize).wrapping_sub(1))
    }

    /// Decodes what is there; `None` where nothing can be read.
    #[cold]
    pub(super) fn decode(&mut self, address: u32, memory: &mut Memory) -> Option<()> {
        let (mut instructions, mut next) = (Vec::new(), address);
        while let Some(instruction) = self.instruction(next, memory) {
            instructions.push((next, instruction));
            next = next.wrapping_add(u32::from(instruction.facts.size));
            if instruction.ends_block()
                || instructions.len() == LONGEST
                || self.boundaries.contains(&next)
            {
                break;
            }
        }
        if instructions.is_empty() {
            return None;
        }
        let block = CodeBlock::new(self.blocks.len(), instructions, next, self.core);
        self.blocks.push(block);
        let number = self.blocks.len() as u32;
        *self.entry(address)? = number;
        Some(())
    }

    fn entry(&mut self, address: u32) -> Option<&mut u32> {
        self.regions.iter_mut().find_map(|region| {
            let index = region.index(address);
            region.numbers.get_mut(index)
        })
    }

    /// Decodes one instruction; IT also decodes those of its block.
    fn instruction(&mut self, address: u32, memory: &mut Memory) -> Option<Instruction> {
        if let Some(known) = self.instructions.get(&address) {
            return Some(*known);
        }
        let halfword = |address| memory.half(address).ok();
        for (address, mut instruction) in decode::decode_at(address, halfword)? {
            let (first, size) = (memory.half(address).ok()?, instruction.facts.size);
            let effect = &mut instruction.effect;
            if !effect.belongs_to(self.core, size, first) {
                *effect = Effect::Unknown(match size {
                    2 => first.into(),
                    _ => u32::from(first) << 16 | u32::from(memory.half(address + 2).ok()?),
                });
            }
            memory.note_executed(address, u32::from(instruction.facts.size));
            self.instructions.insert(address, instruction);
        }
        self.instructions.get(&address).copied()
    }

    /// Forgets what was decoded.
    #[cold]
    pub(super) fn forget(&mut self) {
        self.instructions.clear();
        self.forget_blocks();
    }

    fn forget_blocks(&mut self) {
        for block in std::mem::take(&mut self.blocks) {
            if let Some(entry) = self.entry(block.address(0)) {
                *entry = 0;
            }
        }
    }

    /// Lets the instruction there be a block of its own from now on; whether it was not. Blocks are forgotten then.
    #[cold]
    pub(super) fn isolate(&mut self, address: u32) -> bool {
        let size = self
            .instructions
            .get(&address)
            .map_or(2, |one| one.facts.size);
        let behind = address.wrapping_add(u32::from(size));
        let is_new = self.boundaries.insert(address) | self.boundaries.insert(behind);
        if is_new {
            self.forget_blocks();
        }
        is_new
    }
}
