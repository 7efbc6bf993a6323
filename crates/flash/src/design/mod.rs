//! Designs: layouts of objects in flash.
//!
//! Both keep these properties at every cut of power: mounted again, an object has
//! its old or its new value for the write that was cut and its value for all
//! others; nothing is readable of a replaced private key; and
//! all that a mount does can also be cut. A mount of what was not cut writes nothing.

mod log;
mod separate;

use strum::{Display, VariantArray};

use crate::nor::Flash;
use crate::object::ObjectId;
use crate::page::Page;
use crate::record::{full_bytes, long_bytes, small_bytes};

pub use crate::error::{Result, StorageError};
use log::Log;
use separate::Separate;

/// Objects in flash.
pub trait Design: std::fmt::Debug {
    /// Sets an object. It has the new value once this returns.
    ///
    /// # Errors
    /// [`StorageError::Value`], [`StorageError::Full`], [`StorageError::Flash`]: after a power loss mount again.
    fn put(&mut self, flash: &mut Flash, object: ObjectId, value: &[u8]) -> Result<()>;

    /// Returns an object's value; a counter that was never set is zero.
    ///
    /// # Errors
    /// [`StorageError::Flash`] without power.
    fn get(&self, flash: &Flash, object: ObjectId) -> Result<Option<Vec<u8>>>;

    /// Returns the space used and reserved.
    fn space(&self) -> Space;
}

/// Use of the flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Space {
    /// Bytes of live records, with headers and padding.
    pub used_bytes: usize,
    /// Bytes of the sectors that hold nothing but these objects.
    pub reserved_bytes: usize,
}

/// Name of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum DesignKind {
    /// Gnuk's: separate pages for data objects, keys and certificate.
    SeparatePages,
    /// Single log for all objects; the segment of a replaced key is collected and erased at once.
    Log,
}

impl DesignKind {
    /// Every design.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Makes empty storage.
    ///
    /// # Errors
    /// [`StorageError::DoesNotFit`] with the design's need.
    pub fn format(self, flash: &mut Flash) -> Result<Box<dyn Design>> {
        let mut pages = self.layout(flash)?;
        for page in &mut pages {
            page.clear(flash)?;
        }
        // Both designs write the first page first.
        if let Some(first) = pages.first_mut() {
            first.seal(flash, 1)?;
        }
        self.mount(flash)
    }

    /// Finds what is stored, and finishes or undoes what a power loss interrupted.
    ///
    /// # Errors
    /// [`StorageError::Unformatted`] if nothing is there, [`StorageError::DoesNotFit`],
    /// [`StorageError::Flash`].
    pub fn mount(self, flash: &mut Flash) -> Result<Box<dyn Design>> {
        let pages = self.layout(flash)?;
        Ok(match self {
            Self::SeparatePages => Box::new(Separate::mount(flash, pages)?),
            Self::Log => Box::new(Log::mount(flash, pages)?),
        })
    }

    fn layout(self, flash: &Flash) -> Result<Vec<Page>> {
        match self {
            Self::SeparatePages => separate::layout(flash),
            Self::Log => log::layout(flash),
        }
    }
}

/// Bytes of all counters and of these objects at their longest, and of the longest record.
fn demand(objects: &[ObjectId], unit: usize) -> (usize, usize) {
    let long = objects.iter().filter(|object| !object.is_counter());
    let sizes = long.map(|object| long_bytes(object.max_bytes(), unit));
    let counters = full_bytes(unit) + ObjectId::PIN_COUNTERS.len() * small_bytes(unit);
    (
        sizes.clone().sum::<usize>() + counters,
        sizes.max().unwrap_or(0),
    )
}
