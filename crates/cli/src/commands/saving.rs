//! How a run gets into the archive while it is under way, and what is said of it at its end.

use std::path::PathBuf;

use keymark_bench::record::{Record, RunState};
use keymark_bench::runner::Observer;
use keymark_bench::stop::Stopped;
use keymark_report::analysis::failures;
use keymark_report::archive::{Archive, RunWriter};

use super::open_archive;
use crate::exit::Exit;
use crate::output;

/// An archive that may not be there: a run is worth more than its archive.
pub(super) struct Saving {
    archive: Option<Archive>,
    error: Option<String>,
}

impl Saving {
    pub(super) fn open(path: Option<&PathBuf>) -> Self {
        match open_archive(path) {
            Ok(archive) => Self {
                archive: Some(archive),
                error: None,
            },
            Err(error) => {
                output::warning(&format!("{error}; the run continues without being saved"));
                Self {
                    archive: None,
                    error: Some(error.to_string()),
                }
            }
        }
    }

    /// Makes a place for the run.
    pub(super) fn begin(&mut self, record: &Record) -> BeingSaved<'_> {
        let mut saved = BeingSaved {
            writer: None,
            error: self.error.take(),
        };
        match self.archive.as_mut().map(|archive| archive.begin(record)) {
            Some(Ok(writer)) => saved.writer = Some(writer),
            Some(Err(refused)) => {
                output::warning(&format!("{refused}; the run continues without being saved"));
                saved.error = Some(refused.to_string());
            }
            None => {}
        }
        saved
    }
}

/// A run that is written down as it goes on.
pub(super) struct BeingSaved<'a> {
    writer: Option<RunWriter<'a>>,
    error: Option<String>,
}

impl BeingSaved<'_> {
    pub(super) fn observer(&mut self) -> Option<&mut dyn Observer> {
        let writer = self.writer.as_mut();
        writer.map(|writer| writer as &mut dyn Observer)
    }

    /// Writes what is not written yet. An error is why the run is not, or not wholly, in the archive.
    pub(super) fn finish(self, state: RunState) -> Result<(), String> {
        let waiting = |writer: &RunWriter<'_>| !writer.is_up_to_date();
        if self.writer.as_ref().is_some_and(waiting) {
            output::note("another program has locked the archive; waiting for it");
        }
        match (self.writer.map(|writer| writer.finish(state)), self.error) {
            (_, Some(error)) => Err(error),
            (Some(Err(error)), None) => Err(error.to_string()),
            _ => Ok(()),
        }
    }
}

/// What is printed at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Its tables, and where it is.
    Tables,
    /// Its tables: it is nowhere.
    Unsaved,
    /// Objects, which have been printed by then.
    Json,
}

impl Told {
    pub(super) const fn of(json: bool, no_save: bool) -> Self {
        match (json, no_save) {
            (true, _) => Self::Json,
            (false, true) => Self::Unsaved,
            (false, false) => Self::Tables,
        }
    }
}

/// Says where the run is and what failed in it.
pub(super) fn conclude(record: &Record, saved: Result<(), String>, told: Told) -> Exit {
    match &saved {
        Err(error) => output::error(&format!("cannot save the run: {error}")),
        Ok(()) if told != Told::Tables => {}
        Ok(()) => output::note(&format!(
            "saved as {}; 'keymark show' shows it again",
            record.id
        )),
    }
    let ended = |stopped| {
        record
            .cases
            .iter()
            .any(|case| case.ending.as_ref().is_some_and(|e| e.stopped == stopped))
    };
    if told == Told::Json {
        let failed = record.cases.iter();
        let failed = failed.filter_map(|case| Some((&case.case, case.failure()?)));
        for warning in failures(failed) {
            output::warning(&warning);
        }
    }
    if record.state == RunState::Interrupted {
        Exit::Interrupted
    } else if ended(Stopped::Failed) || saved.is_err() {
        Exit::Failed
    } else {
        Exit::Fine
    }
}
