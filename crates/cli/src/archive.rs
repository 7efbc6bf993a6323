//! The user's archive: where it is.

use std::path::PathBuf;

use keymark_report::archive::{Archive, ArchiveError};

/// The one that is named, or the usual one.
pub(crate) fn open(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    Archive::open(&place(named)?)
}

/// For who changes nothing in it.
pub(crate) fn open_to_read(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    Archive::open_to_read(&place(named)?)
}

fn place(named: Option<&PathBuf>) -> Result<PathBuf, ArchiveError> {
    named.cloned().map_or_else(Archive::default_path, Ok)
}
