//! Opens the file of an archive: an empty one becomes an archive of this version, another version is refused, and one
//! that cannot be written (somebody else's, on a medium that is read-only) is read as it is.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{ArchiveError, Fault, PATIENCE, Result};

/// SQLite's mark for whose file this is: "KMRK".
const APPLICATION_ID: i64 = 0x4B4D_524B;

/// The version that this program writes and reads.
const VERSION: i64 = 1;
/// What makes an empty file an archive of that version.
const TABLES: &str = include_str!("1.sql");

/// The usual flags without `SQLITE_OPEN_URI`: the name of an archive is that of a file.
const PLAIN: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_CREATE)
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Returns a name that SQLite takes for a file: `:memory:`, an empty name and, where the library was built so, `file:…` have
/// meanings of their own.
fn plain(path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.into();
    }
    Path::new(".").join(path)
}

/// Two programs that open a new archive at once can both be refused without a wait: while the file
/// changes to a write-ahead log, SQLite asks no busy handler (sqlite.org/c3ref/busy_handler.html).
pub(super) fn connect(path: &Path) -> Result<Connection> {
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

/// Makes an empty file an archive. One that is no archive, or one of another version, is left as it is.
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

/// Whether there are runs in a file, or nothing yet, by SQLite's header. To be called within a transaction: another process
/// may be writing it.
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

/// With a write-ahead log, a reader needs the index beside it, which SQLite makes where it may and takes as it is where
/// it may not (sqlite.org/wal.html#readonly). Where there is neither index nor log, the file holds everything, and is
/// read as one that nobody changes.
pub(super) fn connect_to_read(path: &Path) -> Result<Connection> {
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

/// RFC 8089, with everything escaped that has a meaning there (sqlite.org/uri.html).
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
