//! A design on a geometry under a workload: latency, wear, lifetime, space.

use std::time::Duration;

use crate::design::{DesignKind, Result, Space};
use crate::geometry::Geometry;
use crate::nor::{Busy, Flash};
use crate::object::ObjectId;
use crate::workload::{Workload, provisioning};

/// Time of a write: how long the flash is busy with it; what the processor computes is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Latency {
    /// Mean over all writes.
    pub mean: Duration,
    /// The longest write.
    pub worst: Duration,
}

/// Result of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageResult {
    /// Name of the geometry.
    pub geometry: String,
    /// Layout of the objects.
    pub design: DesignKind,
    /// Use of the token.
    pub workload: Workload,
    /// Writes simulated.
    pub writes: u64,
    /// Writes that counted a signature.
    pub signatures: u64,
    /// Latency at the typical times of the datasheet.
    pub latency_typical: Latency,
    /// Latency at the maximum times of the datasheet.
    pub latency_maximum: Latency,
    /// Units programmed.
    pub programs: u64,
    /// Sectors erased.
    pub erases: u64,
    /// Erases of the sector that was erased most.
    pub most_worn_sector_erases: u64,
    /// Signatures until the most worn sector reaches its endurance, if it goes on like this; none for a
    /// workload without signatures, or if nothing was erased.
    pub lifetime_signatures: Option<u64>,
    /// Likewise in writes of any kind; none if nothing was erased.
    pub lifetime_writes: Option<u64>,
    /// Space at the end.
    pub space: Space,
}

impl StorageResult {
    /// Returns true if the most worn sector was erased so often that mean, worst case and lifetime are those of long
    /// use: in a log every sector has then been collected many times.
    pub const fn is_settled(&self) -> bool {
        self.most_worn_sector_erases >= SETTLED_ERASES
    }
}

const SETTLED_ERASES: u64 = 20;
const LEAST_WRITES: u64 = 300_000;
const LEAST_PROGRAMS: u64 = 10_000_000;
/// Most writes of a simulation: fewer than the signature counter counts.
pub const MOST_WRITES: u64 = 16_000_000;
/// Seed of workload and values.
const SEED: u64 = 1;

/// Runs a workload on a newly provisioned token. It stops after `most_writes`, or when the figures are those of long
/// use ([`StorageResult::is_settled`]) after 300 000 writes or ten million programmed units. Formatting and provisioning
/// are not counted.
///
/// # Errors
/// [`StorageError::DoesNotFit`] with the reason if the design cannot work on the geometry.
pub fn simulate(
    geometry: &Geometry,
    design: DesignKind,
    workload: Workload,
    most_writes: u64,
) -> Result<StorageResult> {
    let mut flash = Flash::new(geometry);
    let mut storage = design.format(&mut flash)?;
    for write in provisioning(SEED) {
        storage.put(&mut flash, write.object, &write.value)?;
    }
    let before = flash.clone();
    let (mut writes, mut signatures, mut worst) = (0, 0, Busy::default());
    for write in workload.writes(SEED) {
        let enough = writes >= LEAST_WRITES || flash.programs() >= LEAST_PROGRAMS;
        let is_settled = most_worn(&flash, &before) >= SETTLED_ERASES;
        if writes >= most_writes || (enough && is_settled) {
            break;
        }
        let busy = flash.busy();
        storage.put(&mut flash, write.object, &write.value)?;
        worst.typical = worst.typical.max(flash.busy().typical - busy.typical);
        worst.maximum = worst.maximum.max(flash.busy().maximum - busy.maximum);
        writes += 1;
        signatures += u64::from(write.object == ObjectId::SignatureCounter);
    }
    let busy = (flash.busy(), before.busy());
    let erases = |flash: &Flash| flash.erases().iter().sum::<u64>();
    let most_worn_sector_erases = most_worn(&flash, &before);
    let endurance = u64::from(geometry.endurance_cycles);
    let lifetime = |count: u64| (count * endurance).checked_div(most_worn_sector_erases);
    let latency = |total: Duration, worst| Latency {
        mean: total.checked_div(writes as u32).unwrap_or_default(),
        worst,
    };
    Ok(StorageResult {
        geometry: geometry.name.clone(),
        design,
        workload,
        writes,
        signatures,
        latency_typical: latency(busy.0.typical - busy.1.typical, worst.typical),
        latency_maximum: latency(busy.0.maximum - busy.1.maximum, worst.maximum),
        programs: flash.programs() - before.programs(),
        erases: erases(&flash) - erases(&before),
        most_worn_sector_erases,
        lifetime_signatures: lifetime(signatures).filter(|_| signatures > 0),
        lifetime_writes: lifetime(writes),
        space: storage.space(),
    })
}

/// Erases since then of the sector that was erased most.
fn most_worn(flash: &Flash, before: &Flash) -> u64 {
    let each = flash.erases().iter().zip(before.erases());
    each.map(|(now, before)| now - before).max().unwrap_or(0)
}
