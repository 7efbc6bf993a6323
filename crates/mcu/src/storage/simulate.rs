//! A design on a geometry under a workload: latency, wear, lifetime, space.

use std::time::Duration;

use super::design::{Design, DesignKind, Space};
use super::error::StorageError;
use super::flash::{Busy, Flash};
use super::geometry::Geometry;
use super::workload::{Change, Operation, Workload, provisioning};

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
    /// The design.
    pub design: DesignKind,
    /// The workload.
    pub workload: Workload,
    /// Seed of workload and values.
    pub seed: u64,
    /// Writes and removals.
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
    /// Signatures until the most worn sector reaches its endurance, if it goes on like this, and
    /// as exact as `most_worn_sector_erases` has digits; none for a workload without signatures, or if nothing was erased: simulate more operations.
    pub lifetime_signatures: Option<u64>,
    /// Likewise in writes of any kind; none if nothing was erased.
    pub lifetime_writes: Option<u64>,
    /// Space at the end.
    pub space: Space,
}

/// Runs `operations` writes of a workload on a newly provisioned token. Formatting and provisioning
/// are not counted.
///
/// # Errors
/// [`StorageError::DoesNotFit`] with the reason if the design cannot work on the geometry,
/// [`StorageError::Geometry`] if that is none.
pub fn simulate(
    geometry: &Geometry,
    design: DesignKind,
    workload: Workload,
    operations: u64,
    seed: u64,
) -> Result<StorageResult, StorageError> {
    geometry.validate()?;
    let mut flash = Flash::new(geometry);
    let mut storage = design.format(&mut flash)?;
    for operation in provisioning(seed) {
        perform(storage.as_mut(), &mut flash, &operation)?;
    }
    let before = Counts::of(&flash);
    let (mut writes, mut signatures, mut worst) = (0, 0, Busy::default());
    for (operation, _) in workload.operations(seed).zip(0..operations) {
        let busy = flash.busy();
        perform(storage.as_mut(), &mut flash, &operation)?;
        worst.typical = worst.typical.max(flash.busy().typical - busy.typical);
        worst.maximum = worst.maximum.max(flash.busy().maximum - busy.maximum);
        writes += 1;
        signatures += u64::from(operation.is_signature());
    }
    let counts = Counts::of(&flash).since(&before);
    let most_worn_sector_erases = counts.erases.iter().copied().max().unwrap_or(0);
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
        latency_typical: latency(counts.busy.typical, worst.typical),
        latency_maximum: latency(counts.busy.maximum, worst.maximum),
        programs: counts.programs,
        erases: counts.erases.iter().sum(),
        most_worn_sector_erases,
        lifetime_signatures: lifetime(signatures).filter(|_| signatures > 0),
        lifetime_writes: lifetime(writes),
        space: storage.space(),
    })
}

/// Performs one operation.
///
/// # Errors
/// Those of [`Design::put`] and [`Design::remove`].
pub fn perform(
    storage: &mut dyn Design,
    flash: &mut Flash,
    operation: &Operation,
) -> Result<(), StorageError> {
    match &operation.change {
        Change::Put(value) => storage.put(flash, operation.object, value),
        Change::Remove => storage.remove(flash, operation.object),
    }
}

fn mean(total: Duration, count: u64) -> Duration {
    let nanos = total.as_nanos().checked_div(u128::from(count)).unwrap_or(0);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// What the flash counted.
struct Counts {
    busy: Busy,
    programs: u64,
    erases: Vec<u64>,
}

impl Counts {
    fn of(flash: &Flash) -> Self {
        Self {
            busy: flash.busy(),
            programs: flash.programs(),
            erases: flash.erases().to_vec(),
        }
    }

    fn since(mut self, before: &Self) -> Self {
        self.busy.typical -= before.busy.typical;
        self.busy.maximum -= before.busy.maximum;
        self.programs -= before.programs;
        self.erases
            .iter_mut()
            .zip(&before.erases)
            .for_each(|(now, then)| *now -= then);
        self
    }
}
