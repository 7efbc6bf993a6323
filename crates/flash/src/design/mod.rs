//! Designs: how objects are laid out in flash.
//!
//! Both keep these properties at every cut of power: mounted again, an object has
//! its old or its new value for the write that was cut and its value for all
//! others; of a private key that was removed or replaced nothing is readable; and
//! all that a mount does can be cut as well. A mount of what was not cut writes nothing.

mod log;
mod separate;

use strum::{Display, EnumString, VariantArray};

use crate::nor::Flash;
use crate::object::ObjectId;
use crate::page::Page;

pub use crate::error::{Result, StorageError};
use log::{Disposal, Log};
use separate::Separate;

/// Objects in flash.
pub trait Design: std::fmt::Debug {
    /// Sets an object. It has the new value once this returns.
    ///
    /// # Errors
    /// [`StorageError::Value`] for a value it cannot have, [`StorageError::Full`],
    /// [`StorageError::Flash`]: after a power loss mount again.
    fn put(&mut self, flash: &mut Flash, object: ObjectId, value: &[u8]) -> Result<()>;

    /// Removes an object; no effect if there is none.
    ///
    /// # Errors
    /// [`StorageError::Permanent`] for a counter, [`StorageError::Flash`], [`StorageError::Full`].
    fn remove(&mut self, flash: &mut Flash, object: ObjectId) -> Result<()>;

    /// An object's value; a counter that was never set is zero.
    ///
    /// # Errors
    /// [`StorageError::Flash`] without power.
    fn get(&self, flash: &Flash, object: ObjectId) -> Result<Option<Vec<u8>>>;

    /// Objects that were set, in order.
    fn list(&self) -> Vec<ObjectId>;

    /// What is used.
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

/// A design by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, VariantArray)]
#[strum(
    serialize_all = "kebab-case",
    parse_err_ty = StorageError,
    parse_err_fn = unknown
)]
pub enum DesignKind {
    /// Gnuk's: pages of their own for data objects, keys and certificate.
    SeparatePages,
    /// One log for all; a removed key's segment is collected and erased at once.
    LogForcedCollection,
    /// One log for all; a removed key's record is overwritten with zeros in place.
    LogZeroing,
}

fn unknown(name: &str) -> StorageError {
    StorageError::unknown("design", name, DesignKind::ALL)
}

impl DesignKind {
    /// Every design.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Makes empty storage.
    ///
    /// # Errors
    /// [`StorageError::DoesNotFit`] says what the design needs.
    pub fn format(self, flash: &mut Flash) -> Result<Box<dyn Design>> {
        let mut pages = self.layout(flash)?;
        for page in &mut pages {
            page.clear(flash)?;
        }
        // Of both designs the first page is the one that is written first.
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
            Self::LogForcedCollection => Box::new(Log::mount(flash, pages, Disposal::Collect)?),
            Self::LogZeroing => Box::new(Log::mount(flash, pages, Disposal::Zero)?),
        })
    }

    /// Its pages, not yet looked at.
    fn layout(self, flash: &Flash) -> Result<Vec<Page>> {
        match self {
            Self::SeparatePages => separate::layout(flash),
            Self::LogForcedCollection | Self::LogZeroing => log::layout(flash),
        }
    }
}
