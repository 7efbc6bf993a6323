//! Which sectors are the segments of a log, and whether they are enough.

use crate::error::StorageError;
use crate::nor::Flash;
use crate::object::ObjectId;
use crate::record::{full_bytes, long_bytes, small_bytes};
use crate::region::{Region, seal_bytes};

/// Sectors smaller than this share a segment: records do not cross segments, and a certificate
/// should not waste most of one.
const LEAST_SEGMENT: usize = 2048;

/// Bytes of all objects at their longest, and of the longest record.
fn demand(unit: usize) -> (usize, usize) {
    let long = ObjectId::ALL.iter().filter(|object| !object.is_counter());
    let sizes: Vec<_> = long
        .map(|object| long_bytes(object.max_bytes(), unit))
        .collect();
    let counters = full_bytes(unit) + ObjectId::PIN_COUNTERS.len() * small_bytes(unit);
    (
        sizes.iter().sum::<usize>() + counters,
        sizes.into_iter().max().unwrap_or(0),
    )
}

/// The segments, if they are enough in any order of writes: each may waste almost the longest
/// record at its end, one is blank, and a copy has to have room beside everything else.
pub(super) fn layout(flash: &Flash) -> Result<Vec<Region>, StorageError> {
    let unit = flash.unit();
    let (live, longest) = demand(unit);
    let regions = Region::tile(flash, LEAST_SEGMENT);
    let sizes: Vec<usize> = regions.iter().map(|region| region.bytes.len()).collect();
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
    Ok(regions)
}
