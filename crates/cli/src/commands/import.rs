//! `keymark import`

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use keymark_records::archive::{Archive, ArchiveFailure, RunSelector};
use keymark_records::exchange;
use keymark_report::units;

use crate::archive::{open_with_identity, place, report_unreadable};
use crate::args::ImportArguments;
use crate::exit::{Exit, Outcome};
use crate::{documents, output};

/// First bytes of an archive that is a file (SQLite, "Database File Format", 1.3.1).
const SQLITE: &[u8; 16] = b"SQLite format 3\0";

pub(super) fn run(arguments: &ImportArguments, archive: Option<&PathBuf>) -> Outcome {
    // The source is read first: what cannot be imported makes no archive.
    let target = || open_with_identity(&place(archive)?, arguments.identity.wanted());
    if is_archive(&arguments.source) {
        let source = Archive::open_to_read(&arguments.source)?;
        return copy(&source, &mut target()?);
    }
    let record = exchange::import(&arguments.source)?;
    documents::check(&record)?;
    target()?.insert(&record)?;
    output::line(&documents::imported(&record));
    Ok(Exit::Fine)
}

fn is_archive(source: &Path) -> bool {
    let mut beginning = [0; SQLITE.len()];
    let mut begins = |path| File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    Archive::is_on_a_server(source) || (begins(source).is_ok() && beginning == *SQLITE)
}

/// Copies every run of another archive; existing runs stay.
fn copy(from: &Archive, to: &mut Archive) -> Outcome {
    let (mut number, mut exit) = (0, Exit::Fine);
    for run in from.runs()?.into_iter().rev() {
        let id = run.id.0.clone();
        let record = from.load(&RunSelector::Id(run.id.0));
        match record.and_then(|record| to.insert(&record)) {
            Ok(()) => number += 1,
            // The next one would only wait for the same.
            Err(error)
                if matches!(
                    error.failure(),
                    Some(ArchiveFailure::Unreachable | ArchiveFailure::Full)
                ) =>
            {
                return Err(error.into());
            }
            Err(error) => {
                output::error(&format!("run {id} was not copied: {error}"));
                exit = Exit::Failed;
            }
        }
    }
    let exit = report_unreadable(from, exit);
    let (runs, path) = (units::counted(number, "run"), to.path().display());
    output::line(&format!("copied {runs} to {path}"));
    Ok(exit)
}
