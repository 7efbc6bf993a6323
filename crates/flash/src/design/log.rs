//! Log for all objects.
//!
//! Segments are written one after the other; of an object's records the last one
//! counts, in the order of the segments' generations and within one of addresses.
//! One segment is always blank: when no second one is, the oldest is collected.
//! Its live records are copied behind the newest, or into the blank one if they do
//! not fit; that one gets its generation only when all are there. Then the old one
//! is erased. So until the copies count, the originals are there, and what is
//! without generation is nobody's. As segments are taken and collected in turn,
//! also those of objects that never change, wear is even.
//!
//! The segment of a replaced key is collected at once: the erase is what datasheets guarantee.

use std::collections::BTreeSet;

use super::{Design, Result, Space, StorageError, demand};
use crate::nor::{Flash, FlashError};
use crate::object::ObjectId;
use crate::page::{Page, full, mount, seal_bytes};
use crate::record::{Catalog, FlashRecord, full_bytes, small_bytes};

/// Sectors smaller than this share a segment: records do not cross segments, and a certificate
/// should not waste most of one.
const LEAST_SEGMENT: usize = 2048;

/// The segments, if they are enough in any order of writes: each may waste almost the longest
/// record at its end, one is blank, and a copy has to have room in addition to everything else.
pub(super) fn layout(flash: &Flash) -> Result<Vec<Page>> {
    let unit = flash.unit();
    let (live, longest) = demand(ObjectId::ALL, unit);
    let pages = Page::tile(flash, LEAST_SEGMENT);
    let sizes: Vec<usize> = pages.iter().map(|page| page.bytes.len()).collect();
    let (least, most) = (sizes.iter().min().copied(), sizes.iter().max().copied());
    let overhead = seal_bytes(unit) + longest - unit;
    let usable: usize = sizes.iter().map(|size| size - overhead).sum();
    let spare = most.map_or(0, |most| most - overhead);
    if usable - spare < live + longest {
        let smallest = least.unwrap_or(LEAST_SEGMENT);
        let why = format!(
            "{live} of objects, {longest} of a replacement, up to {overhead} lost in each segment, \
             and one segment blank"
        );
        let available = sizes.iter().sum();
        // As many of the smallest more as hold what is missing.
        let missing = live + longest - (usable - spare);
        return Err(StorageError::DoesNotFit {
            needed: available + missing.div_ceil(smallest - overhead) * smallest,
            available,
            unit: "bytes",
            why,
        });
    }
    if let (Some(least), Some(most)) = (least, most)
        && least - seal_bytes(unit) < live.min(most - seal_bytes(unit))
    {
        let why = "the live data of a larger sector must fit there".to_owned();
        return Err(StorageError::DoesNotFit {
            needed: live + seal_bytes(unit),
            available: least,
            unit: "bytes in the smallest sector",
            why,
        });
    }
    Ok(pages)
}

#[derive(Debug, Clone)]
pub(super) struct Log {
    pub(super) segments: Vec<Page>,
    head: usize,
    pub(super) catalog: Catalog,
}

impl Log {
    pub(super) fn mount(flash: &mut Flash, mut segments: Vec<Page>) -> Result<Self> {
        let mut catalog = Catalog::default();
        let mut residue = mount(flash, &mut segments, &mut catalog)?;
        let newest = (0..segments.len()).max_by_key(|&index| segments[index].generation);
        let started = newest.filter(|&index| segments[index].generation.is_some());
        let mut log = Self {
            segments,
            head: started.ok_or(StorageError::Unformatted)?,
            catalog,
        };
        if log.blank().1 == 0 {
            log.erase_dead(flash)?;
        }
        residue.retain(|record| record.object.is_sensitive());
        log.dispose(flash, &residue)?;
        Ok(log)
    }

    /// Erases segments but the newest in which nothing is live: there is one if a collection was cut
    /// between its last copy and its erase, the only time that no segment is blank.
    fn erase_dead(&mut self, flash: &mut Flash) -> Result<(), FlashError> {
        for index in 0..self.segments.len() {
            let started = self.segments[index].generation.is_some();
            if started && index != self.head && self.live_in(flash, index)?.is_empty() {
                self.segments[index].clear(flash)?;
            }
        }
        Ok(())
    }

    fn live_in(&self, flash: &Flash, index: usize) -> Result<Vec<FlashRecord>, FlashError> {
        let mut records = self.segments[index].scan(flash)?.records;
        records.retain(|record| record.whole && self.catalog.needs(record));
        Ok(records)
    }

    /// Makes old keys unreadable.
    fn dispose(&mut self, flash: &mut Flash, residue: &[FlashRecord]) -> Result<()> {
        for index in 0..self.segments.len() {
            let segment = &self.segments[index];
            if residue.iter().any(|record| segment.holds(record)) && segment.generation.is_some() {
                self.collect(flash, index)?;
            }
        }
        Ok(())
    }

    /// The next blank segment behind the newest, and how many there are.
    fn blank(&self) -> (Option<usize>, usize) {
        let count = self.segments.len();
        let ring = (1..count).map(|step| (self.head + step) % count);
        let blank: Vec<_> = ring
            .filter(|&index| self.segments[index].generation.is_none())
            .collect();
        (blank.first().copied(), blank.len())
    }

    /// Lets a segment count, as the newest.
    fn start(&mut self, flash: &mut Flash, index: usize) -> Result<(), FlashError> {
        let newest = self.segments[self.head].generation.unwrap_or_default();
        self.segments[index].seal(flash, newest + 1)?;
        self.head = index;
        Ok(())
    }

    /// Returns true if there is room, and for low bits of the counter to become a whole one when they are copied: what
    /// is live in a segment then always fits a blank one.
    fn head_fits(&self, flash: &Flash, bytes: usize) -> bool {
        let (segment, unit) = (&self.segments[self.head], flash.unit());
        segment.fits(bytes + full_bytes(unit) - small_bytes(unit))
    }

    /// Moves what is live out of a segment and erases it.
    fn collect(&mut self, flash: &mut Flash, victim: usize) -> Result<()> {
        let live = self.live_in(flash, victim)?;
        let (mut target, mut opened) = (self.head, None);
        let mut moved = BTreeSet::new();
        for record in live {
            // Both halves of a signature counter may be here; they become one record.
            if !moved.insert(record.object) {
                continue;
            }
            let bytes = self.catalog.copy(flash, &record)?;
            if opened.is_none() && (target == victim || !self.segments[target].fits(bytes.len())) {
                target = self.blank().0.ok_or(full(record.object, &bytes))?;
                opened = Some(target);
            }
            let copy = self.segments[target].append(flash, record.object, &bytes)?;
            self.catalog.apply(copy);
        }
        if opened.is_none() && victim == self.head {
            opened = self.blank().0;
        }
        if let Some(opened) = opened {
            self.start(flash, opened)?;
        }
        Ok(self.segments[victim].clear(flash)?)
    }

    /// Appends a record, and collects until there is room.
    fn append(&mut self, flash: &mut Flash, object: ObjectId, bytes: &[u8]) -> Result<FlashRecord> {
        for _ in 0..=2 * self.segments.len() {
            if self.head_fits(flash, bytes.len()) {
                return self.segments[self.head].append(flash, object, bytes);
            }
            match self.blank() {
                (Some(index), 2..) => self.start(flash, index)?,
                _ => self.collect(flash, self.oldest())?,
            }
        }
        Err(full(object, bytes))
    }

    fn oldest(&self) -> usize {
        let age = |&index: &usize| self.segments[index].generation.unwrap_or(u32::MAX);
        (0..self.segments.len())
            .min_by_key(age)
            .unwrap_or(self.head)
    }
}

impl Design for Log {
    fn put(&mut self, flash: &mut Flash, object: ObjectId, value: &[u8]) -> Result<()> {
        object.check(value)?;
        let bytes = self.catalog.encode(flash, object, value);
        let written = self.append(flash, object, &bytes)?;
        let replaced_key = self
            .catalog
            .apply(written)
            .filter(|_| object.is_sensitive());
        self.dispose(flash, replaced_key.as_slice())
    }

    fn get(&self, flash: &Flash, object: ObjectId) -> Result<Option<Vec<u8>>> {
        self.catalog.value(flash, object)
    }

    fn space(&self) -> Space {
        Space {
            used_bytes: self.catalog.bytes(),
            reserved_bytes: self.segments.iter().map(|page| page.bytes.len()).sum(),
        }
    }
}
