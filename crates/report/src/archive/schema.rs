//! From an empty file to an archive of this version; another version is refused.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::error::{ArchiveError, Fault};

/// SQLite's mark for whose file this is: "KMRK".
const APPLICATION_ID: i64 = 0x4B4D_524B;

/// The version that this program writes and reads.
const VERSION: u32 = 1;
/// What makes an empty file an archive of that version.
const TABLES: &str = include_str!("1.sql");

/// What a file turns out to be, by SQLite's header.
struct Header {
    application: i64,
    version: i64,
    empty: bool,
}

impl Header {
    /// To be called within a transaction: another process may be writing the header.
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            application: connection.query_row("PRAGMA application_id", (), |row| row.get(0))?,
            version: connection.query_row("PRAGMA user_version", (), |row| row.get(0))?,
            empty: connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", (), |row| {
                row.get(0)
            })?,
        })
    }
}

/// Makes an empty file an archive. One that is no archive, or one of another version, is left as it is.
pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    let snapshot = connection.transaction();
    let header = snapshot.and_then(|snapshot| Header::read(&snapshot))?;
    let content = check(&header, path)?;
    configure(connection)?;
    match content {
        Content::Runs => return Ok(()),
        Content::Nothing => {}
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been quicker.
    match check(&Header::read(&transaction)?, path)? {
        Content::Runs => return Ok(()),
        Content::Nothing => transaction.execute_batch(TABLES)?,
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

/// Whether the file can be read as it is: an empty one cannot.
pub(super) fn check_as_it_is(connection: &Connection, path: &Path) -> Result<(), Fault> {
    match check(&Header::read(connection)?, path)? {
        Content::Runs => Ok(()),
        Content::Nothing => Err(ArchiveError::Foreign(path.into()).into()),
    }
}

/// What is in a file that this program can use.
enum Content {
    Nothing,
    Runs,
}

fn check(header: &Header, path: &Path) -> Result<Content, ArchiveError> {
    match *header {
        Header {
            application: 0,
            version: 0,
            empty: true,
        } => Ok(Content::Nothing),
        Header {
            application: APPLICATION_ID,
            version,
            ..
        } if version == i64::from(VERSION) => Ok(Content::Runs),
        Header {
            application: APPLICATION_ID,
            version,
            ..
        } => Err(ArchiveError::OtherVersion {
            path: path.into(),
            found: version,
            known: VERSION,
        }),
        Header { .. } => Err(ArchiveError::Foreign(path.into())),
    }
}

/// With a write-ahead log, a process that is killed loses only the transaction under way, readers
/// do not wait for the writer, and no block waits for the disk.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)
}
