//! The user's archive: where it is.

use std::path::{Path, PathBuf};

use keymark_records::archive::{Archive, ArchiveError, Identity};

use crate::exit::Exit;
use crate::output;
use crate::personal::of_this_machine;

/// The one that is named, or the usual one.
pub(crate) fn open(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    open_to_tell(&place(named)?, Identity::Hidden)
}

/// Opens an archive that is told whose runs are.
pub(crate) fn open_to_tell(place: &Path, identity: Identity) -> Result<Archive, ArchiveError> {
    let mut archive = Archive::open(place)?;
    archive.tell(identity, of_this_machine);
    Ok(archive)
}

/// Names each run that was left out of what the archive was asked, because it cannot be read.
pub(crate) fn told(archive: &Archive, exit: Exit) -> Exit {
    let unreadable = archive.unreadable();
    for run in &unreadable {
        output::error(&run.to_string());
    }
    if unreadable.is_empty() {
        exit
    } else {
        exit.and_incomplete()
    }
}

pub(crate) fn open_to_read(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    Archive::open_to_read(&place(named)?)
}

pub(crate) fn place(named: Option<&PathBuf>) -> Result<PathBuf, ArchiveError> {
    named.cloned().map_or_else(Archive::default_path, Ok)
}
