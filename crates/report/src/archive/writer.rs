//! Writes runs: block by block while they are under way, or whole.

use keymark_bench::case::CaseId;
use keymark_bench::clock::Harness;
use keymark_bench::record::{CaseRecord, Record, RunId, RunState};
use keymark_bench::runner::Observer;
use keymark_bench::sample::Block;

use super::rows::Writing;
use super::{Archive, ArchiveError, Result};

impl Archive {
    /// Makes a place for a run that is about to start; its samples follow through the writer.
    /// It stays unfinished until [`RunWriter::finish`].
    ///
    /// # Errors
    /// When the name is taken or the archive cannot be written.
    pub fn begin(&mut self, head: &Record) -> Result<RunWriter<'_>> {
        let writing = Writing::begin(self)?;
        if writing.has(&head.id)? {
            return Err(writing.exists(&head.id));
        }
        let cases = writing.head(head, RunState::Unfinished)?;
        writing.commit()?;
        Ok(RunWriter {
            archive: self,
            id: head.id.clone(),
            cases,
            error: None,
        })
    }

    /// Adds a whole run. One that is there already, with the same content, is left alone.
    ///
    /// # Errors
    /// When another run has that name, or the archive cannot be written.
    pub fn insert(&mut self, record: &Record) -> Result<()> {
        let writing = Writing::begin(self)?;
        if writing.has(&record.id)? {
            let exists = writing.exists(&record.id);
            drop(writing);
            let same = self.load_id(&record.id.0)? == *record;
            return if same { Ok(()) } else { Err(exists) };
        }
        let rows = writing.head(record, record.state)?;
        for (row, case) in rows.iter().zip(&record.cases) {
            for block in &case.blocks {
                writing.block(*row, block)?;
            }
            writing.conclusion(*row, case)?;
        }
        writing.commit()
    }
}

/// Takes down a run while it is under way. A run is worth more than its archive: the first error
/// ends the writing, not the run.
#[derive(Debug)]
pub struct RunWriter<'a> {
    archive: &'a mut Archive,
    id: RunId,
    /// Rows of the cases, by [`CaseId`].
    cases: Vec<i64>,
    error: Option<ArchiveError>,
}

impl RunWriter<'_> {
    /// What kept the rest of the run from being written, if anything did.
    #[must_use]
    pub const fn error(&self) -> Option<&ArchiveError> {
        self.error.as_ref()
    }

    /// Ends the run.
    ///
    /// # Errors
    /// The first error of the whole run; it then stays unfinished.
    pub fn finish(mut self, state: RunState) -> Result<()> {
        let id = self.id.clone();
        self.write(|writing| writing.state(&id, state));
        self.error.map_or(Ok(()), Err)
    }

    /// One transaction.
    fn write(&mut self, what: impl FnOnce(&Writing<'_>) -> Result<()>) {
        if self.error.is_some() {
            return;
        }
        let written = Writing::begin(self.archive).and_then(|writing| {
            what(&writing)?;
            writing.commit()
        });
        self.error = written.err();
    }

    fn row(&self, id: CaseId) -> Option<i64> {
        self.cases.get(id.0 as usize).copied()
    }
}

impl Observer for RunWriter<'_> {
    fn measuring(&mut self, harness: &Harness, _ready: usize) {
        let id = self.id.clone();
        self.write(|writing| writing.harness(&id, harness));
    }

    fn block(&mut self, id: CaseId, block: &Block) {
        let Some(row) = self.row(id) else { return };
        self.write(|writing| writing.block(row, block));
    }

    fn finished(&mut self, id: CaseId, record: &CaseRecord) {
        let Some(row) = self.row(id) else { return };
        self.write(|writing| writing.conclusion(row, record));
    }
}
