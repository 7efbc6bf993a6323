//! Writes runs: block by block while they are under way; or whole ones from elsewhere, in parts, so that whoever else
//! writes gets a turn between two of them.

use std::time::Duration;

use keymark_bench::runner::Observer;
use keymark_bench::{Block, CaseId, CaseRecord, Harness, Record, RunId, RunState};

use super::identity::Redacted;
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
            head: Record {
                cases: Vec::new(),
                ..head.clone()
            },
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
    /// Without cases.
    head: Record,
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
        let id = &self.head.id;
        let mut cases = self.cases.clone();
        let writing = self.archive.database.writing()?;
        for event in &self.waiting {
            let row = |id: CaseId| cases.get(id.0 as usize).copied();
            match event {
                Event::Begun(head) => {
                    if writing.has(&head.id)? {
                        return Err(self.archive.exists(&head.id).into());
                    }
                    let Redacted { common, own } = self.archive.redacted(head)?;
                    cases = writing.head(&common)?;
                    for (part, whole) in own {
                        writing.own(id, part, &whole)?;
                    }
                }
                Event::Measuring(harness) => writing.harness(id, harness)?,
                Event::Block(id, block) => {
                    if let Some(row) = row(*id) {
                        writing.block(row, block)?;
                    }
                }
                Event::Concluded(number, case) => {
                    let mut alone = self.head.clone();
                    alone.cases.push(*case.clone());
                    let Redacted { common, own } = self.archive.redacted(&alone)?;
                    if let Some((row, case)) = row(*number).zip(common.cases.first()) {
                        writing.conclusion(row, case)?;
                    }
                    // The head is written already.
                    for (_, whole) in own.iter().filter(|(part, _)| *part == 0) {
                        writing.own(id, number.0.into(), whole)?;
                    }
                }
                Event::Ended(state) => writing.state(id, *state)?,
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
struct Written {
    rows: Vec<i64>,
    /// Number of blocks, by case.
    blocks: Vec<usize>,
}

impl Archive {
    /// Adds a whole run. One that is there already, with the same content or more of it, is left alone; one that is there
    /// in part, because its measuring or adding was broken off, is completed.
    ///
    /// # Errors
    /// When another run has that name, the run has a number that SQLite has no room for, or the archive cannot be
    /// written; then nothing of it stays there.
    pub fn insert(&mut self, record: &Record) -> Result<()> {
        self.insert_in_parts(record, PART)
    }

    pub(super) fn insert_in_parts(&mut self, record: &Record, part: usize) -> Result<()> {
        self.ask(|_| self.parts_of(&self.redacted(record)?, part))
    }

    /// The same of what an archive like this one has.
    pub(super) fn insert_redacted(&mut self, redacted: &Redacted<'_>) -> Result<()> {
        self.ask(|_| self.parts_of(redacted, PART))
    }

    fn parts_of(&self, redacted: &Redacted<'_>, part: usize) -> Result<(), Fault> {
        self.database.be_patient(PATIENCE)?;
        let record = &*redacted.common;
        let Some(mut place) = self.place(record)? else {
            return Ok(());
        };
        let writing = self.database.writing()?;
        for (number, whole) in &redacted.own {
            writing.own(&record.id, *number, whole)?;
        }
        writing.commit()?;
        loop {
            match self.add_part(record, &mut place, part) {
                Ok(true) => std::thread::sleep(TURN),
                Ok(false) => return Ok(()),
                Err(fault) => {
                    let refused = fault.of(&self.path);
                    // What was begun and cannot be ended is no run. If it cannot be taken back either, or another keymark
                    // writes, the same import ends it.
                    if !matches!(refused, ArchiveError::Locked(_)) {
                        let _ = self.database.writing().and_then(|writing| {
                            writing.remove(&record.id)?;
                            writing.commit()
                        });
                    }
                    return Err(refused.into());
                }
            }
        }
    }

    fn exists(&self, id: &RunId) -> ArchiveError {
        ArchiveError::Exists {
            path: self.path.clone(),
            id: id.0.clone(),
        }
    }

    /// Where the run goes on; nowhere if it is whole.
    fn place(&self, record: &Record) -> Result<Option<Written>, Fault> {
        let writing = self.database.writing()?;
        if !writing.has(&record.id)? {
            let rows = writing.head(record)?;
            writing.commit()?;
            let blocks = vec![0; rows.len()];
            return Ok(Some(Written { rows, blocks }));
        }
        let rows = writing.rows(&record.id)?;
        drop(writing);
        let found = self.load_redacted(&record.id.0)?.common.into_owned();
        // What is there may also be more, of a run whose copy was left behind.
        if found == *record || is_part_of(record, &found) {
            return Ok(None);
        }
        let blocks = found.cases.iter().map(|case| case.blocks.len()).collect();
        if is_part_of(&found, record) {
            Ok(Some(Written { rows, blocks }))
        } else {
            Err(self.exists(&record.id).into())
        }
    }

    /// Adds blocks, or what is said of the run at its end. Whether more is to come.
    fn add_part(&self, record: &Record, place: &mut Written, part: usize) -> Result<bool, Fault> {
        let writing = self.database.writing()?;
        if writing.claim(&record.id)? != place.blocks.iter().sum::<usize>() {
            // Somebody else is adding the same run.
            return Err(ArchiveError::Locked(self.path.clone()).into());
        }
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
        if let Some(harness) = &record.harness {
            writing.harness(&record.id, harness)?;
        }
        writing.state(&record.id, record.state)?;
        writing.commit()?;
        Ok(false)
    }
}

/// Whether it is what a run or an import leaves that was broken off: whole cases, and the beginning of others.
fn is_part_of(found: &Record, record: &Record) -> bool {
    let head = |of: &Record| Record {
        state: RunState::Unfinished,
        harness: of.harness.or(record.harness),
        cases: Vec::new(),
        ..of.clone()
    };
    let begins = |(found, whole): (&CaseRecord, &CaseRecord)| {
        let is_begun = found.ending.is_none()
            && (&found.case, &found.published) == (&whole.case, &whole.published)
            && whole.blocks.starts_with(&found.blocks);
        is_begun || found == whole
    };
    found.state == RunState::Unfinished
        && found.cases.len() == record.cases.len()
        && head(found) == head(record)
        && found.cases.iter().zip(&record.cases).all(begins)
}
