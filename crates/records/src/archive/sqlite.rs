//! An archive in a file of SQLite. An empty file becomes an archive of this version, and another version is refused. A file that
//! cannot be written is read as it is.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params_from_iter};

use super::database::{Database, SampleRow, SqlRow, TransactionStep};
use super::{ArchiveError, ArchiveFailure, PATIENCE, Result, other_version};

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

/// Returns a path that SQLite takes for a file, unlike `:memory:`, an empty name and `file:…`.
fn plain(path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.into();
    }
    Path::new(".").join(path)
}

/// Opens the file, and waits for other programs that make it an archive: while a file changes to a write-ahead log, SQLite calls no
/// busy handler (sqlite.org/c3ref/busy_handler.html).
pub(super) fn open(path: &Path) -> Result<Sqlite> {
    const STEP: Duration = Duration::from_millis(5);
    let attempt = || -> Result<Connection> {
        let mut connection = Connection::open_with_flags(plain(path), PLAIN)?;
        connection.busy_timeout(Duration::ZERO)?;
        prepare(&mut connection, path)?;
        connection.busy_timeout(PATIENCE)?;
        Ok(connection)
    };
    let mut waited = Duration::ZERO;
    loop {
        match attempt() {
            Err(error) if error.failure() == Some(ArchiveFailure::Locked) && waited < PATIENCE => {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            ended => return ended.map(Sqlite).map_err(|error| error.of(path)),
        }
    }
}

/// Returns an archive in memory.
pub(super) fn without_runs() -> Result<Sqlite> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLES)?;
    Ok(Sqlite(connection))
}

/// Makes an empty file an archive. A foreign file, or one of another version, stays as it is.
///
/// With a write-ahead log, a process that is killed loses only the transaction under way, readers
/// do not wait for the writer, and no block waits for the disk.
fn prepare(connection: &mut Connection, path: &Path) -> Result<()> {
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
fn is_archive(connection: &Connection, path: &Path) -> Result<bool> {
    let number = |statement| connection.query_row(statement, (), |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    match (application, version, tables) {
        (0, 0, 0) => Ok(false),
        (APPLICATION_ID, VERSION, _) => Ok(true),
        (APPLICATION_ID, found, _) => Err(other_version(path, found, VERSION)),
        _ => Err(ArchiveError::new(ArchiveFailure::Foreign, "")),
    }
}

/// Opens a file that cannot be written. SQLite reads a write-ahead log only with its index, which it may be unable to make
/// (sqlite.org/wal.html#readonly). Without a log, the file has everything and is read as immutable.
pub(super) fn open_to_read(path: &Path) -> Result<Sqlite> {
    let attempt = |how| attempt(path, how).map_err(|fault| fault.of(path));
    let opened = attempt("mode=ro");
    match opened.as_ref().err().and_then(ArchiveError::failure) {
        Some(ArchiveFailure::ReadOnly) if is_empty(&log(path)) => attempt("immutable=1"),
        Some(ArchiveFailure::ReadOnly) => Err(ArchiveError::Other(format!(
            "a program was killed while it wrote to archive {}, which cannot be repaired where it is read-only; copy it \
             with {} to a directory of yours and name the copy with --archive",
            path.display(),
            log(path).display()
        ))),
        _ => opened,
    }
}

fn attempt(path: &Path, how: &str) -> Result<Sqlite> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address(path, how), flags)?;
    connection.busy_timeout(PATIENCE)?;
    if is_archive(&connection, path)? {
        return Ok(Sqlite(connection));
    }
    // It cannot become one.
    Err(ArchiveError::new(ArchiveFailure::Foreign, ""))
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
        values: &[Value],
        each: &mut dyn FnMut(&SqlRow) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.0.prepare(statement)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = SqlRow(Vec::with_capacity(columns));
        while let Some(row) = rows.next()? {
            found.0.clear();
            for column in 0..columns {
                found.0.push(value(row.get_ref(column)?));
            }
            each(&found)?;
        }
        Ok(())
    }

    fn append(&self, samples: &[SampleRow]) -> Result<()> {
        let insert = "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let mut insert = self.0.prepare(insert)?;
        for sample in samples {
            insert.execute(params_from_iter(sample))?;
        }
        Ok(())
    }

    fn transact(&self, step: TransactionStep) -> Result<()> {
        Ok(self.0.execute_batch(match step {
            TransactionStep::Read => "BEGIN",
            TransactionStep::Write => "BEGIN IMMEDIATE",
            TransactionStep::Commit => "COMMIT",
            TransactionStep::RollBack => "ROLLBACK",
        })?)
    }

    fn set_patience(&self, patience: Duration) -> Result<()> {
        Ok(self.0.busy_timeout(patience)?)
    }
}

/// Damaged text stays readable, so that it hides no other row. Checksums find it.
fn value(found: ValueRef<'_>) -> Value {
    match found {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            Value::Text(String::from_utf8_lossy(text).into_owned())
        }
    }
}

impl From<rusqlite::Error> for ArchiveError {
    #[allow(clippy::wildcard_enum_match_arm, reason = "another library's")]
    fn from(error: rusqlite::Error) -> Self {
        let failure = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => ArchiveFailure::Foreign,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ArchiveFailure::Locked,
            Some(ErrorCode::DiskFull) => ArchiveFailure::Full,
            Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
                ArchiveFailure::NoPermission
            }
            // The file could be opened before, but not the write-ahead log next to it.
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => ArchiveFailure::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt) => ArchiveFailure::Damaged,
            _ => ArchiveFailure::Other,
        };
        Self::new(failure, error)
    }
}
