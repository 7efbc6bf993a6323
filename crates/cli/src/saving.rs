//! Where a run is put: into the archive. What goes to a server is written here as well, and stays if it does not get there.

use std::path::PathBuf;

use keymark_bench::record::{Record, RunId, RunState};
use keymark_bench::runner::Observer;
use keymark_report::archive::{Archive, ArchiveError, Identity, RunWriter, Unsent};

use crate::archive::{self, open_to_tell};
use crate::output;
use crate::personal::of_this_machine;

/// The places of one run.
pub(crate) struct Saving {
    archive: Result<Archive, String>,
    unsent: Option<Unsent>,
}

/// Write the run while it is under way.
pub(crate) struct Writers<'a> {
    here: Option<RunWriter<'a>>,
    archive: Result<RunWriter<'a>, String>,
}

impl Saving {
    pub(crate) fn open(named: Option<&PathBuf>, run: &RunId, identity: Identity) -> Self {
        let opened = archive::place(named).and_then(|place| open_to_tell(&place, identity));
        // Nothing is ever sent to an address that is none.
        let is_address = !matches!(opened, Err(ArchiveError::Address(_)));
        let place = archive::place(named).ok();
        let place = place.filter(|place| is_address && Archive::is_on_a_server(place));
        let unsent = place.and_then(|to| {
            let made = Unsent::place().and_then(|place| Unsent::new(&place, run, &to));
            let warn = |error: &ArchiveError| {
                output::warning(&format!("{error}; what cannot be sent will be lost"));
            };
            let mut made = made.inspect_err(warn).ok()?;
            made.archive.tell(identity, of_this_machine());
            Some(made)
        });
        Self {
            archive: opened.map_err(|error| error.to_string()),
            unsent,
        }
    }

    /// The copy here is the first to be written: it never has less than the server.
    pub(crate) fn begin(&mut self, head: &Record) -> Writers<'_> {
        let here = self.unsent.as_mut();
        let here = here.and_then(|unsent| unsent.archive.begin(head).ok());
        let archive = match &mut self.archive {
            Ok(archive) => archive.begin(head).map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        };
        if let Err(error) = &archive {
            let how = match here {
                Some(_) => "and is kept on this computer",
                None => "without being saved",
            };
            output::warning(&format!("{error}; the run continues {how}"));
        }
        Writers { here, archive }
    }

    /// Puts a run that is complete into the archive.
    pub(crate) fn insert(mut self, record: &Record) -> Result<(), String> {
        let here = self.unsent.as_mut();
        let here = here.is_some_and(|unsent| unsent.archive.insert(record).is_ok());
        let saved = match &mut self.archive {
            Ok(archive) => archive.insert(record).map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        };
        self.conclude(here, saved)
    }

    /// What was written is sent once more if it did not get to the server: that may be back.
    pub(crate) fn conclude(self, here: bool, saved: Result<(), String>) -> Result<(), String> {
        match (self.unsent.filter(|_| here || saved.is_ok()), saved) {
            (Some(unsent), Ok(())) => unsent.forget().map_err(|error| error.to_string()),
            (Some(unsent), Err(error)) => {
                let directory = unsent.directory.display();
                let kept = format!(
                    "{error}; it is kept in {directory}, and 'keymark archive push' sends it"
                );
                let sent =
                    Archive::open(&unsent.to).and_then(|mut archive| unsent.send(&mut archive));
                sent.map_err(|_| kept)
            }
            (None, saved) => saved,
        }
    }
}

impl Writers<'_> {
    pub(crate) fn observers(&mut self) -> impl Iterator<Item = &mut dyn Observer> {
        let writers = self.here.iter_mut().chain(&mut self.archive);
        writers.map(|writer| writer as &mut dyn Observer)
    }

    /// Writes what is not written yet: whether all is here, and why the run is not wholly in the archive.
    pub(crate) fn finish(self, state: RunState) -> (bool, Result<(), String>) {
        let here = self.here.is_some_and(|writer| writer.finish(state).is_ok());
        let saved = self.archive.and_then(|writer| {
            if !writer.is_up_to_date() {
                output::note("another program has locked the archive; waiting for it");
            }
            writer.finish(state).map_err(|error| error.to_string())
        });
        (here, saved)
    }
}
