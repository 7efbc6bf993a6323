//! The archive keeps every run with every sample, in an SQLite file or in a team's PostgreSQL database. Users can query both
//! themselves: `1.sql` documents the tables.

mod address;
mod database;
mod earlier;
mod error;
mod guard;
mod identity;
mod newest;
mod postgresql;
mod reader;
mod rows;
mod seal;
mod select;
mod sqlite;
mod unsent;
mod writer;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::base_strategy::{BaseStrategy, Xdg};
use keymark_bench::Outcome;

use database::Database;
use identity::Redaction;
use postgresql::Postgres;

pub use earlier::LastMeans;
pub use error::{ArchiveError, ArchiveFailure};
pub use identity::Identity;
pub use reader::RunLine;
pub use select::{RunSelector, SelectorError, SideSelector};
pub use unsent::Unsent;
pub use writer::RunWriter;

type Result<T, E = ArchiveError> = std::result::Result<T, E>;

/// Longest wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Octets of SQLite's smallest page (sqlite.org/fileformat.html).
const SMALLEST_PAGE: u64 = 512;

/// An archive of runs.
#[derive(Debug)]
pub struct Archive {
    database: Box<dyn Database>,
    path: PathBuf,
    /// Redaction of records; none in a file.
    redaction: Option<Redaction>,
    /// Names of damaged runs found so far, with reasons.
    unreadable: RefCell<BTreeMap<String, String>>,
}

impl Archive {
    /// Returns `$KEYMARK_ARCHIVE`, or `keymark/runs.sqlite3` in the user's data directory (XDG).
    ///
    /// # Errors
    /// When there is neither that variable nor a home directory.
    pub fn default_path() -> Result<PathBuf> {
        choose_path(env::var_os("KEYMARK_ARCHIVE"), data).ok_or_else(no_home)
    }

    /// Opens the archive in the file or on the server. A missing file is made with its directories.
    ///
    /// # Errors
    /// When the file is no archive, is of another version or locked, or cannot be read and written.
    pub fn open(path: &Path) -> Result<Self> {
        if Self::is_on_a_server(path) {
            let server = Postgres::connect(path).map_err(|fault| fault.of(path))?;
            return Ok(Self::of(path, Box::new(server), Some(Redaction::default())));
        }
        let refused = |error| ArchiveError::of_io(path, &error);
        // Private: serial numbers and labels of devices are in it. SQLite gives its log the same mode.
        if let Some(directory) = path.parent() {
            let mut made = fs::DirBuilder::new();
            made.recursive(true)
                .mode(0o700)
                .create(directory)
                .map_err(refused)?;
        }
        // The system says precisely why a file cannot be opened; SQLite says only that it cannot.
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .map_err(refused)?;
        // SQLite takes what is shorter than any page for an empty file, and writes over it.
        let length = file.metadata().map_err(refused)?.len();
        if (1..SMALLEST_PAGE).contains(&length) {
            return Err(ArchiveError::new(ArchiveFailure::Foreign, "").of(path));
        }
        Ok(Self::of(path, Box::new(sqlite::open(path)?), None))
    }

    /// Opens the archive for reading, also if it cannot be written. A file that does not exist is not made, and has no runs.
    ///
    /// # Errors
    /// As for [`Archive::open`], and when an archive that cannot be written has an unfinished log.
    pub fn open_to_read(path: &Path) -> Result<Self> {
        if !Self::is_on_a_server(path) && matches!(path.try_exists(), Ok(false)) {
            return Ok(Self::of(path, Box::new(sqlite::without_runs()?), None));
        }
        match Self::open(path) {
            Err(ArchiveError::Failed {
                failure: ArchiveFailure::NoPermission | ArchiveFailure::ReadOnly,
                ..
            }) if File::open(path).is_ok() => {
                let file = sqlite::open_to_read(path)?;
                Ok(Self::of(path, Box::new(file), None))
            }
            opened => opened,
        }
    }

    fn of(path: &Path, database: Box<dyn Database>, redaction: Option<Redaction>) -> Self {
        Self {
            database,
            path: path.into(),
            redaction,
            unreadable: RefCell::default(),
        }
    }

    /// Tells addresses (`postgresql://…`, `service=…`) from files. An address of another kind counts also, but cannot be opened.
    pub fn is_on_a_server(path: &Path) -> bool {
        address::is_address(path)
    }

    /// Returns the file, or the server's address as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Uses the database, and adds the archive's name to errors.
    fn ask<T>(&self, what: impl FnOnce(&dyn Database) -> Result<T>) -> Result<T> {
        what(&*self.database).map_err(|fault| fault.of(&self.path))
    }
}

fn no_home() -> ArchiveError {
    let text = "no home directory for the archive; set HOME, or name a file with --archive";
    ArchiveError::Other(text.to_owned())
}

/// Refuses an archive that another version of keymark wrote.
fn other_version(path: &Path, found: i64, known: i64) -> ArchiveError {
    ArchiveError::Other(format!(
        "archive {} has version {found}, but this keymark reads version {known} only; use the keymark that wrote it, or \
         name another file with --archive",
        path.display()
    ))
}

/// Returns the user's data directory (XDG).
fn data() -> Option<PathBuf> {
    Some(Xdg::new().ok()?.data_dir().join("keymark"))
}

fn choose_path(named: Option<OsString>, data: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    match named.filter(|name| !name.is_empty()) {
        Some(name) => Some(name.into()),
        None => Some(data()?.join("runs.sqlite3")),
    }
}

/// Returns the number for the column `sample.outcome`.
const fn outcome_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Done => 0,
        Outcome::Failed => 1,
        Outcome::Wrong => 2,
    }
}

#[cfg(test)]
pub(crate) mod tests;
