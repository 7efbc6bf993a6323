//! Gnuk's data pool: two pages of which one is written, from start to end.
//!
//! When it is full, what is live is copied to the other, whose generation then
//! makes it the one that counts, and the full one is erased.
//!
//! Gnuk erases the full page before it writes the new generation, and releases
//! an object before it writes its successor; power lost in between loses
//! everything or the object. Here the successor comes first in both cases, at no
//! cost but the room for two values. Gnuk counts PIN errors by programming one
//! halfword twice, which double words with ECC do not allow; here each count is a
//! record, like the low bits of the signature counter.

use super::page::Page;
use crate::catalog::Catalog;
use crate::error::StorageError;
use crate::nor::Flash;
use crate::object::ObjectId;
use crate::record::{full_bytes, long_bytes, small_bytes};
use crate::region::{Region, Seal, seal_bytes, wipe, wipe_torn, write};

#[derive(Debug, Clone)]
pub(super) struct Pool {
    pages: [Page; 2],
    active: usize,
    catalog: Catalog,
}

/// Bytes a page needs: all objects at their longest, and the longest one twice.
pub(super) fn needed(unit: usize) -> usize {
    let data = ObjectId::DATA.map(|object| long_bytes(object.max_bytes(), unit));
    let counters = full_bytes(unit) + ObjectId::PIN_COUNTERS.len() * small_bytes(unit);
    seal_bytes(unit) + data.iter().sum::<usize>() + counters + data.into_iter().max().unwrap_or(0)
}

impl Pool {
    pub(super) fn format(flash: &mut Flash, regions: [Region; 2]) -> Result<Self, StorageError> {
        let mut pages = regions.map(|region| Page::new(region, flash));
        for page in &mut pages {
            page.clear(flash)?;
        }
        pages[0].seal(flash, 1)?;
        Ok(Self {
            pages,
            active: 0,
            catalog: Catalog::default(),
        })
    }

    pub(super) fn mount(flash: &mut Flash, regions: [Region; 2]) -> Result<Self, StorageError> {
        let mut pages = regions.map(|region| Page::new(region, flash));
        for page in &mut pages {
            if let Seal::Generation(generation) = page.region.inspect(flash)? {
                page.generation = Some(generation);
            }
        }
        let active = usize::from(pages[1].generation > pages[0].generation);
        if pages[active].generation.is_none() {
            return Err(StorageError::Unformatted("separate-pages"));
        }
        pages[1 - active].clear(flash)?;
        let mut pool = Self {
            pages,
            active,
            catalog: Catalog::default(),
        };
        pool.load(flash)?;
        Ok(pool)
    }

    /// Reads the active page, and wipes what was torn or superseded.
    fn load(&mut self, flash: &mut Flash) -> Result<(), StorageError> {
        let page = &mut self.pages[self.active];
        let scan = page.region.scan(flash)?;
        page.next = scan.next;
        self.catalog = Catalog::default();
        wipe_torn(flash, &scan.torn)?;
        for record in scan.records {
            if !record.whole {
                wipe(flash, &record)?;
            } else if let Some(old) = self.catalog.apply(record) {
                wipe(flash, &old)?;
            }
        }
        Ok(())
    }

    pub(super) fn put(
        &mut self,
        flash: &mut Flash,
        object: ObjectId,
        value: &[u8],
    ) -> Result<(), StorageError> {
        let bytes = self.catalog.encode(flash, object, value);
        if !self.pages[self.active].fits(bytes.len()) {
            self.collect(flash)?;
        }
        let written = self.pages[self.active].append(flash, object, &bytes)?;
        match self.catalog.apply(written) {
            Some(old) => Ok(wipe(flash, &old)?),
            None => Ok(()),
        }
    }

    fn collect(&mut self, flash: &mut Flash) -> Result<(), StorageError> {
        let [first, second] = &mut self.pages;
        let (active, target) = match self.active {
            0 => (first, second),
            _ => (second, first),
        };
        let mut at = target.next;
        for record in self.catalog.records() {
            let bytes = self.catalog.copy(flash, record)?;
            write(flash, at, &bytes)?;
            at += bytes.len();
        }
        target.seal(flash, active.generation.unwrap_or(0) + 1)?;
        active.clear(flash)?;
        self.active = 1 - self.active;
        self.load(flash)
    }

    pub(super) fn remove(
        &mut self,
        flash: &mut Flash,
        object: ObjectId,
    ) -> Result<(), StorageError> {
        if let Some(record) = self.catalog.record(object) {
            wipe(flash, &record)?;
            self.catalog.forget(object);
        }
        Ok(())
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }
}
