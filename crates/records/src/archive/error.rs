//! Errors of the archive, with remedies.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use keymark_bench::outside::visible::excerpt;

/// Error of an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Failure of the database or the file system.
    #[error("{}", failure.said(&path.display(), &excerpt(reason)))]
    Failed {
        /// Kind of failure.
        failure: ArchiveFailure,
        /// The archive.
        path: PathBuf,
        /// Report of the database or the system.
        reason: String,
    },
    /// The content of one run makes no sense.
    #[error(
        "run {} of archive {path} is damaged ({}); others can be read: restore it from a copy",
        excerpt(.run), excerpt(.reason)
    )]
    DamagedRun {
        /// The archive.
        path: PathBuf,
        /// The run.
        run: String,
        /// The contradiction found.
        reason: String,
    },
    /// A server's address that cannot be used.
    #[error("{0}")]
    Address(String),
    /// Any other error, such as a name that selects no run.
    #[error("{0}")]
    Other(String),
}

/// Kind of failure that every database has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveFailure {
    /// Some other file or database.
    Foreign,
    /// Another process writes.
    Locked,
    /// The file or its directory belongs to another user.
    NoPermission,
    /// The file or its directory cannot be written.
    ReadOnly,
    /// No room left.
    Full,
    /// The content makes no sense.
    Damaged,
    /// The name of the run is taken.
    Exists,
    /// No connection to the server, or no longer.
    Unreachable,
    /// The server takes no such request from this role.
    Refused,
    /// Any other failure.
    Other,
}

impl ArchiveFailure {
    fn said(self, path: &dyn Display, reason: &str) -> String {
        const ELSEWHERE: &str = "name another file with --archive";
        match self {
            Self::Foreign => format!("{path} is not a keymark archive; {ELSEWHERE}"),
            Self::Locked => {
                format!("another program has locked archive {path}; wait for it, or {ELSEWHERE}")
            }
            Self::NoPermission => format!(
                "no permission to read and write {path}; change its owner or mode, or {ELSEWHERE}"
            ),
            Self::ReadOnly => format!(
                "cannot write archive {path}: it or its directory is read-only; make both writable, or {ELSEWHERE}"
            ),
            Self::Full => format!(
                "no space left for archive {path}; free some, or name a file elsewhere with --archive"
            ),
            Self::Damaged => {
                format!("archive {path} is damaged ({reason}); restore a copy, or {ELSEWHERE}")
            }
            Self::Exists => format!(
                "archive {path} has another run {reason}; put this one in a separate file with --archive"
            ),
            Self::Unreachable => format!(
                "cannot reach archive {path} ({reason}); see that its server runs and takes connections from here"
            ),
            Self::Refused => format!(
                "the server of archive {path} refuses: {reason}; ask its administrator for a role that may \
                 (docs/archive.md)"
            ),
            Self::Other => format!("archive {path}: {reason}; try again, or {ELSEWHERE}"),
        }
    }
}

impl ArchiveError {
    /// Makes an error of an archive whose name [`of`](Self::of) adds.
    pub(super) fn new(failure: ArchiveFailure, reason: impl Display) -> Self {
        Self::Failed {
            failure,
            path: PathBuf::new(),
            reason: reason.to_string(),
        }
    }

    pub(super) fn damaged(reason: impl Display) -> Self {
        Self::new(ArchiveFailure::Damaged, reason)
    }

    /// Adds the archive's name if it is missing.
    pub(super) fn of(mut self, archive: &Path) -> Self {
        if let Self::Failed { path, .. } = &mut self
            && path.as_os_str().is_empty()
        {
            *path = archive.into();
        }
        self
    }

    /// Names the run whose rows are damaged.
    pub(super) fn of_run(self, path: &Path, run: &str) -> Self {
        let Self::Failed {
            failure: ArchiveFailure::Damaged,
            reason,
            ..
        } = self
        else {
            return self;
        };
        let (path, run) = (path.into(), run.to_owned());
        Self::DamagedRun { path, run, reason }
    }

    /// Returns the kind of failure, if the database or the file system failed.
    pub const fn failure(&self) -> Option<ArchiveFailure> {
        match self {
            Self::Failed { failure, .. } => Some(*failure),
            Self::DamagedRun { .. } | Self::Address(_) | Self::Other(_) => None,
        }
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "another library's")]
    pub(super) fn of_io(path: &Path, source: &io::Error) -> Self {
        let failure = match source.kind() {
            io::ErrorKind::PermissionDenied => ArchiveFailure::NoPermission,
            io::ErrorKind::ReadOnlyFilesystem => ArchiveFailure::ReadOnly,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ArchiveFailure::Full,
            io::ErrorKind::IsADirectory => ArchiveFailure::Foreign,
            _ => {
                return Self::Other(format!(
                    "cannot open archive {}: {source}; name another file with --archive",
                    path.display()
                ));
            }
        };
        Self::new(failure, source).of(path)
    }
}
