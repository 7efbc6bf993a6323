//! Why the archive refuses, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ErrorCode;

use keymark_bench::outside::visible::excerpt;

/// What can go wrong with the archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Neither `$KEYMARK_ARCHIVE` nor a home directory.
    #[error("no home directory for the archive; set HOME, or name a file with --archive")]
    NoHome,
    /// Some other file.
    #[error("{0} is not a keymark archive; name another file with --archive")]
    Foreign(PathBuf),
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
        /// What is not in it yet.
        log: PathBuf,
    },
    /// Another process writes.
    #[error(
        "another program has locked archive {0}; wait for it, or name another file with --archive"
    )]
    Locked(PathBuf),
    /// The file or its directory belongs to somebody else.
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
        /// How that was seen.
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
        /// How that was seen.
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
        /// What was asked for.
        wanted: String,
        /// How many there are.
        count: u32,
    },
    /// No run of that name.
    #[error("archive {path} has no run '{}'; 'keymark runs' lists its runs", excerpt(.wanted))]
    NoSuchRun {
        /// The archive.
        path: PathBuf,
        /// What was asked for.
        wanted: String,
    },
    /// The beginning of several names.
    #[error(
        "{count} runs begin with '{}' ({}); give more of the name",
        excerpt(.prefix), excerpt(.examples)
    )]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// How many fit.
        count: usize,
        /// Some that do.
        examples: String,
    },
    /// A series, where one run is wanted.
    #[error("{} is a series; name one of its runs, which 'keymark runs' lists", excerpt(.wanted))]
    NotOneRun {
        /// What was asked for.
        wanted: String,
    },
    /// A run stands twice in a list.
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
        /// What the server or the system reports.
        reason: String,
    },
    /// The server takes no such request from this role.
    #[error(
        "the server of archive {path} refuses: {}; ask whoever keeps it for a role that may (docs/archive.md)",
        excerpt(.reason)
    )]
    Refused {
        /// The archive.
        path: PathBuf,
        /// What the server reports.
        reason: String,
    },
    /// A number that SQLite has no room for.
    #[error("{0} is too large for an archive, and cannot be right; measure again")]
    TooLarge(&'static str),
    /// Any other failure of the database.
    #[error("archive {path}: {source}; try again, or name another file with --archive")]
    Database {
        /// The archive.
        path: PathBuf,
        /// What SQLite reports.
        source: rusqlite::Error,
    },
    /// Any other failure of the file system.
    #[error("cannot open archive {path}: {source}; name another file with --archive")]
    Io {
        /// The archive.
        path: PathBuf,
        /// What the system reports.
        source: io::Error,
    },
}

/// The same, where only whoever asked knows of which file.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Server(#[from] tokio_postgres::Error),
    #[error("no answer for {} s", .0.as_secs())]
    Silent(Duration),
    #[error("its answer is larger than any archive's")]
    Endless,
    #[error("error connecting to server: {0}")]
    NoConnection(#[from] io::Error),
    #[error(transparent)]
    Refused(#[from] ArchiveError),
}

impl Fault {
    pub(super) fn of(self, path: &Path) -> ArchiveError {
        match self {
            Self::Sql(error) => ArchiveError::of_sqlite(path, error),
            Self::Server(error) => ArchiveError::of_postgres(path, &error),
            Self::Silent(_) | Self::Endless | Self::NoConnection(_) => ArchiveError::Unreachable {
                path: path.into(),
                reason: self.to_string(),
            },
            Self::Refused(error) => error,
        }
    }

    /// The same, where what is damaged is that run's.
    pub(super) fn of_run(self, path: &Path, run: &str) -> Self {
        let refused = self.of(path);
        let ArchiveError::Damaged { path, reason } = refused else {
            return Self::Refused(refused);
        };
        let run = run.to_owned();
        Self::Refused(ArchiveError::DamagedRun { path, run, reason })
    }
}

impl ArchiveError {
    #[allow(clippy::wildcard_enum_match_arm, reason = "another library's")]
    pub(super) fn of_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::Error;
        let path = path.into();
        match (source.sqlite_error_code(), &source) {
            (Some(ErrorCode::NotADatabase), _) => Self::Foreign(path),
            (Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _) => Self::Locked(path),
            (Some(ErrorCode::DiskFull), _) => Self::Full(path),
            (Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied), _) => {
                Self::NoPermission(path)
            }
            // The file itself could be opened before: what cannot is the write-ahead log beside it.
            (Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen), _) => Self::ReadOnly(path),
            (Some(ErrorCode::DatabaseCorrupt), _)
            | (
                None,
                Error::FromSqlConversionFailure(..)
                | Error::ToSqlConversionFailure(_)
                | Error::IntegralValueOutOfRange(..)
                | Error::InvalidColumnType(..),
            ) => Self::Damaged {
                path,
                reason: source.to_string(),
            },
            _ => Self::Database { path, source },
        }
    }

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
