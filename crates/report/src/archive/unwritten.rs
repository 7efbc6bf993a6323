//! An archive that cannot be written: somebody else's, on a medium that is read-only.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::{ArchiveError, Fault, PATIENCE, Result, schema};

/// With a write-ahead log, a reader needs the index beside it, which SQLite makes where it may and takes as it is where
/// it may not (sqlite.org/wal.html#readonly). Where there is neither index nor log, the file holds everything, and is
/// read as one that nobody changes.
pub(super) fn connect(path: &Path) -> Result<Connection> {
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
    schema::check_as_it_is(&connection, path)?;
    Ok(connection)
}

/// RFC 8089, with everything escaped that has a meaning there (sqlite.org/uri.html).
fn address(path: &Path, how: &str) -> String {
    let mut address = String::from("file:");
    for &octet in path.as_os_str().as_bytes() {
        if octet.is_ascii_alphanumeric() || b"/-_.".contains(&octet) {
            address.push(char::from(octet));
        } else {
            // To a text nothing fails.
            let _ = write!(address, "%{octet:02X}");
        }
    }
    address + "?" + how
}

fn log(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

fn is_empty(log: &Path) -> bool {
    log.metadata().map_or(true, |found| found.len() == 0)
}
