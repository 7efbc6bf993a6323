//! A program: what an ELF file says is to be loaded, and its symbols.

mod attributes;
mod symbols;

use std::fmt::Display;
use std::ops::Range;

use goblin::elf::{Elf, header, program_header};

use crate::machine::{Layout, Memory, SimulatedMachine};
use crate::{McuError, Result};

/// More than this no part holds: flash and RAM of 16 MiB each.
const MOST_BYTES: usize = 32 << 20;
/// The most bytes apart from flash and RAM.
const MOST_APART: usize = 64 << 10;
/// Alignment of every vector table, at least (B1.5.3 of DDI 0403E).
const TABLE_ALIGNMENT: u32 = 128;

/// A loaded program.
#[derive(Debug, Clone)]
pub struct Image {
    file: Vec<u8>,
    segments: Vec<Segment>,
    symbols: Vec<Symbol>,
    code: Vec<Symbol>,
    entry: u32,
    armv7: Option<&'static str>,
}

#[derive(Debug, Clone)]
struct Segment {
    /// Address of loading.
    address: u32,
    /// Address of use, after start-up code has copied it.
    runs_at: u32,
    /// Range in the file.
    bytes: Range<usize>,
    /// Bytes of memory there: those of the file and zeros.
    size: u32,
    is_code: bool,
}

impl Segment {
    /// Returns true if it is small data apart from flash and RAM, such as option bytes, UICR or backup RAM. In the
    /// region of RAM it is rather for a larger part, and the last region is the core's own.
    fn is_apart(&self, memory: &Memory) -> bool {
        let others: usize = memory.apart().map(|(_, bytes)| bytes).sum();
        memory.bytes(self.runs_at, 0).is_err()
            && matches!(self.runs_at, 0..0x2000_0000 | 0x4000_0000..0xe000_0000)
            && !self.is_code
            && others + self.size as usize <= MOST_APART
    }
}

/// The entry, the stack pointer and the address of the vector table.
type Start = (u32, u32, u32);

/// A named place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its address; of functions without the Thumb bit.
    pub address: u32,
    /// Bytes, as far as known.
    pub size: u32,
    /// True if it names a function: else data, or a mark of the linker's.
    pub is_function: bool,
}

fn malformed(error: impl Display) -> McuError {
    McuError(format!("this is not a usable ELF file: {error}"))
}

fn no_symbol(name: impl Display) -> McuError {
    McuError(format!("the program has no symbol '{name}'"))
}

impl Image {
    /// Reads the content of an ELF file.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let elf = Elf::parse(file).map_err(malformed)?;
        if elf.is_64 || !elf.little_endian || elf.header.e_machine != header::EM_ARM {
            let found = match elf.header.e_machine {
                header::EM_ARM => "big-endian Arm",
                other => header::machine_to_str(other),
            };
            return Err(McuError(format!(
                "this ELF file is for {found}, not a little-endian 32-bit Arm program; compile it with \
                 arm-none-eabi-gcc -mcpu=cortex-m3"
            )));
        }
        if let Some(other) = attributes(&elf, file).and_then(attributes::foreign) {
            return Err(McuError(format!(
                "this program was compiled for {other}; the simulated cores are Cortex-M0+, M3 and M4: compile it with \
                 -mcpu=cortex-m0plus, -mcpu=cortex-m3 or -mcpu=cortex-m4"
            )));
        }
        let mut segments = Vec::new();
        let mut room = MOST_BYTES;
        for header in &elf.program_headers {
            if header.p_type != program_header::PT_LOAD || header.p_memsz == 0 {
                continue;
            }
            let bytes = header.file_range();
            if bytes.end > file.len() {
                return Err(malformed("a segment lies outside the file"));
            }
            room = room
                .checked_sub(bytes.len())
                .ok_or_else(|| malformed("it loads more than any part holds"))?;
            segments.push(Segment {
                address: u32::try_from(header.p_paddr).map_err(malformed)?,
                runs_at: u32::try_from(header.p_vaddr).map_err(malformed)?,
                bytes,
                size: u32::try_from(header.p_memsz).map_err(malformed)?,
                is_code: header.is_executable(),
            });
        }
        if segments.iter().all(|segment| segment.bytes.is_empty()) {
            let why =
                "this ELF file has nothing to load; give the linked program, not an object file";
            return Err(McuError(why.to_owned()));
        }
        Ok(Self {
            file: file.to_vec(),
            segments,
            symbols: symbols::all(&elf),
            code: symbols::code(&elf),
            entry: u32::try_from(elf.entry).map_err(malformed)?,
            armv7: attributes(&elf, file).and_then(attributes::armv7),
        })
    }

    /// The architecture that it was compiled for, where that is more than ARMv6-M.
    pub const fn armv7(&self) -> Option<&'static str> {
        self.armv7
    }

    /// The symbol of that name.
    pub fn symbol(&self, name: &str) -> Result<&Symbol> {
        self.symbols
            .iter()
            .find(|symbol| symbol.name == name)
            .ok_or_else(|| no_symbol(name))
    }

    /// Gives a variable another initial value.
    pub fn initialise(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let address = self.symbol(name)?.address;
        let written = self.write(address, |segment| segment.runs_at, bytes);
        written.ok_or_else(|| no_symbol(format_args!("{name} with an initial value")))
    }

    /// Replaces loaded bytes.
    pub fn replace(&mut self, address: u32, bytes: &[u8]) -> Result<()> {
        let written = self.write(address, |segment| segment.address, bytes);
        written.ok_or_else(|| no_symbol(format_args!("at {address:#010x}")))
    }

    /// Replaces bytes; `first` returns the address of a segment's first byte.
    fn write(&mut self, address: u32, first: fn(&Segment) -> u32, bytes: &[u8]) -> Option<()> {
        let place = self.segments.iter().find_map(|segment| {
            let offset = address.checked_sub(first(segment))? as usize;
            let begin = segment.bytes.start.checked_add(offset)?;
            let place = begin..begin.checked_add(bytes.len())?;
            (place.end <= segment.bytes.end).then_some(place)
        })?;
        self.file[place].copy_from_slice(bytes);
        Some(())
    }

    /// Returns the ELF file with the replaced bytes.
    pub fn to_elf(self) -> Vec<u8> {
        self.file
    }

    /// Returns the names of code by address; each reaches to the next one or the end of its section.
    pub fn code(&self) -> &[Symbol] {
        &self.code
    }

    /// Returns the place of an instruction: `function+0x12`, and `(file.c:34)` where the program has debug
    /// information.
    pub fn place(&self, address: u32) -> String {
        let after = self.code.partition_point(|one| one.address <= address);
        let symbol = after.checked_sub(1).and_then(|index| self.code.get(index));
        let symbol = symbol.filter(|one| address - one.address < one.size);
        let name = symbol.map_or_else(
            || format!("{address:#010x}"),
            |one| match address - one.address {
                0 => one.name.clone(),
                offset => format!("{}+{offset:#x}", one.name),
            },
        );
        match symbols::line(&self.file, address) {
            Some(line) => format!("{name} ({line})"),
            None => name,
        }
    }

    /// Returns the program's names of phases: a symbol `keymark_phase_NAME` has a phase's number as its value.
    pub fn phase_names(&self) -> impl Iterator<Item = (u8, &str)> {
        self.symbols.iter().filter_map(|symbol| {
            let name = symbol.name.strip_prefix("keymark_phase_")?;
            Some((u8::try_from(symbol.address).ok()?, name))
        })
    }

    /// A machine with this program, ready to begin as after a reset.
    pub fn machine(&self, layout: &Layout) -> Result<SimulatedMachine> {
        let mut memory = Memory::new(layout.clone());
        for segment in &self.segments {
            let bytes = &self.file[segment.bytes.clone()];
            if segment.is_apart(&memory) {
                memory.add(segment.runs_at, segment.size);
            }
            let there = memory.bytes(segment.runs_at, segment.size as usize);
            if there.is_err() || !bytes.is_empty() && memory.load(segment.address, bytes).is_err() {
                return Err(McuError(format!(
                    "{} bytes at {:#010x} do not fit the memory, which is {layout}; link the program for this part, or \
                     choose another with --mcu",
                    segment.size, segment.address
                )));
            }
        }
        let (entry, stack, vectors) = self.start(&memory)?;
        let boundaries = self
            .code
            .iter()
            .flat_map(|one| [one.address, one.address.saturating_add(one.size)]);
        Ok(SimulatedMachine::new(memory, entry, stack)
            .with_vectors(vectors)
            .with_boundaries(boundaries))
    }

    /// Looks for the vector table at the beginning of flash, as boards do, then where a symbol names it, where the file's
    /// entry is in it, and where a segment begins. A program without one begins at the file's entry, the stack at the end
    /// of RAM.
    fn start(&self, memory: &Memory) -> Result<Start> {
        let layout = memory.layout();
        let named = self.symbols.iter().filter(|one| {
            let is_aligned = one.address.is_multiple_of(TABLE_ALIGNMENT);
            is_aligned && one.name.to_ascii_lowercase().contains("vec")
        });
        let flash = layout.flash_base..layout.flash_base + layout.flash_size;
        let all = flash.chain(layout.ram_base..layout.ram_base + layout.ram_size);
        let has_entry = |&table: &u32| memory.word(table.wrapping_add(4)) == Ok(self.entry | 1);
        let loaded = self.segments.iter().filter(|one| !one.bytes.is_empty());
        let places = std::iter::once(layout.flash_base)
            .chain(named.map(|one| one.address))
            .chain(all.step_by(TABLE_ALIGNMENT as usize).filter(has_entry))
            .chain(loaded.map(|one| one.address));
        let tables = places.filter_map(|place| self.table(place, memory));
        let first = tables.reduce(|first, next| match first {
            Ok(_) => first,
            Err(_) => next.or(first),
        });
        first.unwrap_or_else(|| {
            if !self.holds(self.entry, memory) {
                return Err(no_entry(self.entry));
            }
            let stack = layout.ram_base.wrapping_add(layout.ram_size) & !7;
            Ok((self.entry, stack, layout.flash_base))
        })
    }

    /// The vector table there, if there is one.
    fn table(&self, vectors: u32, memory: &Memory) -> Option<Result<Start>> {
        let stack = memory.word(vectors).ok()?;
        let entry = memory.word(vectors.wrapping_add(4)).ok()?;
        let has_stack = memory.is_ram(stack.wrapping_sub(4));
        match (self.holds(entry, memory), has_stack) {
            (true, true) => Some(Ok((entry, stack & !3, vectors))),
            (true, false) => Some(Err(McuError(format!(
                "the vector table puts the stack pointer at {stack:#010x}, but the memory is {}; link the program for \
                 this part, or choose another with --mcu",
                memory.layout()
            )))),
            (false, true) if self.holds(entry | 1, memory) => Some(Err(no_entry(entry))),
            (false, _) => None,
        }
    }

    /// Returns true if that is the address of Thumb code, loaded into flash or RAM.
    fn holds(&self, entry: u32, memory: &Memory) -> bool {
        let within = |first: u32, segment: &Segment| {
            (entry.wrapping_sub(first) as usize) < segment.bytes.len() && entry & 1 == 1
        };
        memory.half(entry & !1).is_ok()
            && self
                .segments
                .iter()
                .any(|one| within(one.address, one) || within(one.runs_at, one))
    }
}

fn no_entry(entry: u32) -> McuError {
    McuError(format!(
        "its entry {entry:#010x} is not Thumb code of this program (bit 0 set); put a vector table at the beginning of \
         flash, or mark the function with .thumb_func and name it with ENTRY()"
    ))
}

fn attributes<'f>(elf: &Elf<'_>, file: &'f [u8]) -> Option<&'f [u8]> {
    let section = elf
        .section_headers
        .iter()
        .find(|section| section.sh_type == SHT_ARM_ATTRIBUTES)?;
    file.get(section.file_range()?)
}

/// ELF for the Arm Architecture, 5.3.3.
const SHT_ARM_ATTRIBUTES: u32 = 0x7000_0003;
