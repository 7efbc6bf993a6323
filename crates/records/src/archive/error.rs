//! Errors of the archive, with remedies.

use std::io;
use std::path::{Path, PathBuf};

use keymark_bench::outside::visible::excerpt;

/// Error of an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Neither `$KEYMARK_ARCHIVE` nor a home directory.
    #[error("no home directory for the archive; set HOME, or name a file with --archive")]
    NoHome,
    /// Some other file.
    #[error("{0} is not a keymark archive; name another file with --archive")]
    Foreign(PathBuf),
    /// A role that does not own the database made its tables.
    #[error(
        "schema keymark of archive {path} belongs to role '{}', which does not own the database and could read and forge \
         every run; ask the owner of the database to drop the schema and to make the archive (docs/archive.md)",
        excerpt(.owner)
    )]
    ForeignOwner {
        /// The archive.
        path: PathBuf,
        /// Owner of the schema or of something in it.
        owner: String,
    },
    /// Written by another version of keymark.
    #[error(
        "archive {path} has version {found}, but this keymark reads version {known} only; use the keymark that wrote it, or \
         name another file with --archive"
    )]
    OtherVersion {
        /// The archive.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// Its last runs are in a log that cannot be read where nothing can be written.
    #[error(
        "a program was killed while it wrote to archive {path}, which cannot be repaired where it is read-only; \
         copy it with {log} to a directory of yours and name the copy with --archive"
    )]
    Unfinished {
        /// The archive.
        path: PathBuf,
        /// The log with its last runs.
        log: PathBuf,
    },
    /// Another process writes.
    #[error(
        "another program has locked archive {0}; wait for it, or name another file with --archive"
    )]
    Locked(PathBuf),
    /// The file or its directory belongs to another user.
    #[error(
        "no permission to read and write {0}; change its owner or mode, or name another file with --archive"
    )]
    NoPermission(PathBuf),
    /// The file or its directory cannot be written.
    #[error(
        "cannot write archive {0}: it or its directory is read-only; make both writable, or name another file \
         with --archive"
    )]
    ReadOnly(PathBuf),
    /// No room left.
    #[error("no space left for archive {0}; free some, or name a file elsewhere with --archive")]
    Full(PathBuf),
    /// The content makes no sense.
    #[error(
        "archive {path} is damaged ({}); restore a copy, or name another file with --archive",
        excerpt(.reason)
    )]
    Damaged {
        /// The archive.
        path: PathBuf,
        /// The contradiction found.
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
    /// Nothing to choose the last run from.
    #[error(
        "archive {path} has no run '{}': it has {count}, not counting published figures; 'keymark runs' lists them",
        excerpt(.wanted)
    )]
    NotSoMany {
        /// The archive.
        path: PathBuf,
        /// The name asked for.
        wanted: String,
        /// Number of runs.
        count: u32,
    },
    /// No run of that name.
    #[error("archive {path} has no run '{}'; 'keymark runs' lists its runs", excerpt(.wanted))]
    NoSuchRun {
        /// The archive.
        path: PathBuf,
        /// The name asked for.
        wanted: String,
    },
    /// The beginning of several names.
    #[error(
        "{count} runs begin with '{}' ({}); give more of the name",
        excerpt(.prefix), excerpt(.examples)
    )]
    Ambiguous {
        /// The name asked for.
        prefix: String,
        /// Number of matches.
        count: usize,
        /// Some of the matches.
        examples: String,
    },
    /// A series, where one run is wanted.
    #[error("{} is a series; name one of its runs, which 'keymark runs' lists", excerpt(.wanted))]
    NotOneRun {
        /// The name asked for.
        wanted: String,
    },
    /// A run is twice in a list.
    #[error("{} has the run {} twice; name it once", excerpt(.side), excerpt(.id))]
    Twice {
        /// The run.
        id: String,
        /// The list.
        side: String,
    },
    /// The name is taken.
    #[error(
        "archive {path} has another run {}; put this one in a separate file with --archive",
        excerpt(.id)
    )]
    Exists {
        /// The archive.
        path: PathBuf,
        /// The name.
        id: String,
    },
    /// A server's address that cannot be used.
    #[error("{0}")]
    Address(String),
    /// No connection to the server, or no longer.
    #[error(
        "cannot reach archive {path} ({}); see that its server runs and takes connections from here",
        excerpt(.reason)
    )]
    Unreachable {
        /// The archive.
        path: PathBuf,
        /// Report of the server or the system.
        reason: String,
    },
    /// The server takes no such request from this role.
    #[error(
        "the server of archive {path} refuses: {}; ask its administrator for a role that may (docs/archive.md)",
        excerpt(.reason)
    )]
    Refused {
        /// The archive.
        path: PathBuf,
        /// Report of the server.
        reason: String,
    },
    /// A number that SQLite has no room for.
    #[error("{0} is too large for an archive, and cannot be right; measure again")]
    TooLarge(&'static str),
    /// Any other failure of the database.
    #[error("archive {path}: {}; try again, or name another file with --archive", excerpt(.reason))]
    Database {
        /// The archive.
        path: PathBuf,
        /// Report of SQLite.
        reason: String,
    },
    /// Any other failure of the file system.
    #[error("cannot open archive {path}: {source}; name another file with --archive")]
    Io {
        /// The archive.
        path: PathBuf,
        /// Report of the system.
        source: io::Error,
    },
}

/// An error before the archive's name is added to it.
#[derive(Debug)]
pub(super) enum Fault {
    /// A failure, with the report of the database or the system.
    Failed(Failure, String),
    Refused(ArchiveError),
}

/// A kind of failure that every database has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    Foreign,
    Locked,
    NoPermission,
    ReadOnly,
    Full,
    Damaged,
    Unreachable,
    Refused,
    Other,
}

impl From<ArchiveError> for Fault {
    fn from(error: ArchiveError) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    pub(super) fn of(self, path: &Path) -> ArchiveError {
        let path = path.into();
        match self {
            Self::Refused(error) => error,
            Self::Failed(failure, reason) => match failure {
                Failure::Foreign => ArchiveError::Foreign(path),
                Failure::Locked => ArchiveError::Locked(path),
                Failure::NoPermission => ArchiveError::NoPermission(path),
                Failure::ReadOnly => ArchiveError::ReadOnly(path),
                Failure::Full => ArchiveError::Full(path),
                Failure::Damaged => ArchiveError::Damaged { path, reason },
                Failure::Unreachable => ArchiveError::Unreachable { path, reason },
                Failure::Refused => ArchiveError::Refused { path, reason },
                Failure::Other => ArchiveError::Database { path, reason },
            },
        }
    }

    /// Names the run whose rows are damaged.
    pub(super) fn of_run(self, path: &Path, run: &str) -> Self {
        let Self::Failed(Failure::Damaged, reason) = self else {
            return self;
        };
        let (path, run) = (path.into(), run.to_owned());
        ArchiveError::DamagedRun { path, run, reason }.into()
    }
}

impl ArchiveError {
    #[allow(clippy::wildcard_enum_match_arm, reason = "another library's")]
    pub(super) fn of_io(path: &Path, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::NoPermission(path),
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
            io::ErrorKind::IsADirectory => Self::Foreign(path),
            _ => Self::Io { path, source },
        }
    }
}
