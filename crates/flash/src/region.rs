//! A region: adjacent sectors that are erased together and written from start to end.
//!
//! It begins with its generation and a checksum over that (eight bytes), then
//! come records.

use std::ops::Range;

use crate::nor::{Flash, FlashError};
use crate::record::{FlashRecord, Parsed, crc32, parse};

/// Bytes of the generation and its checksum.
const SEAL: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) sectors: Range<usize>,
    pub(crate) bytes: Range<usize>,
}

/// What a region holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// Nothing at all.
    Blank,
    /// Records, in this generation.
    Generation(u32),
    /// What an interrupted erase or copy left.
    Debris,
}

/// What a scan finds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    /// Records in order of writing, torn ones too.
    pub(crate) records: Vec<FlashRecord>,
    /// Units that are part of no record.
    pub(crate) torn: Vec<usize>,
    /// Where the next record goes.
    pub(crate) next: usize,
}

/// Bytes of a region's head, padded to the unit.
pub(crate) fn seal_bytes(unit: usize) -> usize {
    SEAL.next_multiple_of(unit)
}

impl Region {
    /// As few adjacent sectors from `first` on as have `least` bytes together.
    pub(crate) fn at(flash: &Flash, first: usize, least: usize) -> Option<Self> {
        let sectors = flash.sectors();
        let start = sectors.get(first)?.start;
        let end = |index: usize| sectors[index].start + sectors[index].bytes;
        let last = (first..sectors.len()).find(|&index| end(index) - start >= least)?;
        Some(Self {
            sectors: first..last + 1,
            bytes: start..end(last),
        })
    }

    /// Adjacent regions of at least `least` bytes; sectors that remain at the end are left out.
    pub(crate) fn tile(flash: &Flash, least: usize) -> Vec<Self> {
        let after = |region: &Self| Self::at(flash, region.sectors.end, least);
        std::iter::successors(Self::at(flash, 0, least), after).collect()
    }

    /// Address of the first record.
    pub(crate) fn first(&self, flash: &Flash) -> usize {
        self.bytes.start + seal_bytes(flash.unit())
    }

    /// Erases it, if it is not blank. The generation is zeroed first: what a torn erase leaves of the
    /// records then never counts, whatever it looks like.
    pub(crate) fn clear(&self, flash: &mut Flash) -> Result<(), FlashError> {
        if flash.is_blank(self.bytes.clone()) {
            return Ok(());
        }
        let head = self.bytes.start..self.first(flash);
        head.step_by(flash.unit())
            .try_for_each(|address| zero(flash, address))?;
        self.sectors
            .clone()
            .try_for_each(|sector| flash.erase(sector))
    }

    /// Writes the generation: from now on its records count.
    pub(crate) fn seal(&self, flash: &mut Flash, generation: u32) -> Result<(), FlashError> {
        let bytes = generation.to_le_bytes();
        let mut head = [bytes, crc32(&[b"seal", &bytes]).to_le_bytes()].concat();
        head.resize(seal_bytes(flash.unit()), 0xff);
        write(flash, self.bytes.start, &head)
    }

    /// What it holds, by its head.
    pub(crate) fn inspect(&self, flash: &Flash) -> Result<Seal, FlashError> {
        if flash.is_blank(self.bytes.clone()) {
            return Ok(Seal::Blank);
        }
        let head = match flash.read(self.bytes.start..self.bytes.start + SEAL) {
            Ok(head) => head,
            Err(FlashError::Unreadable { .. }) => return Ok(Seal::Debris),
            Err(error) => return Err(error),
        };
        let (generation, check) = head.split_at(4);
        if crc32(&[b"seal", generation]).to_le_bytes() != check {
            return Ok(Seal::Debris);
        }
        let number = generation
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u32::from(byte));
        Ok(Seal::Generation(number))
    }

    /// Its records, and what a power loss left between them.
    pub(crate) fn scan(&self, flash: &Flash) -> Result<Scan, FlashError> {
        let unit = flash.unit();
        let mut at = self.first(flash);
        let mut scan = Scan {
            next: at,
            ..Scan::default()
        };
        while at < self.bytes.end {
            match parse(flash, at, self.bytes.end)? {
                Parsed::Erased => {
                    at += unit;
                    continue;
                }
                Parsed::Zeros => at += unit,
                Parsed::Torn => {
                    scan.torn.push(at);
                    at += unit;
                }
                Parsed::Record(record) => {
                    scan.records.push(record);
                    at += record.bytes;
                }
            }
            scan.next = at;
        }
        Ok(scan)
    }

    /// Writes a record at `next`; gives it as it is now read.
    pub(crate) fn append(
        &self,
        flash: &mut Flash,
        next: usize,
        bytes: &[u8],
    ) -> Result<FlashRecord, FlashError> {
        write(flash, next, bytes)?;
        match parse(flash, next, self.bytes.end)? {
            Parsed::Record(record) => Ok(record),
            Parsed::Erased | Parsed::Zeros | Parsed::Torn => Err(FlashError::Misplaced {
                address: next,
                length: bytes.len(),
            }),
        }
    }

    /// Whether a record of `bytes` fits at `next`.
    pub(crate) fn fits(&self, next: usize, bytes: usize) -> bool {
        next + bytes <= self.bytes.end
    }
}

/// Programs whole units from `address` on. What is all ones stays erased.
pub(crate) fn write(flash: &mut Flash, address: usize, bytes: &[u8]) -> Result<(), FlashError> {
    for (index, data) in bytes.chunks(flash.unit()).enumerate() {
        if data.iter().any(|&byte| byte != 0xff) {
            flash.program(address + index * flash.unit(), data)?;
        }
    }
    Ok(())
}

/// Zeroes a record from its end, so that its code says how long it is until nothing else is left.
/// Every family can program zeros over anything, also over what was torn.
pub(crate) fn wipe(flash: &mut Flash, record: &FlashRecord) -> Result<(), FlashError> {
    let unit = flash.unit();
    let units = (record.address..record.address + record.bytes).step_by(unit);
    units.rev().try_for_each(|address| zero(flash, address))
}

/// Zeroes units that are part of no record, so that no later scan takes them for one.
pub(crate) fn wipe_torn(flash: &mut Flash, units: &[usize]) -> Result<(), FlashError> {
    units.iter().try_for_each(|&address| zero(flash, address))
}

fn zero(flash: &mut Flash, address: usize) -> Result<(), FlashError> {
    let unit = flash.unit();
    let done = flash
        .read(address..address + unit)
        .is_ok_and(|data| data.iter().all(|&byte| byte == 0));
    if done || flash.is_blank(address..address + unit) {
        return Ok(());
    }
    flash.program(address, &vec![0; unit])
}
