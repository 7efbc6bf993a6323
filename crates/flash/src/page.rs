//! A page: adjacent sectors that are erased together and written from start to end.
//!
//! It begins with its generation and a checksum over that (eight bytes), then
//! come records.

use std::ops::Range;

use crate::error::{Result, StorageError};
use crate::nor::{Flash, FlashError};
use crate::object::ObjectId;
use crate::record::{Catalog, FlashRecord, Parsed, crc32, parse, readable};

/// Bytes of the generation and its checksum.
const SEAL: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) sectors: Range<usize>,
    pub(crate) bytes: Range<usize>,
    /// Generation; none while blank, or not looked at.
    pub(crate) generation: Option<u32>,
    /// Address of the next record.
    pub(crate) next: usize,
}

/// Result of a scan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    /// Records in order of writing, torn ones too.
    pub(crate) records: Vec<FlashRecord>,
    /// Units that are part of no record.
    pub(crate) torn: Vec<usize>,
    /// Address of the next record.
    pub(crate) next: usize,
}

/// Bytes of a page's head, padded to the unit.
pub(crate) fn seal_bytes(unit: usize) -> usize {
    SEAL.next_multiple_of(unit)
}

impl Page {
    /// Joins the fewest adjacent sectors from `first` on that have `least` bytes together.
    pub(crate) fn at(flash: &Flash, first: usize, least: usize) -> Option<Self> {
        let sectors = flash.sectors();
        let start = sectors.get(first)?.start;
        let end = |index: usize| sectors[index].start + sectors[index].bytes;
        let last = (first..sectors.len()).find(|&index| end(index) - start >= least)?;
        Some(Self {
            sectors: first..last + 1,
            bytes: start..end(last),
            generation: None,
            next: start + seal_bytes(flash.unit()),
        })
    }

    /// Adjacent pages of at least `least` bytes; sectors that remain at the end are left out.
    pub(crate) fn tile(flash: &Flash, least: usize) -> Vec<Self> {
        let after = |page: &Self| Self::at(flash, page.sectors.end, least);
        std::iter::successors(Self::at(flash, 0, least), after).collect()
    }

    /// Address of the first record.
    fn first(&self, flash: &Flash) -> usize {
        self.bytes.start + seal_bytes(flash.unit())
    }

    /// Erases it, if it is not blank. The generation is zeroed first: what a torn erase leaves of the
    /// records then never counts, whatever it looks like.
    pub(crate) fn clear(&mut self, flash: &mut Flash) -> Result<(), FlashError> {
        (self.generation, self.next) = (None, self.first(flash));
        if flash.is_blank(self.bytes.clone()) {
            return Ok(());
        }
        let mut head = (self.bytes.start..self.next).step_by(flash.unit());
        head.try_for_each(|address| zero(flash, address))?;
        let mut sectors = self.sectors.clone();
        sectors.try_for_each(|sector| flash.erase(sector))
    }

    /// Writes the generation: from now on its records count.
    pub(crate) fn seal(&mut self, flash: &mut Flash, generation: u32) -> Result<(), FlashError> {
        let bytes = generation.to_le_bytes();
        let mut head = [bytes, crc32(&[b"seal", &bytes]).to_le_bytes()].concat();
        head.resize(seal_bytes(flash.unit()), 0xff);
        write(flash, self.bytes.start, &head)?;
        self.generation = Some(generation);
        Ok(())
    }

    /// Reads the generation; `None` where the page is blank or has the debris of an interrupted erase or copy.
    fn sealed(&self, flash: &Flash) -> Result<Option<u32>, FlashError> {
        let start = self.bytes.start;
        let head = readable(flash, start, start + SEAL, self.bytes.end)?;
        let sealed = head
            .and_then(<[u8]>::split_first_chunk)
            .filter(|(generation, check)| crc32(&[b"seal", *generation]).to_le_bytes() == *check);
        Ok(sealed.map(|(generation, _)| u32::from_le_bytes(*generation)))
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

    pub(crate) fn holds(&self, record: &FlashRecord) -> bool {
        self.bytes.contains(&record.address)
    }

    pub(crate) fn fits(&self, bytes: usize) -> bool {
        self.next + bytes <= self.bytes.end
    }

    /// Writes a record behind the others; gives it as it is now read.
    pub(crate) fn append(
        &mut self,
        flash: &mut Flash,
        object: ObjectId,
        bytes: &[u8],
    ) -> Result<FlashRecord> {
        if !self.fits(bytes.len()) {
            return Err(full(object, bytes));
        }
        let (address, length) = (self.next, bytes.len());
        write(flash, address, bytes)?;
        match parse(flash, address, self.bytes.end)? {
            Parsed::Record(record) => {
                self.next += length;
                Ok(record)
            }
            Parsed::Erased | Parsed::Zeros | Parsed::Torn => {
                Err(FlashError::Misplaced { address, length }.into())
            }
        }
    }
}

pub(crate) fn full(object: ObjectId, bytes: &[u8]) -> StorageError {
    StorageError::Full {
        object,
        bytes: bytes.len(),
    }
}

/// Looks at pages and applies their records in order of generation; gives what was torn or superseded.
pub(crate) fn mount(
    flash: &mut Flash,
    pages: &mut [Page],
    catalog: &mut Catalog,
) -> Result<Vec<FlashRecord>, FlashError> {
    for page in &mut *pages {
        page.generation = page.sealed(flash)?;
        if page.generation.is_none() {
            page.clear(flash)?;
        }
    }
    let mut order: Vec<&mut Page> = pages.iter_mut().collect();
    order.retain(|page| page.generation.is_some());
    order.sort_by_key(|page| page.generation);
    let mut residue = Vec::new();
    for page in order {
        let scan = page.scan(flash)?;
        page.next = scan.next;
        // No later scan takes them for a record.
        scan.torn
            .into_iter()
            .try_for_each(|address| zero(flash, address))?;
        for record in scan.records {
            if record.whole {
                residue.extend(catalog.apply(record));
            } else {
                residue.push(record);
            }
        }
    }
    Ok(residue)
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
