//! `keymark archive`

use std::path::{Path, PathBuf};

use keymark_report::archive::{Archive, ArchiveError, Identity, RunSelector, Unsent};
use keymark_report::units;

use super::Outcome;
use crate::archive::open_to_tell;
use crate::exit::{Exit, Failure};
use crate::output;

/// Each run by itself: what one archive refuses, another may take.
pub(super) fn push(named: Option<&PathBuf>) -> Outcome {
    let (mut number, mut exit) = (0, Exit::Fine);
    for unsent in Unsent::all(&Unsent::place()?)? {
        let (to, directory) = (named.unwrap_or(&unsent.to), unsent.directory.clone());
        match Archive::open(to).and_then(|mut to| unsent.send(&mut to)) {
            Ok(()) => number += 1,
            Err(error) => {
                output::error(&format!("{} stays: {error}", directory.display()));
                exit = Exit::Failed;
            }
        }
    }
    output::line(&format!("sent {}", units::counted(number, "run")));
    Ok(exit)
}

pub(super) fn copy(from: &Path, to: &Path, identity: Identity) -> Outcome {
    if !Archive::is_on_a_server(from) && !from.exists() {
        let message = format!("there is no archive {}", from.display());
        return Err(Failure::usage(message));
    }
    let (from, mut to) = (Archive::open_to_read(from)?, open_to_tell(to, identity)?);
    let (mut number, mut exit) = (0, Exit::Fine);
    for run in from.runs()?.into_iter().rev() {
        let record = from.load(&RunSelector::Id(run.id.0))?;
        match to.insert(&record) {
            Err(error @ ArchiveError::Exists { .. }) => {
                output::error(&error.to_string());
                exit = Exit::Failed;
            }
            inserted => {
                inserted?;
                number += 1;
            }
        }
    }
    let (runs, path) = (units::counted(number, "run"), to.path().display());
    output::line(&format!("copied {runs} to {path}"));
    Ok(exit)
}
