//! Errors of storing objects.

use crate::nor::FlashError;
use crate::object::ObjectId;

/// Reason why objects could not be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The flash refused, or lost power.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// The design cannot work on the geometry.
    #[error(
        "needs {needed} {unit} and has {available}: {why}; reserve more flash or use another design"
    )]
    DoesNotFit {
        /// Number of `unit` that the design needs.
        needed: usize,
        /// Number of `unit` that the geometry has.
        available: usize,
        /// Bytes or sectors, as the message names them.
        unit: &'static str,
        /// Purpose of the needed ones.
        why: String,
    },
    /// No room is left, even after collecting garbage.
    #[error("no space for {bytes} bytes of {object}; remove an object first")]
    Full {
        /// Object to write.
        object: ObjectId,
        /// Bytes its record takes.
        bytes: usize,
    },
    /// The value is empty or longer than the object may be.
    #[error("{object} cannot have {length} bytes")]
    Value {
        /// Object to set.
        object: ObjectId,
        /// Length given, in bytes.
        length: usize,
    },
    /// The flash holds no storage of this design.
    #[error("the flash holds no storage of this design; format it")]
    Unformatted,
}

/// Result of storing.
pub type Result<T, E = StorageError> = std::result::Result<T, E>;
