//! Reads runs back.

use std::collections::HashMap;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::DeviceName;
use keymark_bench::clock::Timestamp;
use keymark_bench::record::{CaseRecord, Record, RunId, RunState};
use keymark_bench::sample::{Block, CpuTime, Outcome, Sample, Stretch};
use keymark_bench::series::SeriesId;
use keymark_bench::server_load::ServerLoad;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::de::DeserializeOwned;

use super::column::{Json, Started, Word};
use super::{Archive, ArchiveError, Result, RunSelector, outcome_code};

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
    /// Its algorithms, in the plan's order.
    pub algorithms: Vec<Algorithm>,
    /// The series that it is of, if it is of one.
    pub series: Option<SeriesId>,
}

pub(super) const LINE: &str = "
    SELECT id, started_utc, state,
           (SELECT coalesce(sum(samples), 0)
            FROM case_ JOIN block ON block.case_ = case_.id WHERE run = run.id)
           + (SELECT coalesce(sum(json_extract(load, '$.totals.transactions')), 0)
              FROM case_ JOIN server_load ON server_load.case_ = case_.id WHERE run = run.id),
           series";

/// Runs in brief, as a statement that begins with [`LINE`] finds them.
pub(super) fn lines(
    connection: &Connection,
    statement: &str,
    parameters: impl Params,
) -> rusqlite::Result<Vec<RunLine>> {
    let mut runs = connection.prepare_cached(statement)?;
    let runs = runs.query_map(parameters, line)?;
    let mut lines: Vec<RunLine> = runs.collect::<rusqlite::Result<_>>()?;
    let mut cases = connection
        .prepare_cached("SELECT device, algorithm FROM case_ WHERE run = ?1 ORDER BY number")?;
    // A word is read once: there may be a hundred thousand cases.
    let mut known: HashMap<String, Algorithm> = HashMap::new();
    for line in &mut lines {
        let mut rows = cases.query([&line.id.0])?;
        while let Some(row) = rows.next()? {
            line.cases += 1;
            let device = row.get_ref(0)?.as_str()?;
            if line.devices.iter().all(|other| other.as_str() != device) {
                line.devices.push(DeviceName::new(device));
            }
            let algorithm = match known.get(row.get_ref(1)?.as_str()?) {
                Some(algorithm) => *algorithm,
                None => {
                    let Word(read) = row.get(1)?;
                    known.insert(row.get(1)?, read);
                    read
                }
            };
            push_new(&mut line.algorithms, algorithm);
        }
    }
    Ok(lines)
}

impl Archive {
    /// Every run in brief, the newest first.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn runs(&self) -> Result<Vec<RunLine>> {
        self.ask(|database| {
            let snapshot = database.unchecked_transaction()?;
            let all = format!("{LINE} FROM run ORDER BY started_utc DESC, id DESC");
            Ok(lines(&snapshot, &all, ())?)
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
        self.ask(|database| {
            // One snapshot: the run may still be under way.
            let _snapshot = database.unchecked_transaction()?;
            let head =
                "SELECT id, started_utc, state, schema, plan, environment, harness, stores, in_series
                 FROM run WHERE id = ?1";
            let mut record = database.query_row(head, [id], record)?;
            record.cases = self.cases(id)?;
            Ok(record)
        })
    }

    fn last(&self, back: u32, which: &RunSelector) -> Result<String> {
        let nth = "SELECT id FROM run WHERE state <> 'published'
                   ORDER BY started_utc DESC, id DESC LIMIT 1 OFFSET ?1";
        let all = "SELECT count(*) FROM run WHERE state <> 'published'";
        self.ask(|database| {
            let id = database.query_row(nth, [back], |row| row.get(0));
            if let Some(id) = id.optional()? {
                return Ok(id);
            }
            let refused = ArchiveError::NotSoMany {
                path: self.path.clone(),
                wanted: which.to_string(),
                count: database.query_row(all, (), |row| row.get(0))?,
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
        let ids: Vec<String> = self.ask(|database| {
            let mut statement = database.prepare(names)?;
            let ids = statement.query_map([prefix], |row| row.get(0))?;
            Ok(ids.collect::<rusqlite::Result<_>>()?)
        })?;
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

    fn cases(&self, run: &str) -> rusqlite::Result<Vec<CaseRecord>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, \"case\", ending, published, parts FROM case_ WHERE run = ?1 ORDER BY number",
        )?;
        let cases = statement.query_map([run], |row| {
            let (id, mut record) = (row.get(0)?, case(row)?);
            record.blocks = self.blocks(id)?;
            record.server_load = self.server_load(id)?;
            Ok(record)
        })?;
        cases.collect()
    }

    pub(super) fn server_load(&self, case: i64) -> rusqlite::Result<Option<Box<ServerLoad>>> {
        let mut loads = self
            .connection
            .prepare_cached("SELECT load FROM server_load WHERE case_ = ?1")?;
        let load = loads.query_row([case], |row| row.get(0)).optional()?;
        Ok(load.map(|Json(load)| load))
    }

    pub(super) fn blocks(&self, case: i64) -> rusqlite::Result<Vec<Block>> {
        let mut blocks = self.connection.prepare_cached(
            "SELECT id, round, samples, length_ns, waiting, reference_ns FROM block
             WHERE case_ = ?1 ORDER BY id",
        )?;
        let mut samples = self.connection.prepare_cached(
            "SELECT worker, scheduled_ns, start_ns, end_ns, outcome, user_us, system_us
             FROM sample WHERE block = ?1 ORDER BY number",
        )?;
        let blocks = blocks.query_map([case], |row| {
            let mut block = Block {
                round: row.get(1)?,
                samples: Vec::with_capacity(row.get::<_, u32>(2)? as usize),
                queue: stretch(row)?,
                reference_ns: row.get::<_, Option<i64>>(5)?.map(i64::unsigned_abs),
            };
            let mut rows = samples.query(params![row.get::<_, i64>(0)?])?;
            while let Some(row) = rows.next()? {
                block.samples.push(sample(row)?);
            }
            Ok(block)
        })?;
        blocks.collect()
    }
}

fn stretch(row: &Row<'_>) -> rusqlite::Result<Option<Stretch>> {
    let number = |column| row.get::<_, Option<i64>>(column);
    Ok(number(3)?.zip(number(4)?).map(|(length, waiting)| Stretch {
        length_ns: length.unsigned_abs(),
        waiting: waiting.unsigned_abs(),
    }))
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn line(row: &Row<'_>) -> rusqlite::Result<RunLine> {
    let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(RunLine {
        id: RunId(row.get(0)?),
        started: row.get::<_, Started>(1)?.0,
        state: row.get::<_, Word<_>>(2)?.0,
        // Counted with their devices.
        cases: 0,
        samples: count(3)?,
        devices: Vec::new(),
        algorithms: Vec::new(),
        series: row.get::<_, Option<String>>(4)?.map(SeriesId),
    })
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        schema: row.get(3)?,
        id: RunId(row.get(0)?),
        started: row.get::<_, Started>(1)?.0,
        state: row.get::<_, Word<_>>(2)?.0,
        plan: json(row, 4)?,
        environment: json(row, 5)?,
        harness: some_json(row, 6)?,
        stores: json(row, 7)?,
        series: some_json(row, 8)?,
        cases: Vec::new(),
    })
}

fn case(row: &Row<'_>) -> rusqlite::Result<CaseRecord> {
    Ok(CaseRecord {
        ending: some_json(row, 2)?,
        published: some_json(row, 3)?,
        parts: some_json(row, 4)?,
        ..CaseRecord::new(json(row, 1)?)
    })
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    row.get(column).map(|Json(value)| value)
}

fn some_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    let value: Option<Json<T>> = row.get(column)?;
    Ok(value.map(|Json(value)| value))
}

fn sample(row: &Row<'_>) -> rusqlite::Result<Sample> {
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
