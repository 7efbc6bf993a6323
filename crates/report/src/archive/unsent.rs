//! Runs that go to a server are kept on this computer, too, until all of one is there: a connection may be lost.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use keymark_bench::record::RunId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Archive, ArchiveError, Parting, Result};

/// The run, in an archive of its own.
const RUN: &str = "runs.sqlite3";
/// The address of the archive that it is for.
const ADDRESS: &str = "for";
/// What stays as it is in the name of a run's directory.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-');

/// One such run. Whoever writes or sends it has locked its directory.
#[derive(Debug)]
pub struct Unsent {
    /// Has the run, or so much of it as was measured, in the form in which it is sent.
    pub archive: Archive,
    /// The archive that it is for.
    pub to: PathBuf,
    directory: PathBuf,
    _lock: File,
}

impl Unsent {
    /// Where these runs are: `keymark/unsent` in the user's data directory (XDG).
    ///
    /// # Errors
    /// When there is no home directory.
    pub fn place() -> Result<PathBuf> {
        let data = super::data().ok_or(ArchiveError::NoHome)?;
        Ok(data.join("unsent"))
    }

    /// Makes a place for a run that goes to that server.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(place: &Path, run: &RunId, to: &Path) -> Result<Self> {
        let directory = place.join(utf8_percent_encode(&run.0, ESCAPED).to_string());
        let address = directory.join(ADDRESS);
        let lock = || {
            let mut made = DirBuilder::new();
            made.recursive(true).mode(0o700).create(&directory)?;
            let lock = File::open(&directory)?;
            lock.lock()?;
            fs::write(&address, to.as_os_str().as_encoded_bytes())?;
            Ok(lock)
        };
        let lock = lock().map_err(|error| ArchiveError::of_io(&directory, error))?;
        Self::locked(directory, to.into(), lock)
    }

    fn locked(directory: PathBuf, to: PathBuf, lock: File) -> Result<Self> {
        let mut archive = Archive::open(&directory.join(RUN))?;
        archive.parting = Some(Parting::default());
        Ok(Self {
            archive,
            to,
            directory,
            _lock: lock,
        })
    }

    /// The directories of all of them, the oldest first.
    ///
    /// # Errors
    /// When the place cannot be read.
    pub fn all(place: &Path) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(place) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.and_then(Iterator::collect::<Result<Vec<_>, _>>),
        };
        let entries = entries.map_err(|error| ArchiveError::of_io(place, error))?;
        let mut all: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
        all.sort();
        Ok(all)
    }

    /// The one in that directory, unless another keymark is writing or sending it, or has sent it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(directory: PathBuf) -> Result<Option<Self>> {
        let lock = File::open(&directory).ok();
        let Some(lock) = lock.filter(|lock| lock.try_lock().is_ok()) else {
            return Ok(None);
        };
        match fs::read_to_string(directory.join(ADDRESS)) {
            Ok(to) => Self::locked(directory, to.into(), lock).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Sends what is not there yet, without doubles, and forgets it here.
    ///
    /// # Errors
    /// When it cannot be read, or the other archive does not take it; then it stays here.
    pub fn send(self, to: &mut Archive) -> Result<()> {
        for run in self.archive.runs()? {
            let parted = self.archive.ask(|_| self.archive.load_parted(&run.id.0))?;
            to.insert_parted(&parted)?;
        }
        self.forget()
    }

    /// Removes it here.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn forget(self) -> Result<()> {
        let Self {
            archive, directory, ..
        } = self;
        // SQLite removes its log when it closes.
        drop(archive);
        fs::remove_dir_all(&directory).map_err(|error| ArchiveError::of_io(&directory, error))
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
