//! Reads runs: one with its samples, checked against its checksums, or all in brief.

use std::borrow::Cow;
use std::collections::HashMap;

use keymark_bench::outside::visible::excerpt;
use keymark_bench::series::SeriesId;
use keymark_bench::{
    Block, Case, CaseRecord, CpuTime, DeviceName, Outcome, Record, RunId, RunState, Sample,
    Stretch, Timestamp,
};

use super::database::{Database, SqlRow, values};
use super::identity::Redacted;
use super::seal::{CASE, RUN, seal_of_block};
use super::{Archive, ArchiveError, ArchiveFailure, Result, RunSelector, outcome_code};

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLine {
    /// Name of the run.
    pub id: RunId,
    /// Start by the clock of its machine.
    pub started: jiff::Timestamp,
    /// State at its end, or so far.
    pub state: RunState,
    /// Number of cases.
    pub cases: u64,
    /// Number of operations: samples, and transactions with servers. Published figures have none.
    pub samples: u64,
    /// Devices in the plan's order.
    pub devices: Vec<DeviceName>,
    /// Words of algorithms in the plan's order. A newer keymark may know more of them.
    pub algorithms: Vec<String>,
    /// Its series, if any.
    pub series: Option<SeriesId>,
}

impl Archive {
    /// Lists all runs, the newest first.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn runs(&self) -> Result<Vec<RunLine>> {
        self.ask(|database| {
            let _snapshot = database.snapshot()?;
            self.lines(database)
        })
    }

    fn lines(&self, database: &dyn Database) -> Result<Vec<RunLine>> {
        let runs = "SELECT id, started_utc, state FROM run ORDER BY started_utc DESC, id DESC";
        let lines = database.rows(runs, &[], |row| self.readable(row, line(row)))?;
        let mut lines: Vec<RunLine> = lines.into_iter().flatten().collect();
        let numbers: HashMap<String, usize> = lines
            .iter()
            .map(|line| line.id.0.clone())
            .zip(0..)
            .collect();
        let mut each = |statement, note: fn(&mut RunLine, &SqlRow) -> Result<()>| {
            database.query(statement, &[], &mut |row| {
                let Some(number) = numbers.get(&row.get::<String>(0)?) else {
                    return Ok(());
                };
                let noted = note(&mut lines[*number], row);
                self.readable(row, noted).map(drop)
            })
        };
        each(
            "SELECT id, series FROM run WHERE series IS NOT NULL",
            |line, row| {
                line.series = Some(SeriesId(row.get(1)?));
                Ok(())
            },
        )?;
        each(
            "SELECT run, device, algorithm, operations FROM case_ ORDER BY run, number",
            RunLine::add_case,
        )?;
        Ok(lines)
    }

    /// Notes a damaged row, whose first column names its run, so that it hides no other.
    fn readable<T>(&self, row: &SqlRow, read: Result<T>) -> Result<Option<T>> {
        match read {
            Err(ArchiveError::Failed {
                failure: ArchiveFailure::Damaged,
                reason,
                ..
            }) => {
                self.note_unreadable(row.get(0)?, reason);
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    pub(super) fn note_unreadable(&self, run: String, reason: String) {
        self.unreadable.borrow_mut().entry(run).or_insert(reason);
    }

    /// Returns an error for each damaged run that was left out of results so far.
    pub fn unreadable(&self) -> Vec<ArchiveError> {
        let damaged = |(run, reason): (&String, &String)| ArchiveError::DamagedRun {
            path: self.path.clone(),
            run: run.clone(),
            reason: reason.clone(),
        };
        self.unreadable.borrow().iter().map(damaged).collect()
    }

    /// Returns a run with all its samples.
    ///
    /// # Errors
    /// When there is no such run, or more than one, or the archive cannot be read.
    pub fn load(&self, which: &RunSelector) -> Result<Record> {
        self.load_id(&self.id_of(which)?)
    }

    /// Returns the id of the named run.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn id_of(&self, which: &RunSelector) -> Result<String> {
        match which {
            RunSelector::Last(back) => self.last(*back, which),
            RunSelector::Id(prefix) => self.one_of(
                "SELECT id FROM run WHERE substr(id, 1, length($1)) = $1 ORDER BY length(id), id",
                prefix,
                prefix,
            ),
            RunSelector::LastSeries(_) | RunSelector::Series(_) => {
                Err(ArchiveError::Other(format!(
                    "{} is a series; name one of its runs, which 'keymark runs' lists",
                    excerpt(&which.to_string())
                )))
            }
        }
    }

    pub(super) fn load_id(&self, id: &str) -> Result<Record> {
        self.load_cases(id, &|_| true)
    }

    /// Reads a run with the samples of wanted cases only.
    pub(super) fn load_cases(&self, id: &str, wanted: &dyn Fn(&Case) -> bool) -> Result<Record> {
        self.ask(|_| {
            let whole = self.read_cases(id, wanted).and_then(Redacted::whole);
            whole.map_err(|fault| fault.of_run(&self.path, id))
        })
    }

    pub(super) fn load_redacted(&self, id: &str) -> Result<Redacted<'static>> {
        let read = self.read_cases(id, &|_| true);
        read.map_err(|fault| fault.of_run(&self.path, id))
    }

    fn read_cases(&self, id: &str, wanted: &dyn Fn(&Case) -> bool) -> Result<Redacted<'static>> {
        let database = &self.database;
        // The run may still be measured.
        let _snapshot = database.snapshot()?;
        let columns = RUN.columns;
        let head = format!("SELECT {columns}, sum, id, schema FROM run WHERE id = $1");
        let record = database.first(&head, values![id], record)?;
        let mut record = record.ok_or_else(|| ArchiveError::damaged("its row is missing"))?;
        record.cases = self.cases(id, wanted)?;
        if record.cases.len() != record.plan.cases.len() {
            return Err(ArchiveError::damaged("a case is missing"));
        }
        let own = "SELECT part, whole FROM identity WHERE run = $1 ORDER BY part";
        Ok(Redacted {
            common: Cow::Owned(record),
            own: database.rows(own, values![id], |row| Ok((row.get(0)?, row.get(1)?)))?,
        })
    }

    /// Returns the start of the newest run, by the clock of its machine.
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
                   ORDER BY started_utc DESC, id DESC LIMIT 1 OFFSET $1";
        let all = "SELECT count(*) FROM run WHERE state <> 'published'";
        self.ask(|database| {
            if let Some(id) = database.first(nth, values![back], |row| row.get(0))? {
                return Ok(id);
            }
            let archive = self.path.display();
            Err(ArchiveError::Other(match database.value::<u32>(all, &[])? {
                0 => format!("{archive} has no measured run; 'keymark bench' makes one"),
                count => format!(
                    "archive {archive} has no run '{}': it has {count}, not counting published figures; 'keymark runs' lists them",
                    excerpt(&which.to_string())
                ),
            }))
        })
    }

    pub(super) fn no_such_run(&self, wanted: &str) -> ArchiveError {
        ArchiveError::Other(format!(
            "archive {} has no run '{}'; 'keymark runs' lists its runs",
            self.path.display(),
            excerpt(wanted)
        ))
    }

    /// Returns the only name with that prefix, or the name that equals it.
    pub(super) fn one_of(&self, names: &str, prefix: &str, wanted: &str) -> Result<String> {
        let ids: Vec<String> =
            self.ask(|database| database.rows(names, values![prefix], |row| row.get(0)))?;
        match ids.as_slice() {
            [] => Err(self.no_such_run(wanted)),
            [only] => Ok(only.clone()),
            [first, ..] if first == prefix => Ok(first.clone()),
            several => {
                let mut examples = several[..several.len().min(3)].join(", ");
                if several.len() > 3 {
                    examples.push_str(", …");
                }
                Err(ArchiveError::Other(format!(
                    "{} runs begin with '{}' ({}); give more of the name",
                    several.len(),
                    excerpt(wanted),
                    excerpt(&examples)
                )))
            }
        }
    }

    fn cases(&self, run: &str, wanted: &dyn Fn(&Case) -> bool) -> Result<Vec<CaseRecord>> {
        let cases = format!(
            "SELECT {}, sum, id, operations FROM {} WHERE run = $1 ORDER BY number",
            CASE.columns, CASE.from
        );
        let cases = self.database.rows(&cases, values![run], |row| {
            CASE.check(row)?;
            let case = CaseRecord {
                ending: row.optional_json(1)?,
                published: row.optional_json(2)?,
                parts: row.optional_json(3)?,
                server_load: row.optional_json(4)?,
                ..CaseRecord::new(row.json(0)?)
            };
            Ok((case, row.get(7)?, row.get(8)?))
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
                return Err(ArchiveError::damaged("a block of samples is missing"));
            }
            Ok(case)
        };
        cases.into_iter().map(filled).collect()
    }

    pub(super) fn blocks(&self, case: i64) -> Result<Vec<Block>> {
        let blocks = "SELECT id, round, length_ns, waiting, reference_ns, sum FROM block
                      WHERE case_ = $1 ORDER BY id";
        let mut blocks = self.database.rows(blocks, values![case], block)?;
        let samples = "SELECT worker, scheduled_ns, start_ns, end_ns, outcome, user_us, system_us, block
                       FROM sample WHERE block IN (SELECT id FROM block WHERE case_ = $1) ORDER BY block, number";
        let mut of = 0;
        self.database.query(samples, values![case], &mut |row| {
            let id: i64 = row.get(7)?;
            while blocks.get(of).is_some_and(|(its, ..)| *its != id) {
                of += 1;
            }
            if let Some((_, _, block)) = blocks.get_mut(of) {
                block.samples.push(sample(row)?);
            }
            Ok(())
        })?;
        blocks
            .into_iter()
            .map(|(_, sum, block)| {
                if seal_of_block(&block) == sum {
                    return Ok(block);
                }
                Err(ArchiveError::damaged(
                    "a block of samples does not match its checksum",
                ))
            })
            .collect()
    }
}

/// Returns a block's row, its checksum, and the block without its samples.
fn block(row: &SqlRow) -> Result<(i64, String, Block)> {
    let queue = row.get::<Option<u64>>(2)?.zip(row.get(3)?);
    let block = Block {
        round: row.get(1)?,
        samples: Vec::new(),
        queue: queue.map(|(length_ns, waiting)| Stretch { length_ns, waiting }),
        reference_ns: row.get(4)?,
    };
    Ok((row.get(0)?, row.get(5)?, block))
}

impl RunLine {
    fn add_case(&mut self, row: &SqlRow) -> Result<()> {
        self.cases += 1;
        self.samples += row.get::<u64>(3)?;
        let (device, algorithm): (String, String) = (row.get(1)?, row.get(2)?);
        if self.devices.iter().all(|other| other.as_str() != device) {
            self.devices.push(DeviceName::new(device));
        }
        if !self.algorithms.contains(&algorithm) {
            self.algorithms.push(algorithm);
        }
        Ok(())
    }
}

/// Reads a run without what is counted for all runs at once.
fn line(row: &SqlRow) -> Result<RunLine> {
    Ok(RunLine {
        id: RunId(row.get(0)?),
        started: row.word(1)?,
        state: row.word(2)?,
        cases: 0,
        samples: 0,
        devices: Vec::new(),
        algorithms: Vec::new(),
        series: None,
    })
}

fn record(row: &SqlRow) -> Result<Record> {
    RUN.check(row)?;
    Ok(Record {
        schema: row.get(11)?,
        id: RunId(row.get(10)?),
        started: row.word(0)?,
        state: row.word(1)?,
        plan: row.json(4)?,
        environment: row.json(5)?,
        harness: row.optional_json(6)?,
        stores: row.json(7)?,
        series: row.optional_json(8)?,
        cases: Vec::new(),
    })
}

fn sample(row: &SqlRow) -> Result<Sample> {
    let time = |column| row.get(column).map(Timestamp);
    let code: u8 = row.get(4)?;
    let outcome = Outcome::ALL
        .iter()
        .copied()
        .find(|outcome| outcome_code(*outcome) == code)
        .ok_or_else(|| ArchiveError::damaged(format!("outcome {code}")))?;
    let cpu = row.get::<Option<u32>>(5)?.zip(row.get(6)?);
    Ok(Sample {
        worker: row.get(0)?,
        scheduled: time(1)?,
        start: time(2)?,
        end: time(3)?,
        outcome,
        cpu: cpu.map(|(user_us, system_us)| CpuTime { user_us, system_us }),
    })
}
