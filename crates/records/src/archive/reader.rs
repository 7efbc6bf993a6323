//! Reads runs back: one with its samples, checked against its checksums, or many in brief, by what was measured in them and when.

use std::borrow::Cow;
use std::collections::HashMap;

use keymark_bench::series::SeriesId;
use keymark_bench::{
    Block, Case, CaseRecord, CpuTime, DeviceName, Outcome, Record, RunId, RunState, Sample,
    Stretch, Timestamp,
};
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

use super::database::{Row, Values};
use super::identity::Redacted;
use super::rows::{Json, Word};
use super::seal::{CASE, RUN, seal_of_block};
use super::{Archive, ArchiveError, Fault, Result, RunSelector, outcome_code};

/// A run in brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLine {
    /// Its name.
    pub id: RunId,
    /// When it started.
    pub started: jiff::Timestamp,
    /// How it ended.
    pub state: RunState,
    /// Number of cases.
    pub cases: u64,
    /// Number of operations: samples, and transactions with servers; none for published figures.
    pub samples: u64,
    /// Its devices, in the plan's order.
    pub devices: Vec<DeviceName>,
    /// Words of its algorithms, in the plan's order: a newer keymark may know more of them.
    pub algorithms: Vec<String>,
    /// The series that it is of, if it is of one.
    pub series: Option<SeriesId>,
}

impl Archive {
    /// Runs in brief, those that the condition holds for, the newest first.
    fn lines(&self, condition: &str, values: Values<'_>) -> Result<Vec<RunLine>, Fault> {
        let database = &self.database;
        let runs = format!(
            "SELECT id, started_utc, state, series FROM run WHERE {condition} ORDER BY started_utc DESC, id DESC"
        );
        let lines = database.rows(&runs, values, |row| self.readable(row, 0, line(row)))?;
        let mut lines: Vec<RunLine> = lines.into_iter().flatten().collect();
        let numbers = lines.iter().enumerate();
        let numbers: HashMap<String, usize> = numbers
            .map(|(number, line)| (line.id.0.clone(), number))
            .collect();
        let cases = format!(
            "SELECT run, device, algorithm, operations FROM run JOIN case_ ON run = run.id WHERE {condition} ORDER BY run, number"
        );
        database.rows(&cases, values, |row| {
            let Some(line) = numbers.get(&row.get::<String>(0)?) else {
                return Ok(());
            };
            let line = &mut lines[*line];
            line.cases += 1;
            line.samples += row.get::<i64>(3)?.unsigned_abs();
            let (device, algorithm): (String, String) = (row.get(1)?, row.get(2)?);
            if line.devices.iter().all(|other| other.as_str() != device) {
                line.devices.push(DeviceName::new(device));
            }
            if !line.algorithms.contains(&algorithm) {
                line.algorithms.push(algorithm);
            }
            Ok(())
        })?;
        Ok(lines)
    }

    /// What was read of a row, whose column names its run. One that makes no sense is put down, so that it does not hide the others.
    pub(super) fn readable<T>(
        &self,
        row: Row<'_>,
        run: usize,
        read: rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) => {
                let run: String = row.get(run)?;
                self.put_down(run, error.to_string());
                Ok(None)
            }
        }
    }

    pub(super) fn put_down(&self, run: String, reason: String) {
        self.unreadable.borrow_mut().entry(run).or_insert(reason);
    }

    fn damaged(&self, reason: &str) -> ArchiveError {
        ArchiveError::Damaged {
            path: self.path.clone(),
            reason: reason.to_owned(),
        }
    }

    /// Runs that were left out of what was asked of this archive so far, because they cannot be read, and why.
    pub fn unreadable(&self) -> Vec<ArchiveError> {
        let unreadable = self.unreadable.borrow();
        let of_run = |(run, reason): (&String, &String)| ArchiveError::DamagedRun {
            path: self.path.clone(),
            run: run.clone(),
            reason: reason.clone(),
        };
        unreadable.iter().map(of_run).collect()
    }
}

impl Archive {
    /// Every run in brief, the newest first.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn runs(&self) -> Result<Vec<RunLine>> {
        self.ask(|database| {
            let _snapshot = database.snapshot()?;
            self.lines("true", &[])
        })
    }

    /// One run with all its samples.
    ///
    /// # Errors
    /// When there is no such run, or more than one, or the archive cannot be read.
    pub fn load(&self, which: &RunSelector) -> Result<Record> {
        self.load_id(&self.id_of(which)?)
    }

    /// The whole name of a run.
    pub(super) fn id_of(&self, which: &RunSelector) -> Result<String> {
        match which {
            RunSelector::Last(back) => self.last(*back, which),
            RunSelector::Id(prefix) => self.one_of(
                "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY length(id), id",
                prefix,
                prefix,
            ),
            RunSelector::LastSeries(_) | RunSelector::Series(_) => Err(ArchiveError::NotOneRun {
                wanted: which.to_string(),
            }),
        }
    }

    pub(super) fn load_id(&self, id: &str) -> Result<Record> {
        self.ask(|_| {
            let whole = self.load_redacted(id)?.whole();
            whole.map_err(|fault| fault.of_run(&self.path, id))
        })
    }

    /// As it is kept.
    pub(super) fn load_redacted(&self, id: &str) -> Result<Redacted<'static>, Fault> {
        self.load_some(id, &|_| true)
    }

    /// The run as it is kept, with the samples of some cases only.
    pub(super) fn load_some(
        &self,
        id: &str,
        wanted: &dyn Fn(&Case) -> bool,
    ) -> Result<Redacted<'static>, Fault> {
        let read = self.read_some(id, wanted);
        read.map_err(|fault| fault.of_run(&self.path, id))
    }

    fn read_some(
        &self,
        id: &str,
        wanted: &dyn Fn(&Case) -> bool,
    ) -> Result<Redacted<'static>, Fault> {
        let database = &self.database;
        // One snapshot: the run may still be under way.
        let _snapshot = database.snapshot()?;
        let head = format!(
            "SELECT {}, sum, id, schema FROM run WHERE id = ?1",
            RUN.columns
        );
        let mut record = database
            .first(&head, &[&id], record)?
            .ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        record.cases = self.cases(id, wanted)?;
        if record.cases.len() != record.plan.cases.len() {
            return Err(self.damaged("a case is missing").into());
        }
        let own = "SELECT part, whole FROM identity WHERE run = ?1 ORDER BY part";
        Ok(Redacted {
            common: Cow::Owned(record),
            own: database.rows(own, &[&id], |row| Ok((row.get(0)?, row.get(1)?)))?,
        })
    }

    /// When the newest run started, by the clock of its machine.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn newest_start(&self) -> Result<Option<jiff::Timestamp>> {
        let newest = "SELECT max(started_utc) FROM run WHERE state <> 'published'";
        let text: Option<String> = self.ask(|database| database.value(newest, &[]))?;
        Ok(text.and_then(|text| text.parse().ok()))
    }

    fn last(&self, back: u32, which: &RunSelector) -> Result<String> {
        let nth = "SELECT id FROM run WHERE state <> 'published'
                   ORDER BY started_utc DESC, id DESC LIMIT 1 OFFSET ?1";
        let all = "SELECT count(*) FROM run WHERE state <> 'published'";
        self.ask(|database| {
            if let Some(id) = database.first(nth, &[&back], |row| row.get(0))? {
                return Ok(id);
            }
            let refused = ArchiveError::NotSoMany {
                path: self.path.clone(),
                wanted: which.to_string(),
                count: database.value(all, &[])?,
            };
            Err(refused.into())
        })
    }

    /// That nothing is called so.
    pub(super) fn no_such_run(&self, wanted: &str) -> ArchiveError {
        ArchiveError::NoSuchRun {
            path: self.path.clone(),
            wanted: wanted.to_owned(),
        }
    }

    /// The one name that begins so; a whole name goes first.
    pub(super) fn one_of(&self, names: &str, prefix: &str, wanted: &str) -> Result<String> {
        let ids: Vec<String> =
            self.ask(|database| database.rows(names, &[&prefix], |row| row.get(0)))?;
        match ids.as_slice() {
            [] => Err(self.no_such_run(wanted)),
            [only] => Ok(only.clone()),
            [first, ..] if first == prefix => Ok(first.clone()),
            several => {
                let mut examples = several[..several.len().min(3)].join(", ");
                if several.len() > 3 {
                    examples.push_str(", …");
                }
                Err(ArchiveError::Ambiguous {
                    prefix: wanted.to_owned(),
                    count: several.len(),
                    examples,
                })
            }
        }
    }

    fn cases(&self, run: &str, wanted: &dyn Fn(&Case) -> bool) -> Result<Vec<CaseRecord>, Fault> {
        let cases = format!(
            "SELECT {}, sum, id, operations FROM {} WHERE run = ?1 ORDER BY number",
            CASE.columns, CASE.from
        );
        let cases = self.database.rows(&cases, &[&run], |row| {
            CASE.check(row)?;
            let case = CaseRecord {
                ending: some_json(row, 1)?,
                published: some_json(row, 2)?,
                parts: some_json(row, 3)?,
                server_load: some_json(row, 4)?,
                ..CaseRecord::new(json(row, 0)?)
            };
            Ok((case, row.get(7)?, row.get::<i64>(8)?.unsigned_abs()))
        })?;
        let filled = |(case, id, operations): (CaseRecord, i64, u64)| {
            if !wanted(&case.case) {
                return Ok(CaseRecord {
                    server_load: None,
                    ..case
                });
            }
            let blocks = self.blocks(id)?;
            let case = CaseRecord { blocks, ..case };
            if case.server_load.is_none() && case.samples().count() as u64 != operations {
                return Err(self.damaged("a block of samples is missing").into());
            }
            Ok(case)
        };
        cases.into_iter().map(filled).collect()
    }

    pub(super) fn blocks(&self, case: i64) -> Result<Vec<Block>, Fault> {
        let blocks = "SELECT id, round, length_ns, waiting, reference_ns, sum FROM block
                      WHERE case_ = ?1 ORDER BY id";
        let mut blocks = self.database.rows(blocks, &[&case], block)?;
        let samples = "SELECT worker, scheduled_ns, start_ns, end_ns, outcome, user_us, system_us, block
                       FROM sample WHERE block IN (SELECT id FROM block WHERE case_ = ?1) ORDER BY block, number";
        let mut of = 0;
        self.database.rows(samples, &[&case], |row| {
            let id: i64 = row.get(7)?;
            while blocks.get(of).is_some_and(|(its, ..)| *its != id) {
                of += 1;
            }
            if let Some((_, _, block)) = blocks.get_mut(of) {
                block.samples.push(sample(row)?);
            }
            Ok(())
        })?;
        let whole = |(_, sum, block): (i64, String, Block)| {
            if seal_of_block(&block) == sum {
                return Ok(block);
            }
            Err(self
                .damaged("a block of samples does not match its checksum")
                .into())
        };
        blocks.into_iter().map(whole).collect()
    }
}

/// A block's row, its checksum, and the block without its samples.
fn block(row: Row<'_>) -> rusqlite::Result<(i64, String, Block)> {
    let number = |column| -> rusqlite::Result<Option<u64>> {
        Ok(row.get::<Option<i64>>(column)?.map(i64::unsigned_abs))
    };
    let queue = number(2)?.zip(number(3)?);
    let block = Block {
        round: row.get(1)?,
        samples: Vec::new(),
        queue: queue.map(|(length_ns, waiting)| Stretch { length_ns, waiting }),
        reference_ns: number(4)?,
    };
    Ok((row.get(0)?, row.get(5)?, block))
}

fn line(row: Row<'_>) -> rusqlite::Result<RunLine> {
    Ok(RunLine {
        id: RunId(row.get(0)?),
        started: row.get::<Word<_>>(1)?.0,
        state: row.get::<Word<_>>(2)?.0,
        // These are counted for all runs at once.
        cases: 0,
        samples: 0,
        devices: Vec::new(),
        algorithms: Vec::new(),
        series: row.get::<Option<String>>(3)?.map(SeriesId),
    })
}

fn record(row: Row<'_>) -> rusqlite::Result<Record> {
    RUN.check(row)?;
    Ok(Record {
        schema: row.get(11)?,
        id: RunId(row.get(10)?),
        started: row.get::<Word<_>>(0)?.0,
        state: row.get::<Word<_>>(1)?.0,
        plan: json(row, 4)?,
        environment: json(row, 5)?,
        harness: some_json(row, 6)?,
        stores: json(row, 7)?,
        series: some_json(row, 8)?,
        cases: Vec::new(),
    })
}

pub(super) fn json<T: DeserializeOwned>(row: Row<'_>, column: usize) -> rusqlite::Result<T> {
    row.get(column).map(|Json(value)| value)
}

pub(super) fn some_json<T: DeserializeOwned>(
    row: Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let value: Option<Json<T>> = row.get(column)?;
    Ok(value.map(|Json(value)| value))
}

fn sample(row: Row<'_>) -> rusqlite::Result<Sample> {
    let time = |column| {
        let nanoseconds: i64 = row.get(column)?;
        let positive = u64::try_from(nanoseconds);
        positive.map(Timestamp).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, Box::new(error))
        })
    };
    let code: u8 = row.get(4)?;
    let outcome = Outcome::ALL
        .iter()
        .copied()
        .find(|outcome| outcome_code(*outcome) == code);
    let (user, system): (Option<u32>, Option<u32>) = (row.get(5)?, row.get(6)?);
    Ok(Sample {
        worker: row.get(0)?,
        scheduled: time(1)?,
        start: time(2)?,
        end: time(3)?,
        outcome: outcome.ok_or(rusqlite::Error::IntegralValueOutOfRange(4, code.into()))?,
        cpu: user
            .zip(system)
            .map(|(user_us, system_us)| CpuTime { user_us, system_us }),
    })
}
