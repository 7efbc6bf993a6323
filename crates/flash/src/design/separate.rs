//! Gnuk's layout of 2017: a data pool of two pages, a page for each key, and pages
//! for the certificate, with what it takes to survive a power loss anywhere:
//! a spare key page and a second certificate area (see `pool` and `slots`).

use super::pool::{self, Pool};
use super::slots::{Reuse, Slots};
use super::{Design, Space};
use crate::catalog::Catalog;
use crate::error::StorageError;
use crate::nor::Flash;
use crate::object::{MAX_KEY_BYTES, ObjectId};
use crate::record::long_bytes;
use crate::region::{Region, seal_bytes};

const KEY_PAGES: usize = ObjectId::KEYS.len() + 1;
const CERTIFICATE_AREAS: usize = 2;

#[derive(Debug, Clone)]
pub(super) struct Separate {
    pool: Pool,
    keys: Slots,
    certificate: Slots,
    reserved_bytes: usize,
}

struct Layout {
    pool: [Region; 2],
    keys: Vec<Region>,
    certificate: Vec<Region>,
}

impl Layout {
    /// Sectors in order of address: pool, keys, certificate. An area too small for what it holds
    /// takes the next sector as well.
    fn of(flash: &Flash) -> Result<Self, StorageError> {
        let unit = flash.unit();
        let key = seal_bytes(unit) + long_bytes(MAX_KEY_BYTES, unit);
        let certificate = seal_bytes(unit) + long_bytes(ObjectId::Certificate.max_bytes(), unit);
        let areas = [
            vec![pool::needed(unit); 2],
            vec![key; KEY_PAGES],
            vec![certificate; CERTIFICATE_AREAS],
        ]
        .concat();
        let mut regions = Vec::new();
        let mut from = 0;
        for least in &areas {
            let Some(region) = Region::at(flash, from, *least) else {
                return Err(does_not_fit(flash, &areas));
            };
            from = region.sectors.end;
            regions.push(region);
        }
        let certificate = regions.split_off(2 + KEY_PAGES);
        let keys = regions.split_off(2);
        let pool = <[Region; 2]>::try_from(regions).map_err(|_| does_not_fit(flash, &areas))?;
        Ok(Self {
            pool,
            keys,
            certificate,
        })
    }

    fn bytes(&self) -> usize {
        let regions = self.pool.iter().chain(&self.keys).chain(&self.certificate);
        regions.map(|region| region.bytes.len()).sum()
    }
}

fn does_not_fit(flash: &Flash, areas: &[usize]) -> StorageError {
    let sectors = flash.sectors();
    let smallest = sectors.iter().map(|sector| sector.bytes).min().unwrap_or(1);
    StorageError::DoesNotFit {
        needed: areas.iter().map(|least| least.div_ceil(smallest)).sum(),
        available: sectors.len(),
        unit: "sectors",
        why: format!(
            "each is erased as a whole, 2 areas for the data pool, {KEY_PAGES} for three keys and \
             a replacement, {CERTIFICATE_AREAS} for the certificate and a replacement"
        ),
    }
}

impl Separate {
    pub(super) fn format(flash: &mut Flash) -> Result<Self, StorageError> {
        let layout = Layout::of(flash)?;
        Ok(Self {
            reserved_bytes: layout.bytes(),
            pool: Pool::format(flash, layout.pool)?,
            keys: Slots::format(flash, layout.keys, Reuse::BehindOld)?,
            certificate: Slots::format(flash, layout.certificate, Reuse::Never)?,
        })
    }

    pub(super) fn mount(flash: &mut Flash) -> Result<Self, StorageError> {
        let layout = Layout::of(flash)?;
        Ok(Self {
            reserved_bytes: layout.bytes(),
            pool: Pool::mount(flash, layout.pool)?,
            keys: Slots::mount(flash, layout.keys, Reuse::BehindOld)?,
            certificate: Slots::mount(flash, layout.certificate, Reuse::Never)?,
        })
    }

    fn catalogs(&self) -> [&Catalog; 3] {
        [
            self.pool.catalog(),
            self.keys.catalog(),
            self.certificate.catalog(),
        ]
    }
}

impl Design for Separate {
    fn put(
        &mut self,
        flash: &mut Flash,
        object: ObjectId,
        value: &[u8],
    ) -> Result<(), StorageError> {
        object.check(value)?;
        match object {
            ObjectId::Certificate => self.certificate.put(flash, object, value),
            _ if object.is_sensitive() => self.keys.put(flash, object, value),
            _ => self.pool.put(flash, object, value),
        }
    }

    fn remove(&mut self, flash: &mut Flash, object: ObjectId) -> Result<(), StorageError> {
        match object {
            _ if object.is_counter() => Err(StorageError::Permanent(object)),
            ObjectId::Certificate => self.certificate.remove(flash, object),
            _ if object.is_sensitive() => self.keys.remove(flash, object),
            _ => self.pool.remove(flash, object),
        }
    }

    fn get(&self, flash: &Flash, object: ObjectId) -> Result<Option<Vec<u8>>, StorageError> {
        let catalog = match object {
            ObjectId::Certificate => self.certificate.catalog(),
            _ if object.is_sensitive() => self.keys.catalog(),
            _ => self.pool.catalog(),
        };
        Ok(catalog.value(flash, object)?)
    }

    fn list(&self) -> Vec<ObjectId> {
        let mut objects: Vec<_> = self
            .catalogs()
            .into_iter()
            .flat_map(Catalog::objects)
            .collect();
        objects.sort_unstable();
        objects
    }

    fn space(&self) -> Space {
        let used_bytes = self.catalogs().into_iter().map(Catalog::bytes).sum();
        Space {
            used_bytes,
            reserved_bytes: self.reserved_bytes,
        }
    }
}
