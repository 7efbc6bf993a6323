//! `keymark archive`

use std::path::{Path, PathBuf};

use keymark_records::archive::{Archive, ArchiveError, Identity, RunSelector, Unsent};
use keymark_report::units;

use super::Outcome;
use crate::archive::{open_with_identity, report_unreadable};
use crate::exit::{Exit, Failure};
use crate::output;

/// Each run by itself: one that cannot be sent keeps no other back.
pub(super) fn push(named: Option<&PathBuf>) -> Outcome {
    let (mut number, mut exit) = (0, Exit::Fine);
    for unsent in Unsent::all(&Unsent::place()?)? {
        let sent = unsent
            .map_err(|error| error.to_string())
            .and_then(|unsent| {
                let (to, directory) = (named.unwrap_or(&unsent.to), unsent.directory.clone());
                let sent = Archive::open(to).and_then(|mut to| unsent.send(&mut to));
                sent.map_err(|error| format!("{} stays: {error}", directory.display()))
            });
        match sent {
            Ok(()) => number += 1,
            Err(error) => {
                output::error(&error);
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
    let (from, mut to) = (
        Archive::open_to_read(from)?,
        open_with_identity(to, identity)?,
    );
    let (mut number, mut exit) = (0, Exit::Fine);
    for run in from.runs()?.into_iter().rev() {
        let id = run.id.0.clone();
        let record = from.load(&RunSelector::Id(run.id.0));
        match record.and_then(|record| to.insert(&record)) {
            Ok(()) => number += 1,
            // The next one would only wait for the same.
            Err(error @ (ArchiveError::Unreachable { .. } | ArchiveError::Full(_))) => {
                return Err(error.into());
            }
            Err(error) => {
                output::error(&format!("run {id} was not copied: {error}"));
                exit = Exit::Failed;
            }
        }
    }
    let exit = report_unreadable(&from, exit);
    let (runs, path) = (units::counted(number, "run"), to.path().display());
    output::line(&format!("copied {runs} to {path}"));
    Ok(exit)
}
