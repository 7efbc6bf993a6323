//! Writes runs: block by block while they are under way; or whole ones from elsewhere, in parts, so that whoever else
//! writes gets a turn between two of them.

use std::time::Duration;

use keymark_bench::case::CaseId;
use keymark_bench::clock::Harness;
use keymark_bench::record::{CaseRecord, Record, RunId, RunState};
use keymark_bench::runner::Observer;
use keymark_bench::sample::Block;

use super::rows::Writing;
use super::{Archive, ArchiveError, Fault, PATIENCE, Result};

/// How long a block waits for another process that writes: it is tried again with the next one.
const BETWEEN_BLOCKS: Duration = Duration::from_millis(100);
/// How long the end of a run waits for one.
const AT_THE_END: Duration = Duration::from_secs(30);

impl Archive {
    /// Makes a place for a run that is about to start; its samples follow through the writer.
    /// It stays unfinished until [`RunWriter::finish`].
    ///
    /// # Errors
    /// When the name is taken or the archive cannot be written. One that is locked is no error: the
    /// place is made later.
    pub fn begin(&mut self, head: &Record) -> Result<RunWriter<'_>> {
        let mut writer = RunWriter {
            archive: self,
            id: head.id.clone(),
            cases: Vec::new(),
            waiting: vec![Event::Begun(Box::new(head.clone()))],
            error: None,
        };
        writer.write(PATIENCE);
        match writer.error.take() {
            Some(error) => Err(error),
            None => Ok(writer),
        }
    }
}

/// Takes down a run while it is under way. A run is worth more than its archive: an error ends the
/// writing, not the run. Another process that writes only delays it: what waits is kept in memory.
#[derive(Debug)]
pub struct RunWriter<'a> {
    archive: &'a mut Archive,
    id: RunId,
    /// Rows of the cases, by [`CaseId`].
    cases: Vec<i64>,
    /// What is not in the archive yet, in order.
    waiting: Vec<Event>,
    error: Option<ArchiveError>,
}

/// What a run takes down.
#[derive(Debug)]
enum Event {
    Begun(Box<Record>),
    Measuring(Harness),
    Block(CaseId, Block),
    /// The case without its blocks.
    Concluded(CaseId, Box<CaseRecord>),
    Ended(RunState),
}

impl RunWriter<'_> {
    /// What kept the rest of the run from being written, if anything did.
    pub const fn error(&self) -> Option<&ArchiveError> {
        self.error.as_ref()
    }

    /// Whether all that was measured so far is in the archive.
    pub const fn is_up_to_date(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Ends the run; what is not in the archive yet is written now.
    ///
    /// # Errors
    /// The first error of the whole run; it then stays unfinished. When another process still
    /// writes after half a minute, too.
    pub fn finish(self, state: RunState) -> Result<()> {
        self.finish_within(state, AT_THE_END)
    }

    pub(super) fn finish_within(mut self, state: RunState, patience: Duration) -> Result<()> {
        self.waiting.push(Event::Ended(state));
        self.write(patience);
        match self.error {
            Some(error) => Err(error),
            None if self.waiting.is_empty() => Ok(()),
            None => Err(ArchiveError::Locked(self.archive.path.clone())),
        }
    }

    fn note(&mut self, event: Event) {
        self.waiting.push(event);
        self.write(BETWEEN_BLOCKS);
    }

    /// Everything that waits, in one transaction.
    fn write(&mut self, patience: Duration) {
        if self.error.is_some() {
            self.waiting.clear();
            return;
        }
        let written = self.written(patience);
        match written.map_err(|fault| fault.of(&self.archive.path)) {
            Ok(cases) => {
                self.cases = cases;
                self.waiting.clear();
            }
            Err(ArchiveError::Locked(_)) => {}
            Err(error) => {
                self.waiting.clear();
                self.error = Some(error);
            }
        }
    }

    /// The rows of the cases, which are known once the run has its place.
    fn written(&mut self, patience: Duration) -> Result<Vec<i64>, Fault> {
        self.archive.database.be_patient(patience)?;
        let mut cases = self.cases.clone();
        let writing = Writing::begin(self.archive)?;
        for event in &self.waiting {
            let row = |id: CaseId| cases.get(id.0 as usize).copied();
            match event {
                Event::Begun(head) => {
                    if writing.has(&head.id)? {
                        return Err(writing.exists(&head.id).into());
                    }
                    cases = writing.head(head, RunState::Unfinished)?;
                }
                Event::Measuring(harness) => writing.harness(&self.id, harness)?,
                Event::Block(id, block) => {
                    if let Some(row) = row(*id) {
                        writing.block(row, block)?;
                    }
                }
                Event::Concluded(id, case) => {
                    if let Some(row) = row(*id) {
                        writing.conclusion(row, case)?;
                    }
                }
                Event::Ended(state) => writing.state(&self.id, *state)?,
            }
        }
        writing.commit()?;
        Ok(cases)
    }
}

impl Observer for RunWriter<'_> {
    fn measuring(&mut self, harness: &Harness, _ready: usize) {
        self.note(Event::Measuring(*harness));
    }

    fn block(&mut self, id: CaseId, block: &Block) {
        self.note(Event::Block(id, block.clone()));
    }

    fn finished(&mut self, id: CaseId, record: &CaseRecord) {
        let mut case = CaseRecord::new(record.case.clone());
        case.ending.clone_from(&record.ending);
        case.parts.clone_from(&record.parts);
        case.server_load.clone_from(&record.server_load);
        self.note(Event::Concluded(id, Box::new(case)));
    }
}

/// Samples of a transaction, at least: about a tenth of a second's work.
const PART: usize = 50_000;
/// Between two parts. SQLite has those who wait look every tenth of a second at the latest.
const TURN: Duration = Duration::from_millis(20);

/// How much of a run is in the archive.
struct Place {
    rows: Vec<i64>,
    /// Number of blocks, by case.
    blocks: Vec<usize>,
}

impl Archive {
    /// Adds a whole run. One that is there already, with the same content, is left alone; one that was
    /// added in part, because that was broken off, is completed.
    ///
    /// # Errors
    /// When another run has that name, the run has a number that SQLite has no room for, or the archive cannot be
    /// written; then nothing of it stays there.
    pub fn insert(&mut self, record: &Record) -> Result<()> {
        self.insert_in_parts(record, PART)
    }

    pub(super) fn insert_in_parts(&mut self, record: &Record, part: usize) -> Result<()> {
        let inserted = self.parts_of(record, part);
        inserted.map_err(|fault| fault.of(&self.path))
    }

    fn parts_of(&self, record: &Record, part: usize) -> Result<(), Fault> {
        self.database.be_patient(PATIENCE)?;
        let Some(mut place) = self.place(record)? else {
            return Ok(());
        };
        loop {
            match self.add_part(record, &mut place, part) {
                Ok(true) => std::thread::sleep(TURN),
                Ok(false) => return Ok(()),
                Err(refused) => {
                    // What was begun and cannot be ended is no run. If it cannot be taken back either, the same import ends it.
                    let _ = Writing::begin(self).and_then(|writing| {
                        writing.remove(&record.id)?;
                        writing.commit()
                    });
                    return Err(refused);
                }
            }
        }
    }

    /// Where the run goes on; nowhere if it is whole.
    fn place(&self, record: &Record) -> Result<Option<Place>, Fault> {
        let writing = Writing::begin(self)?;
        if !writing.has(&record.id)? {
            let rows = writing.head(record, RunState::Unfinished)?;
            writing.commit()?;
            let blocks = vec![0; rows.len()];
            return Ok(Some(Place { rows, blocks }));
        }
        let exists = writing.exists(&record.id);
        let rows = writing.rows(&record.id)?;
        drop(writing);
        let found = self.load_id(&record.id.0)?;
        if found == *record {
            return Ok(None);
        }
        let blocks = found.cases.iter().map(|case| case.blocks.len()).collect();
        if is_part_of(&found, record) {
            Ok(Some(Place { rows, blocks }))
        } else {
            Err(exists.into())
        }
    }

    /// Adds blocks, or what is said of the run at its end. Whether more is to come.
    fn add_part(&self, record: &Record, place: &mut Place, part: usize) -> Result<bool, Fault> {
        let writing = Writing::begin(self)?;
        let mut added = 0;
        for ((row, written), case) in place.rows.iter().zip(&mut place.blocks).zip(&record.cases) {
            while let Some(block) = case.blocks.get(*written) {
                if added >= part {
                    writing.commit()?;
                    return Ok(true);
                }
                writing.block(*row, block)?;
                *written += 1;
                added += block.samples.len().max(1);
            }
        }
        for (row, case) in place.rows.iter().zip(&record.cases) {
            writing.conclusion(*row, case)?;
        }
        writing.state(&record.id, record.state)?;
        writing.commit()?;
        Ok(false)
    }
}

/// Whether it is what an import leaves that was broken off: the beginning of each case, without an end.
fn is_part_of(found: &Record, record: &Record) -> bool {
    let head = |of: &Record| Record {
        state: RunState::Unfinished,
        cases: Vec::new(),
        ..of.clone()
    };
    let begins = |(found, whole): (&CaseRecord, &CaseRecord)| {
        let bare = |of: &CaseRecord| CaseRecord {
            blocks: Vec::new(),
            ending: None,
            ..of.clone()
        };
        found.ending.is_none()
            && bare(found) == bare(whole)
            && whole.blocks.starts_with(&found.blocks)
    };
    found.state == RunState::Unfinished
        && found.cases.len() == record.cases.len()
        && head(found) == head(record)
        && found.cases.iter().zip(&record.cases).all(begins)
}
