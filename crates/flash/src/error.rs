//! What comes of storing objects.

use crate::geometry::GeometryError;
use crate::nor::FlashError;
use crate::object::ObjectId;

/// Why objects could not be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The flash refused, or lost power.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// The geometry cannot be.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The design cannot work on the geometry.
    #[error(
        "needs {needed} {unit} and has {available}: {why}; reserve more flash or take another design"
    )]
    DoesNotFit {
        /// So many of `unit` the design needs.
        needed: usize,
        /// So many the geometry has.
        available: usize,
        /// Bytes or sectors, as the message names them.
        unit: &'static str,
        /// What the needed ones are for.
        why: String,
    },
    /// No room is left, even after collecting garbage.
    #[error("no space for {bytes} bytes of {object}; remove an object first")]
    Full {
        /// The object that was to be written.
        object: ObjectId,
        /// Bytes its record takes.
        bytes: usize,
    },
    /// A value that the object cannot have.
    #[error("{length} bytes for {object}; give {expected}")]
    Value {
        /// What was to be set.
        object: ObjectId,
        /// Length given, in bytes.
        length: usize,
        /// What would be accepted.
        expected: &'static str,
    },
    /// Counters are set, not removed.
    #[error("{0} is a counter and cannot be removed; set it to zero")]
    Permanent(ObjectId),
    /// Nothing here was written by this design.
    #[error("the flash holds no {0} storage; format it")]
    Unformatted(&'static str),
    /// A name that is not known.
    #[error("unknown {what} {name:?}; one of {known}")]
    UnknownName {
        /// Kind of thing that was named.
        what: &'static str,
        /// The name given.
        name: String,
        /// Names there are.
        known: String,
    },
}

impl StorageError {
    pub(crate) fn unknown(what: &'static str, name: &str, known: &[impl ToString]) -> Self {
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        Self::UnknownName {
            what,
            name: name.to_owned(),
            known: known.join(", "),
        }
    }
}

/// What comes of storing.
pub type Result<T, E = StorageError> = std::result::Result<T, E>;
