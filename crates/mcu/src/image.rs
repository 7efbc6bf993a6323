//! A program: what an ELF file says is to be loaded, and its symbols.

use std::ops::Range;

use goblin::elf::{Elf, header, program_header, sym};

use crate::machine::{BusError, Layout, Machine, Memory};

/// More than this no part holds: flash and RAM of 16 MiB each.
const MOST_BYTES: usize = 32 << 20;
/// Longer names are cut.
const LONGEST_NAME: usize = 1024;

/// A loaded program.
#[derive(Debug, Clone)]
pub struct Image {
    file: Vec<u8>,
    segments: Vec<Segment>,
    symbols: Vec<Symbol>,
    entry: u32,
}

#[derive(Debug, Clone)]
struct Segment {
    /// Where it is loaded.
    address: u32,
    /// Where the program sees it, after start-up code has copied it.
    runs_at: u32,
    /// In the file.
    bytes: Range<usize>,
}

/// A named place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its address; of functions without the Thumb bit.
    pub address: u32,
    /// Bytes, as far as known.
    pub size: u32,
    /// Whether it names a function: else data, or a mark of the linker's.
    pub is_function: bool,
}

/// Why a file is no program for these cores.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// Not readable as ELF.
    #[error("this is not a usable ELF file: {0}")]
    Malformed(String),
    /// For another machine.
    #[error(
        "this ELF file is for {found}, not a little-endian 32-bit Arm program; compile it with arm-none-eabi-gcc -mcpu=cortex-m3"
    )]
    OtherMachine {
        /// What it is for.
        found: String,
    },
    /// Nothing to execute.
    #[error("this ELF file has nothing to load; give the linked program, not an object file")]
    Empty,
    /// It lies where this part has no memory.
    #[error(
        "{bytes} bytes at {address:#010x} do not fit the memory: {source}; link the program for this part, or choose another with --mcu"
    )]
    DoesNotFit {
        /// First address.
        address: u32,
        /// Length.
        bytes: usize,
        /// What the memory says.
        source: BusError,
    },
    /// Not among the kernels.
    #[error("no program {0} comes with keymark; run kernels/build and compile again")]
    NotShipped(String),
    /// A symbol that is needed is not there.
    #[error("the program has no symbol '{0}'")]
    NoSymbol(String),
}

fn malformed(error: impl ToString) -> ImageError {
    ImageError::Malformed(error.to_string())
}

impl Image {
    /// Reads the content of an ELF file.
    pub fn parse(file: &[u8]) -> Result<Self, ImageError> {
        let elf = Elf::parse(file).map_err(malformed)?;
        if elf.is_64 || !elf.little_endian || elf.header.e_machine != header::EM_ARM {
            return Err(ImageError::OtherMachine {
                found: header::machine_to_str(elf.header.e_machine).to_owned(),
            });
        }
        let mut segments = Vec::new();
        let mut room = MOST_BYTES;
        for header in &elf.program_headers {
            if header.p_type != program_header::PT_LOAD || header.p_filesz == 0 {
                continue;
            }
            let bytes = usize::try_from(header.p_offset)
                .ok()
                .zip(usize::try_from(header.p_filesz).ok())
                .and_then(|(start, length)| Some(start..start.checked_add(length)?))
                .filter(|bytes| bytes.end <= file.len())
                .ok_or_else(|| malformed("a segment lies outside the file"))?;
            room = room
                .checked_sub(bytes.len())
                .ok_or_else(|| malformed("it loads more than any part holds"))?;
            segments.push(Segment {
                address: u32::try_from(header.p_paddr).map_err(malformed)?,
                runs_at: u32::try_from(header.p_vaddr).map_err(malformed)?,
                bytes,
            });
        }
        if segments.is_empty() {
            return Err(ImageError::Empty);
        }
        Ok(Self {
            file: file.to_vec(),
            segments,
            symbols: symbols(&elf),
            entry: u32::try_from(elf.entry).map_err(malformed)?,
        })
    }

    /// The symbol of that name.
    pub fn symbol(&self, name: &str) -> Result<&Symbol, ImageError> {
        self.symbols
            .iter()
            .find(|symbol| symbol.name == name)
            .ok_or_else(|| ImageError::NoSymbol(name.to_owned()))
    }

    /// Gives a variable another initial value.
    pub fn initialise(&mut self, name: &str, bytes: &[u8]) -> Result<(), ImageError> {
        let address = self.symbol(name)?.address;
        let written = self.write(address, |segment| segment.runs_at, bytes);
        written.ok_or_else(|| ImageError::NoSymbol(format!("{name} with an initial value")))
    }

    /// Replaces loaded bytes.
    pub fn replace(&mut self, address: u32, bytes: &[u8]) -> Result<(), ImageError> {
        let written = self.write(address, |segment| segment.address, bytes);
        written.ok_or_else(|| ImageError::NoSymbol(format!("at {address:#010x}")))
    }

    /// Where `first` is the address of a segment's first byte.
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

    /// As an ELF file again, with what was replaced.
    pub fn to_elf(self) -> Vec<u8> {
        self.file
    }

    /// Functions, by address.
    pub fn functions(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(|symbol| symbol.is_function)
    }

    /// A machine with this program, ready to begin. The stack begins where the vector table at the
    /// lowest address says, or at the end of RAM.
    pub fn machine(&self, layout: &Layout) -> Result<Machine, ImageError> {
        let mut memory = Memory::new(layout.clone());
        for segment in &self.segments {
            memory
                .load(segment.address, &self.file[segment.bytes.clone()])
                .map_err(|source| ImageError::DoesNotFit {
                    address: segment.address,
                    bytes: segment.bytes.len(),
                    source,
                })?;
        }
        let lowest = self.segments.iter().map(|segment| segment.address).min();
        let end = layout.ram_base.wrapping_add(layout.ram_size);
        let stack = lowest
            .and_then(|lowest| memory.word(lowest).ok())
            .filter(|stack| stack % 4 == 0 && *stack > layout.ram_base && *stack <= end)
            .unwrap_or(end & !7);
        Ok(Machine::new(memory, self.entry, stack))
    }
}

fn symbols(elf: &Elf) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = elf
        .syms
        .iter()
        .filter_map(|entry| {
            let name = elf.strtab.get_at(entry.st_name)?;
            // $t, $d and the like mark kinds of content (ELF for the Arm Architecture, 5.5.5).
            if name.is_empty() || name.starts_with('$') {
                return None;
            }
            let is_function = match entry.st_type() {
                sym::STT_FUNC => true,
                sym::STT_OBJECT | sym::STT_NOTYPE => false,
                _ => return None,
            };
            let address = u32::try_from(entry.st_value).ok()?;
            Some(Symbol {
                name: name.chars().take(LONGEST_NAME).collect(),
                address: address & !u32::from(is_function),
                size: u32::try_from(entry.st_size).ok()?,
                is_function,
            })
        })
        .collect();
    symbols.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    symbols
}
