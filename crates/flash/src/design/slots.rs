//! Pages that each hold one object: Gnuk's key store, and its certificate.
//!
//! Gnuk has a page for each key, in which a new key goes behind the released
//! one; the page is erased when it is full. It deletes a key before it imports
//! another, and erases the certificate before it writes another. Neither survives
//! a power loss in between with the old value, and a page that is full of a long key
//! has no room for its successor. So there is one page more than there are
//! objects: the successor is written there, and then the old page is erased.

use crate::catalog::Catalog;
use crate::error::StorageError;
use crate::nor::{Flash, FlashError};
use crate::object::ObjectId;
use crate::record::FlashRecord;
use crate::region::{Region, Seal, wipe, wipe_torn};

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

#[derive(Debug, Clone)]
struct Page {
    region: Region,
    /// Where the next record goes; none while the page is blank.
    next: Option<usize>,
}

impl Slots {
    pub(super) fn format(
        flash: &mut Flash,
        regions: Vec<Region>,
        reuse: Reuse,
    ) -> Result<Self, StorageError> {
        for region in &regions {
            region.clear(flash)?;
        }
        let pages = regions
            .into_iter()
            .map(|region| Page { region, next: None })
            .collect();
        Ok(Self {
            pages,
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
        let mut order = Vec::new();
        for (index, region) in regions.iter().enumerate() {
            match region.inspect(flash)? {
                Seal::Blank => {}
                Seal::Debris => region.clear(flash)?,
                Seal::Generation(generation) => order.push((generation, index)),
            }
        }
        order.sort_unstable();
        let generation = order.last().map_or(0, |&(generation, _)| generation);
        let pages = regions
            .into_iter()
            .map(|region| Page { region, next: None })
            .collect();
        let mut slots = Self {
            pages,
            reuse,
            generation,
            catalog: Catalog::default(),
        };
        let residue = slots.load(flash, order.iter().map(|&(_, index)| index))?;
        slots.dispose(flash, &residue)?;
        Ok(slots)
    }

    /// Reads the pages in order of generation; gives what was torn or superseded.
    fn load(
        &mut self,
        flash: &mut Flash,
        order: impl Iterator<Item = usize>,
    ) -> Result<Vec<FlashRecord>, FlashError> {
        let mut residue = Vec::new();
        for index in order {
            let scan = self.pages[index].region.scan(flash)?;
            self.pages[index].next = Some(scan.next);
            wipe_torn(flash, &scan.torn)?;
            for record in scan.records {
                residue.extend(if record.whole {
                    self.catalog.apply(record)
                } else {
                    Some(record)
                });
            }
        }
        Ok(residue)
    }

    /// Makes records unreadable: by zeros beside a live one, else with their page.
    fn dispose(&mut self, flash: &mut Flash, records: &[FlashRecord]) -> Result<(), FlashError> {
        for record in records {
            let index = self.page_of(record);
            let page = &mut self.pages[index];
            if self
                .catalog
                .records()
                .any(|live| page.region.bytes.contains(&live.address))
            {
                wipe(flash, record)?;
            } else {
                page.region.clear(flash)?;
                page.next = None;
            }
        }
        Ok(())
    }

    fn page_of(&self, record: &FlashRecord) -> usize {
        let holds = |page: &Page| page.region.bytes.contains(&record.address);
        self.pages.iter().position(holds).unwrap_or_default()
    }

    pub(super) fn put(
        &mut self,
        flash: &mut Flash,
        object: ObjectId,
        value: &[u8],
    ) -> Result<(), StorageError> {
        let bytes = self.catalog.encode(flash, object, value);
        let (index, next) = match self.page_with_room(object, bytes.len()) {
            Some(place) => place,
            None => self.open(flash).ok_or(StorageError::Full {
                object,
                bytes: bytes.len(),
            })??,
        };
        let page = &mut self.pages[index];
        if !page.region.fits(next, bytes.len()) {
            return Err(StorageError::Full {
                object,
                bytes: bytes.len(),
            });
        }
        let written = page.region.append(flash, next, &bytes)?;
        page.next = Some(next + bytes.len());
        let old = self.catalog.apply(written);
        Ok(self.dispose(flash, old.as_slice())?)
    }

    /// Behind the object's old value, or in a page whose object was removed.
    fn page_with_room(&self, object: ObjectId, bytes: usize) -> Option<(usize, usize)> {
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
            .filter_map(|index| Some((index, self.pages[index].next?)))
            .find(|&(index, next)| self.pages[index].region.fits(next, bytes))
    }

    fn is_free(&self, index: usize) -> bool {
        !self
            .catalog
            .records()
            .any(|live| self.page_of(live) == index)
    }

    /// Starts a page that holds no object, a blank one if there is.
    fn open(&mut self, flash: &mut Flash) -> Option<Result<(usize, usize), FlashError>> {
        let free = || (0..self.pages.len()).filter(|&index| self.is_free(index));
        let index = free()
            .find(|&index| self.pages[index].next.is_none())
            .or_else(|| free().next())?;
        self.generation += 1;
        let page = &self.pages[index].region;
        let sealed = page
            .clear(flash)
            .and_then(|()| page.seal(flash, self.generation));
        Some(sealed.map(|()| (index, page.first(flash))))
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
                self.pages[index].region.clear(flash)?;
                self.pages[index].next = None;
            }
        }
        self.catalog.forget(object);
        Ok(())
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }
}
