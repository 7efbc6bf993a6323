//! The user's archive.

use std::path::{Path, PathBuf};

use keymark_records::archive::{Archive, ArchiveError, Identity};

use crate::exit::Exit;
use crate::output;
use crate::personal::of_this_machine;

/// Opens the named archive, or the default one.
pub(crate) fn open(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    open_with_identity(&place(named)?, Identity::Hidden)
}

/// Opens an archive for runs of this machine.
pub(crate) fn open_with_identity(
    place: &Path,
    identity: Identity,
) -> Result<Archive, ArchiveError> {
    let mut archive = Archive::open(place)?;
    archive.set_identity(identity, of_this_machine);
    Ok(archive)
}

/// Prints an error for each damaged run that was left out of the archive's answers.
pub(crate) fn report_unreadable(archive: &Archive, exit: Exit) -> Exit {
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
