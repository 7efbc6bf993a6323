//! Why a load did not begin or end.

use crate::failure::Failure;

/// Why there is no result at all; a transaction that fails is a [`crate::Failure`].
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The TLS library cannot do what is wanted.
    #[error("the client's OpenSSL does not support {0}; choose another")]
    Unsupported(String),
    /// The settings contradict themselves or are empty.
    #[error("{0}")]
    Settings(&'static str),
    /// The limit of open files is too low for the connections.
    #[error(
        "the load needs {needed} file descriptors, but the limit is {hard}; raise the hard limit of open files \
         (ulimit -Hn as root, or LimitNOFILE= of the service), or use fewer users"
    )]
    Descriptors {
        /// Number of connections and other files.
        needed: u64,
        /// The hard limit.
        hard: u64,
    },
    /// A call of the operating system failed.
    #[error("{call} failed: {reason}")]
    System {
        /// Name of the call.
        call: &'static str,
        /// Why.
        reason: std::io::Error,
    },
    /// The one transaction that was tried.
    #[error("{0}")]
    Transaction(Failure),
    /// The caller stopped it.
    #[error("it was stopped")]
    Stopped,
    /// A line of the clients' reports cannot be read.
    #[error("line {number} of the clients' reports cannot be read: {error}")]
    ClientLine {
        /// Line number, from 1.
        number: u64,
        /// Why not.
        error: serde_json::Error,
    },
    /// Nothing of them is there.
    #[error("no client has reported any load")]
    NoClient,
    /// The clients began too far apart for one load.
    #[error("the clients began more than a day apart")]
    Apart,
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
