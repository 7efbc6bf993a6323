//! Writes runs: block by block while they are measured, or whole ones in parts, so that other programs can write in between.

use std::time::Duration;

use keymark_bench::runner::Observer;
use keymark_bench::{Block, CaseId, CaseRecord, Harness, Record, RunId, RunState};

use super::identity::Redacted;
use super::{Archive, ArchiveError, ArchiveFailure, PATIENCE, Result};

/// Longest wait of a block for another process that writes. It is tried again with the next block.
const BETWEEN_BLOCKS: Duration = Duration::from_millis(100);
/// Longest wait at the end of a run.
const AT_THE_END: Duration = Duration::from_secs(30);

impl Archive {
    /// Adds a run that is about to start. Its samples follow through the writer, and it is unfinished until
    /// [`RunWriter::finish`].
    ///
    /// # Errors
    /// When the name is taken or the archive cannot be written. A locked archive is tried again later.
    pub fn begin(&mut self, head: &Record) -> Result<RunWriter<'_>> {
        let mut writer = RunWriter {
            archive: self,
            head: Record {
                cases: Vec::new(),
                ..head.clone()
            },
            cases: Vec::new(),
            waiting: vec![RunEvent::Begun(Box::new(head.clone()))],
            error: None,
        };
        writer.write(PATIENCE);
        match writer.error.take() {
            Some(error) => Err(error),
            None => Ok(writer),
        }
    }
}

/// Writes a run while it is measured. An error ends the writing and not the run. While another process writes, blocks wait in
/// memory.
#[derive(Debug)]
pub struct RunWriter<'a> {
    archive: &'a mut Archive,
    /// The record without cases.
    head: Record,
    /// Rows of the cases, by [`CaseId`].
    cases: Vec<i64>,
    /// Events that are not in the archive yet, in order.
    waiting: Vec<RunEvent>,
    error: Option<ArchiveError>,
}

/// An event in a run.
#[derive(Debug)]
enum RunEvent {
    Begun(Box<Record>),
    Measuring(Harness),
    Block(CaseId, Block),
    /// The case without its blocks.
    Concluded(CaseId, Box<CaseRecord>),
    Ended(RunState),
}

impl RunWriter<'_> {
    /// Returns the error that ended the writing, if any.
    pub const fn error(&self) -> Option<&ArchiveError> {
        self.error.as_ref()
    }

    /// Returns true if everything measured so far is in the archive.
    pub const fn is_up_to_date(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Ends the run, and writes the rest of it.
    ///
    /// # Errors
    /// The first error of the whole run, which then stays unfinished; or a lock that another process keeps for half a minute.
    pub fn finish(self, state: RunState) -> Result<()> {
        self.finish_within(state, AT_THE_END)
    }

    pub(super) fn finish_within(mut self, state: RunState, patience: Duration) -> Result<()> {
        self.waiting.push(RunEvent::Ended(state));
        self.write(patience);
        match self.error {
            Some(error) => Err(error),
            None if self.waiting.is_empty() => Ok(()),
            None => Err(ArchiveError::new(ArchiveFailure::Locked, "").of(&self.archive.path)),
        }
    }

    fn note(&mut self, event: RunEvent) {
        self.waiting.push(event);
        self.write(BETWEEN_BLOCKS);
    }

    /// Writes all waiting events in one transaction.
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
            Err(error) if error.failure() == Some(ArchiveFailure::Locked) => {}
            Err(error) => {
                self.waiting.clear();
                self.error = Some(error);
            }
        }
    }

    /// Returns the rows of the cases, which are known once the run is added.
    fn written(&mut self, patience: Duration) -> Result<Vec<i64>> {
        self.archive.database.set_patience(patience)?;
        let id = &self.head.id;
        let mut cases = self.cases.clone();
        let writing = self.archive.database.writing()?;
        for event in &self.waiting {
            let row = |id: CaseId| cases.get(id.0 as usize).copied();
            match event {
                RunEvent::Begun(head) => {
                    if writing.has(&head.id)? {
                        return Err(self.archive.exists(&head.id));
                    }
                    let Redacted { common, own } = self.archive.redacted(head)?;
                    cases = writing.add_run(&common)?;
                    for (part, whole) in own {
                        writing.add_identity(id, part, &whole)?;
                    }
                }
                RunEvent::Measuring(harness) => writing.set_harness(id, harness)?,
                RunEvent::Block(id, block) => {
                    if let Some(row) = row(*id) {
                        writing.add_block(row, block)?;
                    }
                }
                RunEvent::Concluded(number, case) => {
                    let mut alone = self.head.clone();
                    alone.cases.push(*case.clone());
                    let Redacted { common, own } = self.archive.redacted(&alone)?;
                    if let Some((row, case)) = row(*number).zip(common.cases.first()) {
                        writing.conclude(row, case)?;
                    }
                    // The head is written already.
                    for (_, whole) in own.iter().filter(|(part, _)| *part == 0) {
                        writing.add_identity(id, number.0.into(), whole)?;
                    }
                }
                RunEvent::Ended(state) => writing.set_state(id, *state)?,
            }
        }
        writing.commit()?;
        Ok(cases)
    }
}

impl Observer for RunWriter<'_> {
    fn measuring(&mut self, harness: &Harness, _ready: usize) {
        self.note(RunEvent::Measuring(*harness));
    }

    fn block(&mut self, id: CaseId, block: &Block) {
        self.note(RunEvent::Block(id, block.clone()));
    }

    fn finished(&mut self, id: CaseId, record: &CaseRecord) {
        let mut case = CaseRecord::new(record.case.clone());
        case.ending.clone_from(&record.ending);
        case.parts.clone_from(&record.parts);
        case.server_load.clone_from(&record.server_load);
        self.note(RunEvent::Concluded(id, Box::new(case)));
    }
}

/// Samples in a transaction, for about a tenth of a second.
const PART: usize = 50_000;
/// Pause between two parts. Waiting programs try SQLite's lock at least ten times per second.
const TURN: Duration = Duration::from_millis(20);

/// The part of a run that is in the archive.
struct WrittenPart {
    rows: Vec<i64>,
    /// Number of blocks, by case.
    blocks: Vec<usize>,
}

impl Archive {
    /// Adds a whole run, or completes one that is there in part. A run that is there with the same content or more stays as it is.
    ///
    /// # Errors
    /// When another run has that name, a number is too large, or the archive cannot be written. Then nothing of it stays there.
    pub fn insert(&mut self, record: &Record) -> Result<()> {
        self.insert_in_parts(record, PART)
    }

    /// Removes a run with its samples.
    ///
    /// # Errors
    /// When it is another role's on a server, or the archive cannot be written.
    pub fn remove(&mut self, id: &RunId) -> Result<()> {
        self.ask(|_| {
            self.database.set_patience(PATIENCE)?;
            let writing = self.database.writing()?;
            writing.remove(id)?;
            if writing.has(id)? {
                let reason = format!("run {id} is another role's");
                return Err(ArchiveError::new(ArchiveFailure::Refused, reason));
            }
            writing.commit()
        })
    }

    pub(super) fn insert_in_parts(&mut self, record: &Record, part: usize) -> Result<()> {
        self.ask(|_| self.parts_of(&self.redacted(record)?, part))
    }

    pub(super) fn insert_redacted(&mut self, redacted: &Redacted<'_>) -> Result<()> {
        self.ask(|_| self.parts_of(redacted, PART))
    }

    fn parts_of(&self, redacted: &Redacted<'_>, part: usize) -> Result<()> {
        self.database.set_patience(PATIENCE)?;
        let record = &*redacted.common;
        let Some(mut place) = self.place(record)? else {
            return Ok(());
        };
        let writing = self.database.writing()?;
        for (number, whole) in &redacted.own {
            writing.add_identity(&record.id, *number, whole)?;
        }
        writing.commit()?;
        loop {
            match self.add_part(record, &mut place, part) {
                Ok(true) => std::thread::sleep(TURN),
                Ok(false) => return Ok(()),
                Err(fault) => {
                    // What was begun and cannot be ended is no run. If it cannot be taken back either, or another keymark
                    // writes, the same import ends it.
                    if fault.failure() != Some(ArchiveFailure::Locked) {
                        let _ = self.database.writing().and_then(|writing| {
                            writing.remove(&record.id)?;
                            writing.commit()
                        });
                    }
                    return Err(fault);
                }
            }
        }
    }

    fn exists(&self, id: &RunId) -> ArchiveError {
        ArchiveError::new(ArchiveFailure::Exists, id).of(&self.path)
    }

    /// Returns the part that is there, or none if the whole run is.
    fn place(&self, record: &Record) -> Result<Option<WrittenPart>> {
        let writing = self.database.writing()?;
        if !writing.has(&record.id)? {
            let rows = writing.add_run(record)?;
            writing.commit()?;
            let blocks = vec![0; rows.len()];
            return Ok(Some(WrittenPart { rows, blocks }));
        }
        let rows = writing.case_rows(&record.id)?;
        drop(writing);
        let found = self.load_redacted(&record.id.0)?.common.into_owned();
        // What is there may also be more, of a run whose copy was left behind.
        if found == *record || is_part_of(record, &found) {
            return Ok(None);
        }
        let blocks = found.cases.iter().map(|case| case.blocks.len()).collect();
        if is_part_of(&found, record) {
            Ok(Some(WrittenPart { rows, blocks }))
        } else {
            Err(self.exists(&record.id))
        }
    }

    /// Adds blocks or, after the last of them, the run's conclusion. Returns true if more blocks follow.
    fn add_part(&self, record: &Record, place: &mut WrittenPart, part: usize) -> Result<bool> {
        let writing = self.database.writing()?;
        if writing.claim(&record.id)? != place.blocks.iter().sum::<usize>() {
            // Another process is adding the same run.
            return Err(ArchiveError::new(ArchiveFailure::Locked, ""));
        }
        let mut added = 0;
        for ((row, written), case) in place.rows.iter().zip(&mut place.blocks).zip(&record.cases) {
            while let Some(block) = case.blocks.get(*written) {
                if added >= part {
                    writing.commit()?;
                    return Ok(true);
                }
                writing.add_block(*row, block)?;
                *written += 1;
                added += block.samples.len().max(1);
            }
        }
        for (row, case) in place.rows.iter().zip(&record.cases) {
            writing.conclude(*row, case)?;
        }
        if let Some(harness) = &record.harness {
            writing.set_harness(&record.id, harness)?;
        }
        writing.set_state(&record.id, record.state)?;
        writing.commit()?;
        Ok(false)
    }
}

/// Tells an interrupted run or import of the record: whole cases, and the beginnings of others.
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
