//! Gnuk's layout of 2017: a data pool of two pages, a page for each key, and pages
//! for the certificate, with what it takes to survive a power loss anywhere:
//! a spare key page and a second certificate area.
//!
//! The **pool** is a log of two pages. When one is full, what is live is copied to the other, whose
//! generation then makes it the one that counts, and the full one is erased. Gnuk erases the full page before it writes the
//! new generation, and releases an object before it writes its successor; power lost in between loses everything or the
//! object. Here the successor comes first in both cases, at no cost but the room for two values. Gnuk counts PIN errors by
//! programming one halfword twice, which double words with ECC do not allow; here each count is a record, like the low bits
//! of the signature counter.
//!
//! **Slots** are pages that each hold one object: Gnuk's key store, and its certificate. Gnuk has a page for each key, in which
//! a new key goes behind the released one; the page is erased when it is full. It deletes a key before it imports another,
//! and erases the certificate before it writes another. Neither survives a power loss in between with the old value, and a
//! page that is full of a long key has no room for its successor. So there is one page more than there are objects: the
//! successor is written there, and then the old page is erased.

use super::log::Log;
use super::{Design, Result, Space, StorageError, demand};
use crate::nor::{Flash, FlashError};
use crate::object::{MAX_KEY_BYTES, ObjectId};
use crate::page::{Page, full, mount, seal_bytes, wipe};
use crate::record::{Catalog, FlashRecord, long_bytes};

const POOL_PAGES: usize = 2;
const KEY_PAGES: usize = ObjectId::KEYS.len() + 1;
const CERTIFICATE_AREAS: usize = 2;

#[derive(Debug, Clone)]
pub(super) struct Separate {
    pool: Log,
    keys: Slots,
    certificate: Slots,
}

/// Sectors in order of address: pool, keys, certificate. An area too small for what it holds
/// also takes the next sector.
pub(super) fn layout(flash: &Flash) -> Result<Vec<Page>> {
    let unit = flash.unit();
    let key = seal_bytes(unit) + long_bytes(MAX_KEY_BYTES, unit);
    let certificate = seal_bytes(unit) + long_bytes(ObjectId::Certificate.max_bytes(), unit);
    let areas = [
        vec![pool_bytes(unit); POOL_PAGES],
        vec![key; KEY_PAGES],
        vec![certificate; CERTIFICATE_AREAS],
    ]
    .concat();
    let mut from = 0;
    let page = |least: &usize| {
        let page = Page::at(flash, from, *least)?;
        from = page.sectors.end;
        Some(page)
    };
    let pages: Option<Vec<Page>> = areas.iter().map(page).collect();
    pages.ok_or_else(|| {
        let sectors = flash.sectors();
        let smallest = sectors.iter().map(|sector| sector.bytes).min().unwrap_or(1);
        StorageError::DoesNotFit {
            needed: areas.iter().map(|least| least.div_ceil(smallest)).sum(),
            available: sectors.len(),
            unit: "sectors",
            why: format!(
                "each is erased as a whole, {POOL_PAGES} areas for the data pool, {KEY_PAGES} for three keys and \
                 a replacement, {CERTIFICATE_AREAS} for the certificate and a replacement"
            ),
        }
    })
}

/// Bytes a page of the pool needs: all objects at their longest, and the longest one twice.
fn pool_bytes(unit: usize) -> usize {
    let (live, longest) = demand(&ObjectId::DATA, unit);
    seal_bytes(unit) + live + longest
}

impl Separate {
    /// Reads the pages of [`layout`].
    pub(super) fn mount(flash: &mut Flash, mut pages: Vec<Page>) -> Result<Self> {
        let certificate = pages.split_off(POOL_PAGES + KEY_PAGES);
        let keys = pages.split_off(POOL_PAGES);
        Ok(Self {
            pool: Log::mount(flash, pages)?,
            keys: Slots::mount(flash, keys)?,
            certificate: Slots::mount(flash, certificate)?,
        })
    }
}

impl Design for Separate {
    fn put(&mut self, flash: &mut Flash, object: ObjectId, value: &[u8]) -> Result<()> {
        object.check(value)?;
        match object {
            ObjectId::Certificate => self.certificate.put(flash, object, value),
            _ if object.is_sensitive() => self.keys.put(flash, object, value),
            _ => self.pool.put(flash, object, value),
        }
    }

    fn get(&self, flash: &Flash, object: ObjectId) -> Result<Option<Vec<u8>>> {
        let catalog = match object {
            ObjectId::Certificate => &self.certificate.catalog,
            _ if object.is_sensitive() => &self.keys.catalog,
            _ => &self.pool.catalog,
        };
        catalog.value(flash, object)
    }

    fn space(&self) -> Space {
        let slots = self.keys.pages.iter().chain(&self.certificate.pages);
        let pages = self.pool.segments.iter().chain(slots);
        Space {
            used_bytes: self.pool.catalog.bytes()
                + self.keys.catalog.bytes()
                + self.certificate.catalog.bytes(),
            reserved_bytes: pages.map(|page| page.bytes.len()).sum(),
        }
    }
}

#[derive(Debug, Clone)]
struct Slots {
    pages: Vec<Page>,
    generation: u32,
    catalog: Catalog,
}

impl Slots {
    fn mount(flash: &mut Flash, mut pages: Vec<Page>) -> Result<Self> {
        let mut catalog = Catalog::default();
        let residue = mount(flash, &mut pages, &mut catalog)?;
        let newest = pages.iter().filter_map(|page| page.generation).max();
        let mut slots = Self {
            pages,
            generation: newest.unwrap_or(0),
            catalog,
        };
        slots.dispose(flash, &residue)?;
        Ok(slots)
    }

    /// Makes records unreadable: by zeros next to a live one, else with their page.
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

    fn put(&mut self, flash: &mut Flash, object: ObjectId, value: &[u8]) -> Result<()> {
        let bytes = self.catalog.encode(flash, object, value);
        let index = match self.page_with_room(object, bytes.len()) {
            Some(index) => index,
            None => self.open(flash)?.ok_or(full(object, &bytes))?,
        };
        let written = self.pages[index].append(flash, object, &bytes)?;
        let old = self.catalog.apply(written);
        Ok(self.dispose(flash, old.as_slice())?)
    }

    /// Finds the page of the object's old value, if the new one fits behind it.
    fn page_with_room(&self, object: ObjectId, bytes: usize) -> Option<usize> {
        let index = self.page_of(&self.catalog.record(object)?);
        self.pages[index].fits(bytes).then_some(index)
    }

    fn is_free(&self, index: usize) -> bool {
        let mut live = self.catalog.records();
        !live.any(|live| self.page_of(live) == index)
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
}
