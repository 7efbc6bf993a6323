//! Why a load did not begin or end.

use crate::failure::Failure;

/// Why there is no result at all; a transaction that fails is a [`crate::Failure`].
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The TLS library cannot do what is wanted.
    #[error("the client's OpenSSL does not support {0}; choose another")]
    Unsupported(String),
    /// The load cannot be as it is wanted.
    #[error("{0}")]
    Impossible(String),
    /// A call of the operating system failed.
    #[error("{call} failed: {reason}")]
    System {
        /// Name of the call.
        call: &'static str,
        /// Why.
        reason: std::io::Error,
    },
    /// The one transaction that was tried.
    #[error(transparent)]
    Transaction(#[from] Failure),
    /// The caller stopped it.
    #[error("it was stopped")]
    Stopped,
    /// A thread that drove connections ended by a panic.
    #[error("a thread of the client panicked: please report this")]
    Panicked,
}

impl LoadError {
    pub(crate) fn system(call: &'static str, reason: impl Into<std::io::Error>) -> Self {
        Self::System {
            call,
            reason: reason.into(),
        }
    }
}
