//! `keymark archive`

use std::path::{Path, PathBuf};

use keymark_report::archive::{Archive, ArchiveError, Identity, RunSelector, Unsent};

use super::Outcome;
use crate::archive::open_to_tell;
use crate::exit::{Exit, Failure};
use crate::output;

/// Each run by itself: what one archive refuses, another may take.
pub(super) fn push(named: Option<&PathBuf>) -> Outcome {
    let sent = |directory: &PathBuf| -> Result<bool, ArchiveError> {
        let Some(unsent) = Unsent::open(directory.clone())? else {
            return Ok(false);
        };
        let to = named.unwrap_or(&unsent.to).clone();
        unsent.send(&mut Archive::open(&to)?)?;
        Ok(true)
    };
    let (mut number, mut exit) = (0, Exit::Fine);
    for directory in Unsent::all(&Unsent::place()?)? {
        match sent(&directory) {
            Ok(sent) => number += u32::from(sent),
            Err(error) => {
                output::error(&format!("{} stays: {error}", directory.display()));
                exit = Exit::Failed;
            }
        }
    }
    output::line(&format!("sent {number} runs"));
    Ok(exit)
}

pub(super) fn copy(from: &Path, to: &Path, identity: Identity) -> Outcome {
    if !Archive::is_on_a_server(from) && !from.exists() {
        return Err(Failure::usage(format!(
            "there is no archive {}",
            from.display()
        )));
    }
    let (from, mut to) = (Archive::open_to_read(from)?, open_to_tell(to, identity)?);
    let (runs, mut exit) = (from.runs()?, Exit::Fine);
    for run in runs.iter().rev() {
        let record = from.load(&RunSelector::Id(run.id.0.clone()))?;
        match to.insert(&record) {
            Err(error @ ArchiveError::Exists { .. }) => {
                output::error(&error.to_string());
                exit = Exit::Failed;
            }
            inserted => inserted?,
        }
    }
    let (number, path) = (runs.len(), to.path().display());
    output::line(&format!("copied {number} runs to {path}"));
    Ok(exit)
}
