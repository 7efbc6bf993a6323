//! Flash and RAM as the core sees them.

use std::fmt;

/// Error of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BusError {
    /// Nothing answers there.
    #[error("a read from {0:#010x}, where there is neither flash nor RAM")]
    Read(u32),
    /// Nothing takes it there.
    #[error("a write to {0:#010x}, where there is no RAM")]
    Write(u32),
    /// LDM, LDRD and exclusive accesses must be aligned (A3.2.1).
    #[error("an unaligned access to {0:#010x} by an instruction that does not allow it")]
    Unaligned(u32),
}

/// Bytes of RAM that are told apart as code: the halfwords that instructions are made of.
const HALFWORD: u32 = 2;

/// The contents of flash and RAM.
#[derive(Debug, Clone)]
pub struct Memory {
    layout: Layout,
    flash: Vec<u8>,
    ram: Vec<u8>,
    /// Further data with their addresses: the second RAM, if there is one, then what lies apart.
    others: Vec<(u32, Vec<u8>)>,
    /// Executed part of RAM, with the bytes before it that a word may overlap with: first address and length.
    watched: (u32, u32),
    /// Executed halfwords, since code and variables may be adjacent: a write there makes decoded instructions stale.
    executed_halfwords: Vec<bool>,
    stale: bool,
}

/// Reads a larger access from a slice at an offset, if it is inside.
fn at<const N: usize>(bytes: &[u8], offset: u32) -> Option<[u8; N]> {
    let offset = offset as usize;
    bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
}

/// Writes to a place, if there is room.
fn put(place: Option<(&mut [u8], usize)>, bytes: &[u8]) -> Option<()> {
    let (memory, offset) = place?;
    let room = memory.get_mut(offset..)?.get_mut(..bytes.len())?;
    room.copy_from_slice(bytes);
    Some(())
}

impl Memory {
    /// Erased flash and cleared RAM.
    pub fn new(layout: Layout) -> Self {
        let second = (layout.ccm_base, vec![0; layout.ccm_size as usize]);
        Self {
            flash: vec![0xff; layout.flash_size as usize],
            ram: vec![0; layout.ram_size as usize],
            others: vec![second],
            watched: (0, 0),
            executed_halfwords: vec![false; layout.ram_size.div_ceil(HALFWORD) as usize],
            stale: false,
            layout,
        }
    }

    /// Returns the memory layout.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The offset into flash of an address that lies there, by either of its two names.
    pub fn flash_offset(&self, address: u32) -> Option<u32> {
        let offset = address.wrapping_sub(self.layout.flash_base);
        if offset < self.layout.flash_size {
            return Some(offset);
        }
        (address < self.layout.flash_size).then_some(address)
    }

    /// The offset into RAM of an address that lies there.
    pub fn ram_offset(&self, address: u32) -> Option<u32> {
        let offset = address.wrapping_sub(self.layout.ram_base);
        (offset < self.layout.ram_size).then_some(offset)
    }

    /// Adds memory apart from flash and RAM, for data alone. It has whole words.
    pub fn add(&mut self, address: u32, size: u32) {
        let bytes = ((address & 3).saturating_add(size) as usize).next_multiple_of(4);
        self.others.push((address & !3, vec![0; bytes]));
    }

    /// The addresses and sizes of memory apart from flash and RAM.
    pub fn apart(&self) -> impl Iterator<Item = (u32, usize)> {
        let apart = self.others.iter().skip(1);
        apart.map(|(at, bytes)| (*at, bytes.len()))
    }

    /// Returns true if there is RAM.
    pub fn is_ram(&self, address: u32) -> bool {
        let (second, size) = (self.layout.ccm_base, self.layout.ccm_size);
        self.ram_offset(address).is_some() || address.wrapping_sub(second) < size
    }

    /// A little-endian value of `N` bytes, if all of it is in RAM.
    #[inline(always)]
    pub(super) fn in_ram<const N: usize>(&self, address: u32) -> Option<[u8; N]> {
        at(&self.ram, address.wrapping_sub(self.layout.ram_base))
    }

    /// Reads a little-endian value of `N` bytes.
    fn read<const N: usize>(&self, address: u32) -> Result<[u8; N], BusError> {
        let bytes = self.bytes(address, N)?;
        bytes.try_into().map_err(|_| BusError::Read(address))
    }

    /// Returns these bytes of RAM, if they were never executed.
    #[inline(always)]
    pub(super) fn plain_ram<const N: usize>(&mut self, address: u32) -> Option<&mut [u8; N]> {
        if address.wrapping_sub(self.watched.0) < self.watched.1 {
            return None;
        }
        let offset = address.wrapping_sub(self.layout.ram_base) as usize;
        let place = self.ram.get_mut(offset..offset.checked_add(N)?)?;
        place.try_into().ok()
    }

    /// Writes to RAM, aligned or not.
    pub(super) fn write(&mut self, address: u32, value: &[u8]) -> Result<(), BusError> {
        put(self.find_mut(address), value).ok_or(BusError::Write(address))?;
        if let Some(offset) = self.ram_offset(address) {
            self.stale |= self.is_code(offset as usize, value.len());
        }
        Ok(())
    }

    /// The memory other than flash that an address lies in, and the offset there.
    fn find_mut(&mut self, address: u32) -> Option<(&mut [u8], usize)> {
        if let Some(offset) = self.ram_offset(address) {
            return Some((&mut self.ram, offset as usize));
        }
        self.others.iter_mut().find_map(|(at, bytes)| {
            let offset = address.wrapping_sub(*at) as usize;
            (offset < bytes.len()).then_some((bytes.as_mut_slice(), offset))
        })
    }

    #[cold]
    fn is_code(&self, offset: usize, length: usize) -> bool {
        let halfwords = offset / HALFWORD as usize..=(offset + length - 1) / HALFWORD as usize;
        let halfwords = self.executed_halfwords.get(halfwords);
        halfwords.is_some_and(|halfwords| halfwords.contains(&true))
    }

    /// Reads a word, aligned or not.
    pub fn word(&self, address: u32) -> Result<u32, BusError> {
        self.read(address).map(u32::from_le_bytes)
    }

    /// Reads a halfword, aligned or not.
    pub fn half(&self, address: u32) -> Result<u16, BusError> {
        self.read(address).map(u16::from_le_bytes)
    }

    /// Reads a byte.
    pub fn byte(&self, address: u32) -> Result<u8, BusError> {
        self.read(address).map(u8::from_le_bytes)
    }

    /// Puts bytes there before the start: the one way to write flash.
    pub fn load(&mut self, address: u32, bytes: &[u8]) -> Result<(), BusError> {
        let place = match self.flash_offset(address) {
            Some(offset) => Some((self.flash.as_mut_slice(), offset as usize)),
            None => self.find_mut(address),
        };
        put(place, bytes).ok_or(BusError::Write(address))?;
        self.stale = true;
        Ok(())
    }

    /// Bytes from there on.
    pub fn bytes(&self, address: u32, length: usize) -> Result<&[u8], BusError> {
        self.find(address)
            .and_then(|(memory, offset)| memory.get(offset as usize..)?.get(..length))
            .ok_or(BusError::Read(address))
    }

    /// The memory that an address lies in, and the offset there.
    fn find(&self, address: u32) -> Option<(&[u8], u32)> {
        if let Some(offset) = self.ram_offset(address) {
            return Some((&self.ram, offset));
        }
        if let Some(offset) = self.flash_offset(address) {
            return Some((&self.flash, offset));
        }
        self.others.iter().find_map(|(at, bytes)| {
            let offset = address.wrapping_sub(*at);
            ((offset as usize) < bytes.len()).then_some((bytes.as_slice(), offset))
        })
    }

    /// Notes that an instruction of RAM was decoded.
    pub(super) fn note_executed(&mut self, address: u32, size: u32) {
        let Some(offset) = self.ram_offset(address) else {
            return;
        };
        for halfword in offset / HALFWORD..=(offset + size - 1) / HALFWORD {
            if let Some(executed) = self.executed_halfwords.get_mut(halfword as usize) {
                *executed = true;
            }
        }
        let (mut first, mut end) = (address.wrapping_sub(3), address.wrapping_add(size));
        let (watched, bytes) = self.watched;
        if bytes > 0 {
            (first, end) = (first.min(watched), end.max(watched.wrapping_add(bytes)));
        }
        self.watched = (first, end.wrapping_sub(first));
    }

    /// Returns true if code may have changed since the last question.
    #[inline(always)]
    pub(super) fn take_stale(&mut self) -> bool {
        std::mem::take(&mut self.stale)
    }
}

/// Addresses of a part's flash and RAM, for machine and timing model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// First address of flash. Flash is also seen at address 0, as when booting from it.
    pub flash_base: u32,
    /// Bytes of flash; none where it is not simulated.
    pub flash_size: u32,
    /// First address of RAM.
    pub ram_base: u32,
    /// Bytes of RAM.
    pub ram_size: u32,
    /// First address of a second RAM (core-coupled memory and its like), for data alone.
    pub ccm_base: u32,
    /// Bytes of it; none where the part has no second RAM.
    pub ccm_size: u32,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flash, ram) = (self.flash_size >> 10, self.ram_size >> 10);
        let (at, ram_at) = (self.flash_base, self.ram_base);
        if flash == 0 {
            return write!(
                f,
                "{ram} KiB of RAM at {ram_at:#010x} alone: this part's flash is not simulated, so that programs are \
                 linked for RAM"
            );
        }
        write!(
            f,
            "{flash} KiB of flash at {at:#010x} and {ram} KiB of RAM at {ram_at:#010x}"
        )
    }
}
