//! From an empty file, or an archive of any older version, to one of this version.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::error::ArchiveError;

/// SQLite's mark for whose file this is: "KMRK".
const APPLICATION_ID: i64 = 0x4B4D_524B;

/// The statement at index `n` leads from version `n` to `n + 1`; 0 is an empty file. What was
/// released is never changed: an older archive must still get here.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("1.sql"),
    include_str!("2.sql"),
    include_str!("3.sql"),
    include_str!("4.sql"),
    include_str!("5.sql"),
    include_str!("6.sql"),
    include_str!("7.sql"),
    include_str!("8.sql"),
    include_str!("9.sql"),
];

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

/// Brings the file to the version that `migrations` lead to. A file that is no archive, or one of a
/// newer version, is left as it is.
pub(super) fn prepare(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
) -> Result<(), ArchiveError> {
    let failed = |error| ArchiveError::of_sqlite(path, error);
    let known = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    let header = connection
        .transaction()
        .and_then(|snapshot| Header::read(&snapshot))
        .map_err(failed)?;
    let version = check(&header, path, known)?;
    configure(connection).map_err(failed)?;
    if version == known {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    // Another process may have been quicker.
    let version = check(&Header::read(&transaction).map_err(failed)?, path, known)?;
    for migration in &migrations[version as usize..] {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(failed)?;
    transaction
        .pragma_update(None, "user_version", known)
        .map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Whether the file can be read without being brought to the newest version.
pub(super) fn check_as_it_is(connection: &Connection, path: &Path) -> Result<(), ArchiveError> {
    let header = Header::read(connection).map_err(|error| ArchiveError::of_sqlite(path, error))?;
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    match check(&header, path, known)? {
        version if version == known => Ok(()),
        found => Err(ArchiveError::Older {
            path: path.into(),
            found,
            known,
        }),
    }
}

/// The version of an archive that this program can read.
fn check(header: &Header, path: &Path, known: u32) -> Result<u32, ArchiveError> {
    let Header {
        application,
        version,
        empty,
    } = *header;
    if application != APPLICATION_ID && !(application == 0 && version == 0 && empty) {
        return Err(ArchiveError::Foreign(path.into()));
    }
    match u32::try_from(version) {
        Ok(version) if version <= known => Ok(version),
        _ => Err(ArchiveError::Newer {
            path: path.into(),
            found: version,
            known,
        }),
    }
}

/// With a write-ahead log, a process that is killed loses only the transaction under way, readers
/// do not wait for the writer, and no block waits for the disk.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(connection: &Connection) -> i64 {
        Header::read(connection).unwrap().version
    }

    #[test]
    fn each_older_version_is_led_to_the_newest() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.sqlite3");
        let migrations = [
            "CREATE TABLE a (x)",
            "ALTER TABLE a RENAME TO b",
            "INSERT INTO b VALUES (3)",
        ];
        for upto in 0..=3 {
            let mut connection = Connection::open(&path).unwrap();
            prepare(&mut connection, &path, &migrations[..upto]).unwrap();
            assert_eq!(version(&connection), upto as i64);
        }
        let connection = Connection::open(&path).unwrap();
        let x: u32 = connection
            .query_row("SELECT x FROM b", (), |row| row.get(0))
            .unwrap();
        assert_eq!(x, 3);
    }

    #[test]
    fn a_failing_migration_leaves_the_archive_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.sqlite3");
        let mut connection = Connection::open(&path).unwrap();
        prepare(&mut connection, &path, &["CREATE TABLE a (x)"]).unwrap();
        let broken = ["CREATE TABLE a (x)", "DROP TABLE a; DROP TABLE nowhere"];
        prepare(&mut connection, &path, &broken).unwrap_err();
        assert_eq!(version(&connection), 1);
        connection.execute("INSERT INTO a VALUES (1)", ()).unwrap();
    }
}
