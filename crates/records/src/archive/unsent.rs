//! Copies of runs that go to a server. A copy stays on this computer until its whole run is there.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use itertools::Itertools;
use keymark_bench::RunId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Archive, ArchiveError, Redaction, Result, no_home};

/// File with the run.
const RUN: &str = "runs.sqlite3";
/// File with the address of its archive.
const ADDRESS: &str = "for";
/// Characters that are escaped in the name of a run's directory.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-');

/// A run that is not sent yet. Its directory is locked while it is written or sent.
#[derive(Debug)]
pub struct Unsent {
    /// Archive with the run as far as measured, redacted for sending.
    pub archive: Archive,
    /// Address of its archive.
    pub to: PathBuf,
    /// Directory of the copy.
    pub directory: PathBuf,
    _lock: File,
}

impl Unsent {
    /// Makes the directory of unsent runs: `keymark/unsent` in the user's data directory (XDG).
    ///
    /// # Errors
    /// When there is no home directory, or nothing can be written there.
    pub fn place() -> Result<PathBuf> {
        let place = super::data().ok_or_else(no_home)?.join("unsent");
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&place);
        made.map_err(|error| ArchiveError::of_io(&place, &error))?;
        Ok(place)
    }

    /// Makes a place for a run that goes to the archive `to`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(place: &Path, run: &RunId, to: &Path) -> Result<Self> {
        let directory = place.join(utf8_percent_encode(&run.0, ESCAPED).to_string());
        let address = directory.join(ADDRESS);
        let lock = || {
            fs::create_dir_all(&directory)?;
            let lock = File::open(&directory)?;
            lock.lock()?;
            fs::write(&address, to.as_os_str().as_encoded_bytes())?;
            Ok(lock)
        };
        let lock = lock().map_err(|error| ArchiveError::of_io(&directory, &error))?;
        Self::locked(directory, to.into(), lock)
    }

    fn locked(directory: PathBuf, to: PathBuf, lock: File) -> Result<Self> {
        let mut archive = Archive::open(&directory.join(RUN))?;
        archive.redaction = Some(Redaction::default());
        Ok(Self {
            archive,
            to,
            directory,
            _lock: lock,
        })
    }

    /// Returns the runs that no other keymark is writing or sending, the oldest first, with errors for damaged ones.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn all(place: &Path) -> Result<Vec<Result<Self>>> {
        let failed = |error| ArchiveError::of_io(place, &error);
        let entries = fs::read_dir(place).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.map_err(failed)?.into_iter();
        let directories = entries.map(|entry| entry.path()).sorted();
        let mut all = Vec::new();
        for directory in directories {
            let lock = File::open(&directory).ok();
            let Some(lock) = lock.filter(|lock| lock.try_lock().is_ok()) else {
                continue;
            };
            match fs::read(directory.join(ADDRESS)) {
                Ok(to) => {
                    let to = PathBuf::from(OsString::from_vec(to));
                    all.push(Self::locked(directory, to, lock));
                }
                // A keymark that was killed before it had anything to keep.
                Err(_) if !directory.join(RUN).exists() => {}
                Err(error) => all.push(Err(ArchiveError::of_io(&directory.join(ADDRESS), &error))),
            }
        }
        Ok(all)
    }

    /// Sends the missing part of the run, and removes the copy.
    ///
    /// # Errors
    /// When the copy cannot be read, or the other archive refuses it. The copy then stays.
    pub fn send(self, to: &mut Archive) -> Result<()> {
        for run in self.archive.runs()? {
            let archive = &self.archive;
            let redacted = archive.ask(|_| archive.load_redacted(&run.id.0))?;
            to.insert_redacted(&redacted)?;
        }
        self.forget()
    }

    /// Removes the copy.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn forget(self) -> Result<()> {
        let removed = fs::remove_dir_all(&self.directory);
        removed.map_err(|error| ArchiveError::of_io(&self.directory, &error))
    }
}
