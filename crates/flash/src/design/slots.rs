//! Pages that each hold one object: Gnuk's key store, and its certificate.
//!
//! Gnuk has a page for each key, in which a new key goes behind the released
//! one; the page is erased when it is full. It deletes a key before it imports
//! another, and erases the certificate before it writes another. Neither survives
//! a power loss in between with the old value, and a page that is full of a long key
//! has no room for its successor. So there is one page more than there are
//! objects: the successor is written there, and then the old page is erased.

use super::page::{self, Page, full};
use crate::catalog::Catalog;
use crate::error::StorageError;
use crate::nor::{Flash, FlashError};
use crate::object::ObjectId;
use crate::record::FlashRecord;
use crate::region::{Region, wipe};

/// What becomes of the page when its object is replaced or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reuse {
    /// The old value is zeroed, the next one goes behind it while there is room: keys.
    BehindOld,
    /// It is erased: the certificate.
    Never,
}

#[derive(Debug, Clone)]
pub(super) struct Slots {
    pages: Vec<Page>,
    reuse: Reuse,
    generation: u32,
    catalog: Catalog,
}

impl Slots {
    pub(super) fn format(
        flash: &mut Flash,
        regions: Vec<Region>,
        reuse: Reuse,
    ) -> Result<Self, StorageError> {
        Ok(Self {
            pages: page::format(flash, regions)?,
            reuse,
            generation: 0,
            catalog: Catalog::default(),
        })
    }

    pub(super) fn mount(
        flash: &mut Flash,
        regions: Vec<Region>,
        reuse: Reuse,
    ) -> Result<Self, StorageError> {
        let mut catalog = Catalog::default();
        let (pages, residue) = page::mount(flash, regions, &mut catalog)?;
        let newest = pages.iter().filter_map(|page| page.generation).max();
        let mut slots = Self {
            pages,
            reuse,
            generation: newest.unwrap_or(0),
            catalog,
        };
        slots.dispose(flash, &residue)?;
        Ok(slots)
    }

    /// Makes records unreadable: by zeros beside a live one, else with their page.
    fn dispose(&mut self, flash: &mut Flash, records: &[FlashRecord]) -> Result<(), FlashError> {
        for record in records {
            let index = self.page_of(record);
            let page = &mut self.pages[index];
            if self.catalog.records().any(|live| page.holds(live)) {
                wipe(flash, record)?;
            } else {
                page.clear(flash)?;
            }
        }
        Ok(())
    }

    fn page_of(&self, record: &FlashRecord) -> usize {
        let found = self.pages.iter().position(|page| page.holds(record));
        found.unwrap_or_default()
    }

    pub(super) fn put(
        &mut self,
        flash: &mut Flash,
        object: ObjectId,
        value: &[u8],
    ) -> Result<(), StorageError> {
        let bytes = self.catalog.encode(flash, object, value);
        let index = match self.page_with_room(object, bytes.len()) {
            Some(index) => index,
            None => self.open(flash)?.ok_or(full(object, &bytes))?,
        };
        let written = self.pages[index].append(flash, object, &bytes)?;
        let old = self.catalog.apply(written);
        Ok(self.dispose(flash, old.as_slice())?)
    }

    /// Behind the object's old value, or in a page whose object was removed.
    fn page_with_room(&self, object: ObjectId, bytes: usize) -> Option<usize> {
        if self.reuse == Reuse::Never {
            return None;
        }
        let live = self
            .catalog
            .record(object)
            .map(|record| self.page_of(&record));
        let candidates = match live {
            Some(page) => page..page + 1,
            None => 0..self.pages.len(),
        };
        candidates
            .filter(|&index| live == Some(index) || self.is_free(index))
            .find(|&index| {
                let page = &self.pages[index];
                page.generation.is_some() && page.fits(bytes)
            })
    }

    fn is_free(&self, index: usize) -> bool {
        !self
            .catalog
            .records()
            .any(|live| self.page_of(live) == index)
    }

    /// Starts a page that holds no object, a blank one if there is.
    fn open(&mut self, flash: &mut Flash) -> Result<Option<usize>, FlashError> {
        let free = || (0..self.pages.len()).filter(|&index| self.is_free(index));
        let blank = free().find(|&index| self.pages[index].generation.is_none());
        let Some(index) = blank.or_else(|| free().next()) else {
            return Ok(None);
        };
        self.generation += 1;
        self.pages[index].clear(flash)?;
        self.pages[index].seal(flash, self.generation)?;
        Ok(Some(index))
    }

    pub(super) fn remove(
        &mut self,
        flash: &mut Flash,
        object: ObjectId,
    ) -> Result<(), StorageError> {
        let Some(record) = self.catalog.record(object) else {
            return Ok(());
        };
        match self.reuse {
            Reuse::BehindOld => wipe(flash, &record)?,
            Reuse::Never => {
                let index = self.page_of(&record);
                self.pages[index].clear(flash)?;
            }
        }
        self.catalog.forget(object);
        Ok(())
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }
}
