//! Whole runs from elsewhere, in parts: whoever else writes gets a turn between two of them.

use std::time::Duration;

use keymark_bench::record::{CaseRecord, Record, RunState};

use super::rows::Writing;
use super::{Archive, Fault, PATIENCE, Result};

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

    fn parts_of(&mut self, record: &Record, part: usize) -> Result<(), Fault> {
        self.be_patient(PATIENCE)?;
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
    fn place(&mut self, record: &Record) -> Result<Option<Place>, Fault> {
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
    fn add_part(&mut self, record: &Record, place: &mut Place, part: usize) -> Result<bool, Fault> {
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
