//! The user's archive: where it is.

use std::path::{Path, PathBuf};

use keymark_bench::{Record, RunState};
use keymark_report::archive::{Archive, ArchiveError, Identity, RunSelector};

use crate::exit::Failure;
use crate::personal::of_this_machine;

/// Runs whose figures are read where nobody names one.
const RUNS: usize = 20;

/// The one that is named, or the usual one.
pub(crate) fn open(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    open_to_tell(&place(named)?, Identity::Hidden)
}

/// For who tells it of whose runs are.
pub(crate) fn open_to_tell(place: &Path, identity: Identity) -> Result<Archive, ArchiveError> {
    let mut archive = Archive::open(place)?;
    archive.tell(identity, of_this_machine);
    Ok(archive)
}

/// For who changes nothing in it.
pub(crate) fn open_to_read(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    Archive::open_to_read(&place(named)?)
}

/// Those with figures of their own, the newest first.
pub(crate) fn newest(archive: &Archive) -> Result<Vec<Record>, Failure> {
    let mut lines = archive.runs()?;
    lines.retain(|line| line.state != RunState::Published && line.samples > 0);
    let newest = lines.iter().take(RUNS);
    let load = |id: &str| archive.load(&RunSelector::Id(id.to_owned()));
    newest.map(|line| Ok(load(&line.id.0)?)).collect()
}

pub(crate) fn place(named: Option<&PathBuf>) -> Result<PathBuf, ArchiveError> {
    named.cloned().map_or_else(Archive::default_path, Ok)
}
