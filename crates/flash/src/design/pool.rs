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

use crate::catalog::Catalog;
use crate::error::StorageError;
use crate::nor::Flash;
use crate::object::ObjectId;
use crate::record::{full_bytes, long_bytes, small_bytes};
use crate::region::{Region, Seal, seal_bytes, wipe, wipe_torn, write};

#[derive(Debug, Clone)]
pub(super) struct Pool {
    pages: [Region; 2],
    active: usize,
    generation: u32,
    next: usize,
    catalog: Catalog,
}

/// Bytes a page needs: all objects at their longest, and the longest one twice.
pub(super) fn needed(unit: usize) -> usize {
    let data = ObjectId::DATA.map(|object| long_bytes(object.max_bytes(), unit));
    let counters = full_bytes(unit) + ObjectId::PIN_COUNTERS.len() * small_bytes(unit);
    seal_bytes(unit) + data.iter().sum::<usize>() + counters + data.into_iter().max().unwrap_or(0)
}

impl Pool {
    pub(super) fn format(flash: &mut Flash, pages: [Region; 2]) -> Result<Self, StorageError> {
        for page in &pages {
            page.clear(flash)?;
        }
        pages[0].seal(flash, 1)?;
        let next = pages[0].first(flash);
        Ok(Self {
            pages,
            active: 0,
            generation: 1,
            next,
            catalog: Catalog::default(),
        })
    }

    pub(super) fn mount(flash: &mut Flash, pages: [Region; 2]) -> Result<Self, StorageError> {
        let generation = |page: &Region| match page.inspect(flash)? {
            Seal::Generation(generation) => Ok::<_, StorageError>(Some(generation)),
            Seal::Blank | Seal::Debris => Ok(None),
        };
        let found = [generation(&pages[0])?, generation(&pages[1])?];
        let active = usize::from(found[1] > found[0]);
        let generation = found[active].ok_or(StorageError::Unformatted("separate-pages"))?;
        pages[1 - active].clear(flash)?;
        let mut pool = Self {
            pages,
            active,
            generation,
            next: 0,
            catalog: Catalog::default(),
        };
        pool.load(flash)?;
        Ok(pool)
    }

    /// Reads the active page, and wipes what was torn or superseded.
    fn load(&mut self, flash: &mut Flash) -> Result<(), StorageError> {
        let scan = self.pages[self.active].scan(flash)?;
        self.next = scan.next;
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
        if !self.pages[self.active].fits(self.next, bytes.len()) {
            self.collect(flash)?;
        }
        if !self.pages[self.active].fits(self.next, bytes.len()) {
            return Err(StorageError::Full {
                object,
                bytes: bytes.len(),
            });
        }
        let written = self.pages[self.active].append(flash, self.next, &bytes)?;
        self.next += bytes.len();
        match self.catalog.apply(written) {
            Some(old) => Ok(wipe(flash, &old)?),
            None => Ok(()),
        }
    }

    fn collect(&mut self, flash: &mut Flash) -> Result<(), StorageError> {
        let target = self.pages[1 - self.active].clone();
        let mut at = target.first(flash);
        for record in self.catalog.records() {
            let bytes = self.catalog.copy(flash, record)?;
            write(flash, at, &bytes)?;
            at += bytes.len();
        }
        self.generation += 1;
        target.seal(flash, self.generation)?;
        self.pages[self.active].clear(flash)?;
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
