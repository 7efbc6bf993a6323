//! A NOR flash: what it lets be programmed, how long that takes, and what a power loss leaves.
//!
//! A step is one program of a unit or one erase of a sector. A power loss during
//! a step leaves it undefined; the model draws from a seeded generator:
//!
//! * a program is not done, done, or torn: some of the bits that were to be
//!   cleared are; with ECC the unit then cannot be read ([`FlashError::Unreadable`]);
//! * an erase is not done, done, or torn: units are old, erased, or have some
//!   of their bits set (with ECC: cannot be read), by halves or all mixed.
//!
//! Not modeled: cells so weakly programmed or erased that two reads differ.

use std::ops::Range;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::geometry::{Geometry, ProgramRule, Sector};

const ERASED: u8 = 0xff;

/// Why the flash did not do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FlashError {
    /// Power failed in this step or an earlier one.
    #[error("power lost; restore it and mount again")]
    PowerLoss,
    /// The unit may not be programmed to that without an erase.
    #[error("unit at {address:#x} is not erased; erase its sector first")]
    NotErased {
        /// Address of the unit in bytes.
        address: usize,
    },
    /// Uncorrectable error of the unit's code.
    #[error(
        "unit at {address:#x} was torn by a power loss and cannot be read; program it to zeros"
    )]
    Unreadable {
        /// Address of the unit in bytes.
        address: usize,
    },
    /// Not a whole unit, or outside the flash.
    #[error("{length} bytes at {address:#x} are not whole units of the flash; align them")]
    Misplaced {
        /// Address in bytes.
        address: usize,
        /// Length in bytes.
        length: usize,
    },
}

/// Time the flash was busy, at the two figures of the datasheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Busy {
    /// Sum of typical times.
    pub typical: Duration,
    /// Sum of maximum times.
    pub maximum: Duration,
}

/// The reserved part of a flash.
#[derive(Debug, Clone)]
pub struct Flash {
    geometry: Geometry,
    sectors: Vec<Sector>,
    cells: Vec<u8>,
    /// Units whose error-correcting code does not match.
    unreadable: Vec<bool>,
    erases: Vec<u64>,
    programs: u64,
    busy: Busy,
    steps: u64,
    power: Power,
}

#[derive(Debug, Clone)]
enum Power {
    On,
    /// Fails after that number of steps.
    Budget(u64, Box<ChaCha8Rng>),
    Off,
}

impl Flash {
    /// An erased flash.
    pub fn new(geometry: &Geometry) -> Self {
        let sectors = geometry.sector_list();
        let bytes: usize = sectors.iter().map(|sector| sector.bytes).sum();
        Self {
            geometry: geometry.clone(),
            cells: vec![ERASED; bytes],
            unreadable: vec![false; bytes / geometry.program_unit_bytes],
            erases: vec![0; sectors.len()],
            sectors,
            programs: 0,
            busy: Busy::default(),
            steps: 0,
            power: Power::On,
        }
    }

    /// Programs one unit.
    ///
    /// # Errors
    /// [`FlashError::NotErased`] if the family does not allow it, [`FlashError::PowerLoss`] if
    /// power fails.
    pub fn program(&mut self, address: usize, data: &[u8]) -> Result<(), FlashError> {
        let unit = self.unit();
        let misplaced = FlashError::Misplaced {
            address,
            length: data.len(),
        };
        if data.len() != unit || !address.is_multiple_of(unit) || address + unit > self.cells.len()
        {
            return Err(misplaced);
        }
        if matches!(self.power, Power::Off) {
            return Err(FlashError::PowerLoss);
        }
        if !self.may_program(address, data) {
            return Err(FlashError::NotErased { address });
        }
        if let Some(mut rng) = self.step() {
            self.tear_program(address, data, &mut rng);
            return Err(FlashError::PowerLoss);
        }
        self.programs += 1;
        self.busy.typical += Duration::from_nanos(self.geometry.program_typical_ns);
        self.busy.maximum += Duration::from_nanos(self.geometry.program_maximum_ns);
        self.store(address, data);
        Ok(())
    }

    fn may_program(&self, address: usize, data: &[u8]) -> bool {
        let old = &self.cells[address..address + data.len()];
        let readable = !self.unreadable[address / self.unit()];
        let zero = data.iter().all(|&byte| byte == 0);
        match self.geometry.rule {
            ProgramRule::BitsClear => old.iter().zip(data).all(|(old, new)| old & new == *new),
            ProgramRule::ErasedOrZero | ProgramRule::ErasedOrZeroEcc => {
                zero || (readable && old.iter().all(|&byte| byte == ERASED))
            }
        }
    }

    fn store(&mut self, address: usize, data: &[u8]) {
        let index = address / self.unit();
        self.cells[address..address + data.len()].copy_from_slice(data);
        self.unreadable[index] = false;
    }

    fn tear_program(&mut self, address: usize, data: &[u8], rng: &mut ChaCha8Rng) {
        match rng.random_range(0..4u8) {
            0 => {}
            1 => self.store(address, data),
            _ => {
                for (cell, new) in self.cells[address..].iter_mut().zip(data) {
                    *cell = *new | (*cell & rng.random::<u8>());
                }
                self.mark_torn(address);
            }
        }
    }

    fn mark_torn(&mut self, address: usize) {
        let index = address / self.unit();
        self.unreadable[index] = self.geometry.rule == ProgramRule::ErasedOrZeroEcc;
    }

    /// Erases one sector.
    ///
    /// # Errors
    /// [`FlashError::PowerLoss`] if power fails.
    pub fn erase(&mut self, sector: usize) -> Result<(), FlashError> {
        let misplaced = FlashError::Misplaced {
            address: self.cells.len(),
            length: 0,
        };
        let erased = *self.sectors.get(sector).ok_or(misplaced)?;
        let cells = erased.start..erased.start + erased.bytes;
        if matches!(self.power, Power::Off) {
            return Err(FlashError::PowerLoss);
        }
        self.erases[sector] += 1;
        if let Some(mut rng) = self.step() {
            self.tear_erase(cells, &mut rng);
            return Err(FlashError::PowerLoss);
        }
        self.busy.typical += erased.erase_typical;
        self.busy.maximum += erased.erase_maximum;
        self.blank(cells);
        Ok(())
    }

    fn blank(&mut self, range: Range<usize>) {
        let unit = self.unit();
        self.unreadable[range.start / unit..range.end / unit].fill(false);
        self.cells[range].fill(ERASED);
    }

    fn tear_erase(&mut self, range: Range<usize>, rng: &mut ChaCha8Rng) {
        let unit = self.unit();
        match rng.random_range(0..6u8) {
            0 => {}
            1 => self.blank(range),
            2 => self.blank(range.start..range.start + (range.len() / unit / 2) * unit),
            3 => self.blank(range.start + (range.len() / unit / 2) * unit..range.end),
            _ => {
                for address in range.step_by(unit) {
                    match rng.random_range(0..4u8) {
                        0 => self.blank(address..address + unit),
                        1 => self.tear_unit_erase(address, rng),
                        _ => {}
                    }
                }
            }
        }
    }

    fn tear_unit_erase(&mut self, address: usize, rng: &mut ChaCha8Rng) {
        let unit = self.unit();
        for cell in &mut self.cells[address..address + unit] {
            *cell |= rng.random::<u8>();
        }
        self.mark_torn(address);
    }

    /// Takes a step; where power fails in it, what draws how it is torn.
    fn step(&mut self) -> Option<Box<ChaCha8Rng>> {
        self.steps += 1;
        let Power::Budget(left, rng) = &mut self.power else {
            return None;
        };
        let before = *left;
        *left = before.saturating_sub(1);
        let torn = (before == 0).then(|| rng.clone())?;
        self.power = Power::Off;
        Some(torn)
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// [`FlashError::Unreadable`] for a torn unit with ECC, [`FlashError::PowerLoss`] without power.
    pub fn read(&self, range: Range<usize>) -> Result<&[u8], FlashError> {
        if matches!(self.power, Power::Off) {
            return Err(FlashError::PowerLoss);
        }
        let misplaced = FlashError::Misplaced {
            address: range.start,
            length: range.len(),
        };
        let unit = self.unit();
        let data = self.cells.get(range.clone()).ok_or(misplaced)?;
        let units = range.start / unit..range.end.div_ceil(unit);
        match self.unreadable[units.clone()].iter().position(|&torn| torn) {
            Some(torn) => Err(FlashError::Unreadable {
                address: (units.start + torn) * unit,
            }),
            None => Ok(data),
        }
    }

    /// Returns true if every unit reads as erased.
    pub fn is_blank(&self, range: Range<usize>) -> bool {
        self.read(range)
            .is_ok_and(|data| data.iter().all(|&byte| byte == ERASED))
    }

    /// All cells as they are, also torn units: the view of a probe.
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// Lets power fail in the step after the next `steps`; `seed` decides what that step leaves.
    pub fn cut_power_after(&mut self, steps: u64, seed: u64) {
        self.power = Power::Budget(steps, Box::new(ChaCha8Rng::seed_from_u64(seed)));
    }

    /// Power is back, for good.
    pub fn restore_power(&mut self) {
        self.power = Power::On;
    }

    /// The sectors in order of address.
    pub fn sectors(&self) -> &[Sector] {
        &self.sectors
    }

    /// Bytes programmed at once.
    pub fn unit(&self) -> usize {
        self.geometry.program_unit_bytes
    }

    /// Erases of each sector so far.
    pub fn erases(&self) -> &[u64] {
        &self.erases
    }

    /// Units programmed so far.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// Steps taken so far: programs and erases, torn ones too.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Time busy so far, without torn steps.
    pub fn busy(&self) -> Busy {
        self.busy
    }
}
