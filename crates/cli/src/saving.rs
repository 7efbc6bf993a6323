//! Saving of runs in the archive. A run for a server is also written on this computer, and stays until all of it is there.

use std::path::PathBuf;

use keymark_bench::{Record, RunId, RunState};
use keymark_records::archive::{Archive, ArchiveError, Identity, RunWriter, Unsent};

use crate::archive::of_this_machine;
use crate::archive::{open_with_identity, place};
use crate::output;

/// The archives of a run.
pub(crate) struct Saving {
    unsent: Option<Unsent>,
    archive: Result<Archive, ArchiveError>,
}

/// Writers of a run, or errors.
pub(crate) type Writers<'a> = Vec<Result<RunWriter<'a>, String>>;

impl Saving {
    pub(crate) fn open(named: Option<&PathBuf>, run: &RunId, identity: Identity) -> Self {
        let archive = place(named).and_then(|place| open_with_identity(&place, identity));
        let newest = archive
            .as_ref()
            .ok()
            .and_then(|archive| archive.newest_start().ok()?);
        if let Some(newest) = newest.filter(|newest| *newest > jiff::Timestamp::now()) {
            output::warning(&format!(
                "this machine's clock is before the newest run of the archive, of {newest}: 'last' is that run, and this one \
                 is shown by its name. Set the clock"
            ));
        }
        // An invalid address gets no copy.
        let is_address = !matches!(archive, Err(ArchiveError::Address(_)));
        let to = place(named).ok();
        let to = to.filter(|to| is_address && Archive::is_on_a_server(to));
        let unsent = to.and_then(|to| {
            let made = Unsent::place().and_then(|place| Unsent::new(&place, run, &to));
            let mut made = made.map_err(|error| warn(&error.to_string())).ok()?;
            made.archive.set_identity(identity, of_this_machine);
            Some(made)
        });
        Self { unsent, archive }
    }

    /// Begins with the local copy, which never has less than the server.
    pub(crate) fn begin(&mut self, head: &Record) -> Writers<'_> {
        let here = self.unsent.iter_mut().map(|unsent| Ok(&mut unsent.archive));
        let archive = self.archive.as_mut().map_err(|error| error.to_string());
        let begun = here.chain([archive]).map(|archive| {
            let begun = archive.and_then(|to| to.begin(head).map_err(|error| error.to_string()));
            begun.inspect_err(|error| warn(error))
        });
        begun.collect()
    }

    /// Saves a complete run.
    pub(crate) fn insert(mut self, record: &Record) -> Result<(), String> {
        let archive = match &mut self.unsent {
            Some(unsent) => Ok(&mut unsent.archive),
            None => self.archive.as_mut().map_err(|error| error.to_string()),
        };
        let first = archive.and_then(|to| to.insert(record).map_err(|error| error.to_string()));
        self.conclude(first)
    }

    /// Sends the server the missing part of the run.
    pub(crate) fn conclude(self, written: Result<(), String>) -> Result<(), String> {
        let Some(unsent) = self.unsent else {
            return written;
        };
        let place = unsent.directory.display().to_string();
        let sent = Archive::open(&unsent.to).and_then(|mut to| unsent.send(&mut to));
        written.and(sent.map_err(|error| {
            format!("{error}; it is kept in {place}, and 'keymark push' sends it")
        }))
    }
}

fn warn(error: &str) {
    output::warning(&format!(
        "{error}; the run continues without being saved there"
    ));
}

/// Ends a run. One successful writer is enough.
pub(crate) fn finish(writers: Writers<'_>, state: RunState) -> Result<(), String> {
    let finished = writers.into_iter().map(|writer| {
        let writer = writer?;
        if !writer.is_up_to_date() {
            output::note("another program has locked the archive; waiting for it");
        }
        writer.finish(state).map_err(|error| error.to_string())
    });
    finished.reduce(Result::or).unwrap_or(Ok(()))
}
