//! Regions in use: what designs do with each of theirs.

use crate::catalog::Catalog;
use crate::error::StorageError;
use crate::nor::{Flash, FlashError};
use crate::object::ObjectId;
use crate::record::FlashRecord;
use crate::region::{Region, Seal, wipe_torn};

#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) region: Region,
    /// None while blank.
    pub(super) generation: Option<u32>,
    /// Where the next record goes.
    pub(super) next: usize,
}

impl Page {
    pub(super) fn new(region: Region, flash: &Flash) -> Self {
        Self {
            next: region.first(flash),
            region,
            generation: None,
        }
    }

    pub(super) fn holds(&self, record: &FlashRecord) -> bool {
        self.region.bytes.contains(&record.address)
    }

    pub(super) fn fits(&self, bytes: usize) -> bool {
        self.region.fits(self.next, bytes)
    }

    pub(super) fn clear(&mut self, flash: &mut Flash) -> Result<(), FlashError> {
        self.region.clear(flash)?;
        self.generation = None;
        self.next = self.region.first(flash);
        Ok(())
    }

    /// From now on its records count.
    pub(super) fn seal(&mut self, flash: &mut Flash, generation: u32) -> Result<(), FlashError> {
        self.region.seal(flash, generation)?;
        self.generation = Some(generation);
        Ok(())
    }

    /// Writes a record behind the others.
    pub(super) fn append(
        &mut self,
        flash: &mut Flash,
        object: ObjectId,
        bytes: &[u8],
    ) -> Result<FlashRecord, StorageError> {
        if !self.fits(bytes.len()) {
            return Err(full(object, bytes));
        }
        let record = self.region.append(flash, self.next, bytes)?;
        self.next += bytes.len();
        Ok(record)
    }
}

pub(super) fn full(object: ObjectId, bytes: &[u8]) -> StorageError {
    StorageError::Full {
        object,
        bytes: bytes.len(),
    }
}

/// Pages with nothing in them.
pub(super) fn format(flash: &mut Flash, regions: Vec<Region>) -> Result<Vec<Page>, FlashError> {
    let mut pages: Vec<Page> = regions
        .into_iter()
        .map(|region| Page::new(region, flash))
        .collect();
    for page in &mut pages {
        page.clear(flash)?;
    }
    Ok(pages)
}

/// Pages as they are, their records applied in order of generation; and what was torn or superseded.
pub(super) fn mount(
    flash: &mut Flash,
    regions: Vec<Region>,
    catalog: &mut Catalog,
) -> Result<(Vec<Page>, Vec<FlashRecord>), FlashError> {
    let mut pages: Vec<Page> = regions
        .into_iter()
        .map(|region| Page::new(region, flash))
        .collect();
    for page in &mut pages {
        match page.region.inspect(flash)? {
            Seal::Blank => {}
            Seal::Debris => page.clear(flash)?,
            Seal::Generation(generation) => page.generation = Some(generation),
        }
    }
    let mut order: Vec<&mut Page> = pages.iter_mut().collect();
    order.retain(|page| page.generation.is_some());
    order.sort_by_key(|page| page.generation);
    let mut residue = Vec::new();
    for page in order {
        let scan = page.region.scan(flash)?;
        page.next = scan.next;
        wipe_torn(flash, &scan.torn)?;
        for record in scan.records {
            if record.whole {
                residue.extend(catalog.apply(record));
            } else {
                residue.push(record);
            }
        }
    }
    Ok((pages, residue))
}
