//! Decoded code, one entry for each halfword address, filled when first executed.

use super::memory::Memory;
use crate::decode;
use crate::instruction::{Effect, Instruction};

/// The decoded instructions of flash and RAM.
#[derive(Debug, Clone, Default)]
pub struct Code {
    flash: Region,
    ram: Region,
    /// Flash by its other name, since targets of branches are absolute: empty until executed from.
    alias: Region,
    dsp: Dsp,
}

/// Whether the core has the DSP extension.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Dsp {
    #[default]
    Present,
    Absent,
}

#[derive(Debug, Clone, Default)]
struct Region {
    base: u32,
    instructions: Vec<Instruction>,
}

impl Region {
    fn new(base: u32, size: u32) -> Self {
        Self {
            base,
            instructions: vec![Instruction::UNDECODED; size as usize / 2],
        }
    }

    #[inline(always)]
    fn index(&self, address: u32) -> usize {
        (address.wrapping_sub(self.base) >> 1) as usize
    }
}

impl Code {
    /// Nothing decoded yet. `flash_base` is the name by which flash is executed from, as a rule.
    pub(super) fn new(memory: &Memory, flash_base: u32) -> Self {
        let layout = memory.layout();
        Self {
            flash: Region::new(flash_base, layout.flash_size),
            ram: Region::new(layout.ram_base, layout.ram_size),
            dsp: Dsp::Present,
            alias: Region::new(
                if flash_base == 0 {
                    layout.flash_base
                } else {
                    0
                },
                0,
            ),
        }
    }

    /// The instruction there; `None` outside memory.
    #[inline(always)]
    pub(super) fn at(&self, address: u32) -> Option<&Instruction> {
        self.flash
            .instructions
            .get(self.flash.index(address))
            .or_else(|| self.ram.instructions.get(self.ram.index(address)))
            .or_else(|| self.alias.instructions.get(self.alias.index(address)))
    }

    /// Decodes what stands there; `None` where nothing can be read.
    #[cold]
    pub(super) fn decode(&mut self, address: u32, memory: &mut Memory) -> Option<()> {
        let mut decoded = Vec::with_capacity(5);
        decode::decode_at(
            address,
            |address| memory.half(address).ok(),
            |address, instruction| decoded.push((address, instruction)),
        )?;
        for (address, mut instruction) in decoded {
            if self.dsp == Dsp::Absent && instruction.effect.needs_dsp() {
                let encoding = u32::from(memory.half(address).ok()?) << 16
                    | u32::from(memory.half(address.wrapping_add(2)).ok()?);
                instruction.effect = Effect::Unknown(encoding);
            }
            memory.note_executed(address, u32::from(instruction.facts.size));
            let (flash, ram) = (self.flash.index(address), self.ram.index(address));
            if let Some(entry) = self.flash.instructions.get_mut(flash) {
                *entry = instruction;
            } else if let Some(entry) = self.ram.instructions.get_mut(ram) {
                *entry = instruction;
            } else {
                let length = self.flash.instructions.len();
                self.alias
                    .instructions
                    .resize(length, Instruction::UNDECODED);
                let index = self.alias.index(address);
                if let Some(entry) = self.alias.instructions.get_mut(index) {
                    *entry = instruction;
                }
            }
        }
        Some(())
    }

    /// From now on the DSP extension is not known.
    pub(super) const fn forbid_dsp(&mut self) {
        self.dsp = Dsp::Absent;
    }

    /// Forgets what was decoded from RAM.
    #[cold]
    pub(super) fn forget_ram(&mut self) {
        self.ram.instructions.fill(Instruction::UNDECODED);
    }
}
