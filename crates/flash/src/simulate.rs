//! A design on a geometry under a workload: latency, wear, lifetime, space.

use std::time::Duration;

use crate::design::{Design, DesignKind, Result, Space};
use crate::geometry::Geometry;
use crate::nor::{Busy, Flash};
use crate::workload::{Change, Workload, Write, provisioning};

/// Time of a write: how long the flash is busy with it; what the processor computes is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Latency {
    /// Mean over all writes.
    pub mean: Duration,
    /// The longest write.
    pub worst: Duration,
}

/// What a simulation found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageResult {
    /// Name of the geometry.
    pub geometry: String,
    /// How the objects were laid out.
    pub design: DesignKind,
    /// What the token was used for.
    pub workload: Workload,
    /// Seed of workload and values.
    pub seed: u64,
    /// Writes simulated, with the removals.
    pub writes: u64,
    /// Those that counted a signature.
    pub signatures: u64,
    /// At the typical times of the datasheet.
    pub latency_typical: Latency,
    /// At its maximum times.
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
    /// Whether the most worn sector was erased so often that mean, worst case and lifetime are those of
    /// long use: in a log every sector has then been collected many times.
    pub const fn is_settled(&self) -> bool {
        self.most_worn_sector_erases >= SETTLED_ERASES
    }
}

/// How long a simulation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// So many writes.
    Writes(u64),
    /// Until the figures are those of long use, see [`StorageResult::is_settled`]; 300 000 writes at least,
    /// or as many as program ten million units, and 16 million at most, before the signature counter is at
    /// its end.
    Settled,
}

const SETTLED_ERASES: u64 = 20;
const LEAST_WRITES: u64 = 300_000;
const LEAST_PROGRAMS: u64 = 10_000_000;
const MOST_WRITES: u64 = 16_000_000;

impl Length {
    const fn is_over(self, writes: u64, programs: u64, most_worn_sector_erases: u64) -> bool {
        match self {
            Self::Writes(wanted) => writes >= wanted,
            Self::Settled => {
                let enough = writes >= LEAST_WRITES || programs >= LEAST_PROGRAMS;
                (enough && most_worn_sector_erases >= SETTLED_ERASES) || writes >= MOST_WRITES
            }
        }
    }
}

/// Runs a workload on a newly provisioned token. Formatting and provisioning are not counted.
///
/// # Errors
/// [`StorageError::DoesNotFit`] with the reason if the design cannot work on the geometry,
/// [`StorageError::Geometry`] if that is none.
pub fn simulate(
    geometry: &Geometry,
    design: DesignKind,
    workload: Workload,
    length: Length,
    seed: u64,
) -> Result<StorageResult> {
    geometry.validate()?;
    let mut flash = Flash::new(geometry);
    let mut storage = design.format(&mut flash)?;
    for write in provisioning(seed) {
        perform(storage.as_mut(), &mut flash, &write)?;
    }
    let before = flash.clone();
    let (mut writes, mut signatures, mut worst) = (0, 0, Busy::default());
    let mut source = workload.writes(seed);
    while !length.is_over(writes, flash.programs(), most_worn(&flash, &before)) {
        let Some(write) = source.next() else {
            break;
        };
        let busy = flash.busy();
        perform(storage.as_mut(), &mut flash, &write)?;
        worst.typical = worst.typical.max(flash.busy().typical - busy.typical);
        worst.maximum = worst.maximum.max(flash.busy().maximum - busy.maximum);
        writes += 1;
        signatures += u64::from(write.is_signature());
    }
    let busy = (flash.busy(), before.busy());
    let erases = |flash: &Flash| flash.erases().iter().sum::<u64>();
    let most_worn_sector_erases = most_worn(&flash, &before);
    let endurance = u64::from(geometry.endurance_cycles);
    let lifetime = |count: u64| (count * endurance).checked_div(most_worn_sector_erases);
    let latency = |total: Duration, worst| Latency {
        mean: mean(total, writes),
        worst,
    };
    Ok(StorageResult {
        geometry: geometry.name.clone(),
        design,
        workload,
        seed,
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

/// Writes or removes, as the design does it.
pub fn perform(storage: &mut dyn Design, flash: &mut Flash, write: &Write) -> Result<()> {
    match &write.change {
        Change::Put(value) => storage.put(flash, write.object, value),
        Change::Remove => storage.remove(flash, write.object),
    }
}

fn mean(total: Duration, count: u64) -> Duration {
    let nanos = total.as_nanos().checked_div(u128::from(count)).unwrap_or(0);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Erases since then of the sector that was erased most.
fn most_worn(flash: &Flash, before: &Flash) -> u64 {
    let each = flash.erases().iter().zip(before.erases());
    each.map(|(now, before)| now - before).max().unwrap_or(0)
}
