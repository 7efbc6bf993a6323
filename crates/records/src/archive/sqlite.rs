//! An archive in a file of SQLite. An empty file becomes an archive of this version, and another version is refused. A file that
//! cannot be written is read as it is.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, TransactionBehavior, params_from_iter};

use super::database::{Database, SampleRow, SqlRow, SqlValue, TransactionStep};
use super::error::Failure;
use super::{ArchiveError, Fault, PATIENCE, Result};

/// Mark of keymark's files in SQLite's header: "KMRK".
const APPLICATION_ID: i64 = 0x4B4D_524B;

/// Version of the archive that this program reads and writes.
const VERSION: i64 = 1;
const TABLES: &str = include_str!("1.sql");

/// The usual flags without `SQLITE_OPEN_URI`, so that the name is always that of a file.
const PLAIN: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_CREATE)
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// A connection to the file.
#[derive(Debug)]
pub(super) struct Sqlite(Connection);

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self> {
        connect(path).map(Self)
    }

    pub(super) fn open_to_read(path: &Path) -> Result<Self> {
        connect_to_read(path).map(Self)
    }
}

/// Returns a path that SQLite takes for a file, unlike `:memory:`, an empty name and `file:…`.
fn plain(path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.into();
    }
    Path::new(".").join(path)
}

/// Opens the file, and waits for other programs that make it an archive: while a file changes to a write-ahead log, SQLite calls no
/// busy handler (sqlite.org/c3ref/busy_handler.html).
fn connect(path: &Path) -> Result<Connection> {
    const STEP: Duration = Duration::from_millis(5);
    let attempt = || -> Result<Connection, Fault> {
        let mut connection = Connection::open_with_flags(plain(path), PLAIN)?;
        connection.busy_timeout(Duration::ZERO)?;
        prepare(&mut connection, path)?;
        connection.busy_timeout(PATIENCE)?;
        Ok(connection)
    };
    let mut waited = Duration::ZERO;
    loop {
        match attempt().map_err(|fault| fault.of(path)) {
            Err(ArchiveError::Locked(_)) if waited < PATIENCE => {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            ended => return ended,
        }
    }
}

/// Makes an empty file an archive. A foreign file, or one of another version, stays as it is.
///
/// With a write-ahead log, a process that is killed loses only the transaction under way, readers
/// do not wait for the writer, and no block waits for the disk.
fn prepare(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    let snapshot = connection.transaction()?;
    let found = is_archive(&snapshot, path)?;
    drop(snapshot);
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if found {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been quicker.
    if is_archive(&transaction, path)? {
        return Ok(());
    }
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

/// Tells an archive from an empty file by SQLite's header, and refuses other files. Needs a transaction: another process may be
/// writing the header.
fn is_archive(connection: &Connection, path: &Path) -> Result<bool, Fault> {
    let number = |statement| connection.query_row(statement, (), |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    let refused = match (
        application,
        version,
        number("SELECT count(*) FROM sqlite_schema")?,
    ) {
        (0, 0, 0) => return Ok(false),
        (APPLICATION_ID, VERSION, _) => return Ok(true),
        (APPLICATION_ID, found, _) => ArchiveError::OtherVersion {
            path: path.into(),
            found,
            known: VERSION,
        },
        _ => ArchiveError::Foreign(path.into()),
    };
    Err(refused.into())
}

/// Opens a file that cannot be written. SQLite reads a write-ahead log only with its index, which it may be unable to make
/// (sqlite.org/wal.html#readonly). Without a log, the file has everything and is read as immutable.
fn connect_to_read(path: &Path) -> Result<Connection> {
    let attempt = |how| attempt(path, how).map_err(|fault| fault.of(path));
    match attempt("mode=ro") {
        Err(ArchiveError::ReadOnly(_)) if is_empty(&log(path)) => attempt("immutable=1"),
        Err(ArchiveError::ReadOnly(_)) => Err(ArchiveError::Unfinished {
            path: path.into(),
            log: log(path),
        }),
        ended => ended,
    }
}

fn attempt(path: &Path, how: &str) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address(path, how), flags)?;
    connection.busy_timeout(PATIENCE)?;
    if is_archive(&connection, path)? {
        return Ok(connection);
    }
    // It cannot become one.
    Err(ArchiveError::Foreign(path.into()).into())
}

/// Returns a `file:` address (RFC 8089) with special characters escaped (sqlite.org/uri.html).
fn address(path: &Path, how: &str) -> String {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'-')
        .remove(b'_')
        .remove(b'.');
    let path = percent_encode(path.as_os_str().as_bytes(), ESCAPED);
    format!("file:{path}?{how}")
}

fn log(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

fn is_empty(log: &Path) -> bool {
    log.metadata().map_or(true, |found| found.len() == 0)
}

impl Database for Sqlite {
    fn query(
        &self,
        statement: &str,
        values: &[SqlValue],
        each: &mut dyn FnMut(&SqlRow) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut statement = self.0.prepare(statement)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = SqlRow(Vec::with_capacity(columns));
        while let Some(row) = rows.next()? {
            found.0.clear();
            for column in 0..columns {
                found.0.push(row.get_ref(column)?.into());
            }
            each(&found)?;
        }
        Ok(())
    }

    fn append(&self, samples: &[SampleRow]) -> Result<(), Fault> {
        let insert = "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let mut insert = self.0.prepare(insert)?;
        for sample in samples {
            insert.execute(params_from_iter(sample))?;
        }
        Ok(())
    }

    fn transact(&self, step: TransactionStep) -> Result<(), Fault> {
        Ok(self.0.execute_batch(match step {
            TransactionStep::Read => "BEGIN",
            TransactionStep::Write => "BEGIN IMMEDIATE",
            TransactionStep::Commit => "COMMIT",
            TransactionStep::RollBack => "ROLLBACK",
        })?)
    }

    fn set_patience(&self, patience: Duration) -> Result<(), Fault> {
        Ok(self.0.busy_timeout(patience)?)
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl From<ValueRef<'_>> for SqlValue {
    /// Damaged text stays readable, so that it hides no other row. Checksums find it.
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) | ValueRef::Blob(text) => {
                Self::Text(String::from_utf8_lossy(text).into_owned())
            }
        }
    }
}

impl From<rusqlite::Error> for Fault {
    #[allow(clippy::wildcard_enum_match_arm, reason = "another library's")]
    fn from(error: rusqlite::Error) -> Self {
        let failure = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Failure::Foreign,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Failure::Locked,
            Some(ErrorCode::DiskFull) => Failure::Full,
            Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
                Failure::NoPermission
            }
            // The file could be opened before, but not the write-ahead log next to it.
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => Failure::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt) => Failure::Damaged,
            _ => Failure::Other,
        };
        Self::Failed(failure, error.to_string())
    }
}
