//! Flash geometries: sectors, program unit, times and endurance, with their sources.
//!
//! Times are integers in the unit of their name, so that a figure such as 81.69 µs
//! survives being written to a file and read again.

use std::time::Duration;

use serde::Deserialize;

use super::error::StorageError;

const KIB: usize = 1024;

/// When a program unit may be programmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramRule {
    /// Only if erased; to all zeros at any time. STM32F1 (PM0075, 2.3.3: the controller reads the
    /// halfword first and skips the programming with PGERR unless the data are 0x0000).
    ErasedOrZero,
    /// Likewise, and every unit has an error-correcting code: a unit torn by power loss cannot be
    /// read. STM32L4 (RM0394, 3.3.7: PROGERR unless erased or all zeros; 3.3.9: a double error
    /// is reported on reading).
    ErasedOrZeroEcc,
    /// Any bit from 1 to 0 at any time. STM32F4 (RM0090, 3.6.3: successive writes need no erase
    /// when they change bits from 1 to 0).
    BitsClear,
}

/// Adjacent sectors of one size.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectorRun {
    /// Number of sectors.
    pub count: usize,
    /// Bytes of one sector.
    pub bytes: usize,
    /// Typical time of erasing one sector, in microseconds.
    pub erase_typical_us: u64,
    /// Longest time of erasing one sector, in microseconds.
    pub erase_maximum_us: u64,
}

/// The part of a microcontroller's flash that is reserved for storage.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// Name of the geometry, such as `stm32f103-1k`.
    pub name: String,
    /// Documents and tables the figures are from.
    pub source: String,
    /// What is assumed rather than published.
    #[serde(default)]
    pub note: String,
    /// When a unit may be programmed.
    pub rule: ProgramRule,
    /// Bytes programmed at once; a power of two of at most 16.
    pub program_unit_bytes: usize,
    /// Typical time of programming one unit, in nanoseconds.
    pub program_typical_ns: u64,
    /// Longest time of programming one unit, in nanoseconds.
    pub program_maximum_ns: u64,
    /// Sectors in order of address.
    pub sectors: Vec<SectorRun>,
    /// Erase cycles a sector is specified for.
    pub endurance_cycles: u32,
}

/// One erasable sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sector {
    /// Address of the first byte, from the start of the reserved part.
    pub start: usize,
    /// Size in bytes.
    pub bytes: usize,
    /// Typical time of an erase.
    pub erase_typical: Duration,
    /// Longest time of an erase.
    pub erase_maximum: Duration,
}

impl Geometry {
    /// STM32F103 of up to 128 kB (such as the F103TB that Gnuk runs on): 14 pages of 1 kB.
    #[must_use]
    pub fn stm32f103_medium_density() -> Self {
        Self::stm32f103("stm32f103-1k", "DS5319 (STM32F103x8/xB)", 14, KIB)
    }

    /// STM32F103 of 256 kB and more: 8 pages of 2 kB.
    #[must_use]
    pub fn stm32f103_high_density() -> Self {
        Self::stm32f103("stm32f103-2k", "DS5792 (STM32F103xC/xD/xE)", 8, 2 * KIB)
    }

    fn stm32f103(name: &str, datasheet: &str, count: usize, bytes: usize) -> Self {
        Self {
            name: name.to_owned(),
            source: format!(
                "{datasheet}, 5.3.9 memory characteristics, tables \"Flash memory characteristics\" \
                 and \"Flash memory endurance and data retention\"; PM0075, 2.3"
            ),
            // The table gives 40, 52.5, 70 µs for a halfword, and 20 to 40 ms for a page.
            note: "typical page erase assumed: the middle of the published 20 to 40 ms".to_owned(),
            rule: ProgramRule::ErasedOrZero,
            program_unit_bytes: 2,
            program_typical_ns: 52_500,
            program_maximum_ns: 70_000,
            sectors: vec![SectorRun {
                count,
                bytes,
                erase_typical_us: 30_000,
                erase_maximum_us: 40_000,
            }],
            endurance_cycles: 10_000,
        }
    }

    /// STM32L432: 8 pages of 2 kB, programmed by double words with ECC.
    #[must_use]
    pub fn stm32l432() -> Self {
        Self {
            name: "stm32l432".to_owned(),
            source:
                "DS11451 (STM32L432xx), tables \"Flash memory characteristics\" and \"Flash memory \
                     endurance and data retention\"; RM0394, 3.3"
                    .to_owned(),
            note: "assumed: a double word torn by power loss can still be programmed to zeros"
                .to_owned(),
            rule: ProgramRule::ErasedOrZeroEcc,
            program_unit_bytes: 8,
            program_typical_ns: 81_690,
            program_maximum_ns: 90_760,
            sectors: vec![SectorRun {
                count: 8,
                bytes: 2 * KIB,
                erase_typical_us: 22_020,
                erase_maximum_us: 24_470,
            }],
            endurance_cycles: 10_000,
        }
    }

    /// STM32F405, firmware from sector 5 on: sectors 1 to 3 (16 kB) and 4 (64 kB).
    #[must_use]
    pub fn stm32f405() -> Self {
        Self::stm32f405_sectors("stm32f405", &[(3, 16), (1, 64)])
    }

    /// STM32F405 with all it could spare: sectors 1 to 3, 4, and four of 128 kB.
    #[must_use]
    pub fn stm32f405_large() -> Self {
        Self::stm32f405_sectors("stm32f405-large", &[(3, 16), (1, 64), (4, 128)])
    }

    fn stm32f405_sectors(name: &str, runs: &[(usize, usize)]) -> Self {
        let erase = |kib: usize| match kib {
            16 => (250_000, 500_000),
            64 => (550_000, 1_100_000),
            _ => (1_000_000, 2_000_000),
        };
        let run = |&(count, kib): &(usize, usize)| {
            let (erase_typical_us, erase_maximum_us) = erase(kib);
            SectorRun {
                count,
                bytes: kib * KIB,
                erase_typical_us,
                erase_maximum_us,
            }
        };
        Self {
            name: name.to_owned(),
            source: "DS8626 (STM32F405xx/407xx), tables \"Flash memory programming\" at x32 parallelism \
                     and \"Flash memory endurance and data retention\"; RM0090, 3.3 and 3.6"
                .to_owned(),
            note: "which sectors firmware leaves free is assumed".to_owned(),
            rule: ProgramRule::BitsClear,
            program_unit_bytes: 4,
            program_typical_ns: 16_000,
            program_maximum_ns: 100_000,
            sectors: runs.iter().map(run).collect(),
            endurance_cycles: 10_000,
        }
    }

    /// Every geometry that is built in.
    #[must_use]
    pub fn built_in() -> Vec<Self> {
        vec![
            Self::stm32f103_medium_density(),
            Self::stm32f103_high_density(),
            Self::stm32l432(),
            Self::stm32f405(),
            Self::stm32f405_large(),
        ]
    }

    /// Checks what a file may have got wrong.
    ///
    /// # Errors
    /// [`StorageError::Geometry`] says which field has to change.
    pub fn validate(&self) -> Result<(), StorageError> {
        let refuse = |why: String| {
            Err(StorageError::Geometry {
                name: self.name.clone(),
                why,
            })
        };
        let unit = self.program_unit_bytes;
        if !unit.is_power_of_two() || unit > 16 {
            return refuse(format!(
                "program_unit_bytes is {unit}; it has to be 1, 2, 4, 8 or 16"
            ));
        }
        if self.sectors.iter().map(|run| run.count).sum::<usize>() == 0 {
            return refuse("there are no sectors; give at least one with a count".to_owned());
        }
        if let Some(run) = self
            .sectors
            .iter()
            .find(|run| run.bytes < 64 || run.bytes % unit.max(8) != 0)
        {
            let step = unit.max(8);
            return refuse(format!(
                "a sector of {} bytes; it has to be a multiple of {step}, at least 64",
                run.bytes
            ));
        }
        if self.endurance_cycles == 0 {
            return refuse("endurance_cycles is 0; give the cycles of the datasheet".to_owned());
        }
        Ok(())
    }

    /// The sectors in order of address.
    #[must_use]
    pub fn sector_list(&self) -> Vec<Sector> {
        let mut start = 0;
        let mut list = Vec::new();
        for run in &self.sectors {
            for _ in 0..run.count {
                list.push(Sector {
                    start,
                    bytes: run.bytes,
                    erase_typical: Duration::from_micros(run.erase_typical_us),
                    erase_maximum: Duration::from_micros(run.erase_maximum_us),
                });
                start += run.bytes;
            }
        }
        list
    }
}
