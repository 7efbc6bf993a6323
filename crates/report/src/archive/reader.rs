//! Reads runs back.

use std::collections::HashMap;
use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::DeviceName;
use keymark_bench::clock::Timestamp;
use keymark_bench::error::ReturnCode;
use keymark_bench::record::{CaseRecord, Ending, PublishedMean, Record, RunId, RunState};
use keymark_bench::sample::{Block, CpuTime, Outcome, Sample, Stretch};
use keymark_bench::series::{InSeries, SeriesId};
use keymark_bench::server_load::ServerLoad;
use keymark_stats::{Band, Seconds};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::de::DeserializeOwned;

use super::{Archive, ArchiveError, Result, RunSelector, from_word, outcome_code};

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
                    let read = value(row, 1, from_word)?;
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
        let read = || {
            let snapshot = self.connection.unchecked_transaction()?;
            let all = format!("{LINE} FROM run ORDER BY started_utc DESC, id DESC");
            lines(&snapshot, &all, ())
        };
        read().map_err(|error| self.failed(error))
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
        let read = || {
            // One snapshot: the run may still be under way.
            let _snapshot = self.connection.unchecked_transaction()?;
            let head = "SELECT id, started_utc, state, schema, plan, environment, harness, stores,
                               series, series_number, series_runs, series_pause_ns, series_against
                        FROM run WHERE id = ?1";
            let mut record = self.connection.query_row(head, [id], record)?;
            record.cases = self.cases(id)?;
            Ok(record)
        };
        read().map_err(|error| self.failed(error))
    }

    fn last(&self, back: u32, which: &RunSelector) -> Result<String> {
        let nth = "SELECT id FROM run WHERE state <> 'published'
                   ORDER BY started_utc DESC, id DESC LIMIT 1 OFFSET ?1";
        let id = self
            .connection
            .query_row(nth, [back], |row| row.get(0))
            .optional();
        if let Some(id) = id.map_err(|error| self.failed(error))? {
            return Ok(id);
        }
        let all = "SELECT count(*) FROM run WHERE state <> 'published'";
        let count = self.connection.query_row(all, (), |row| row.get(0));
        Err(ArchiveError::NotSoMany {
            path: self.path.clone(),
            wanted: which.to_string(),
            count: count.map_err(|error| self.failed(error))?,
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
        let read = || {
            let mut statement = self.connection.prepare(names)?;
            let ids = statement.query_map([prefix], |row| row.get(0))?;
            ids.collect::<rusqlite::Result<Vec<String>>>()
        };
        let ids = read().map_err(|error| self.failed(error))?;
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
            "SELECT id, \"case\", stopped, reason, published_mean_s, published_n, published_note, parts,
                    code, code_number, published_low_s, published_high_s
             FROM case_ WHERE run = ?1 ORDER BY number",
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
        loads
            .query_row([case], |row| value(row, 0, json))
            .optional()
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

/// A text column, parsed.
pub(super) fn value<T>(
    row: &Row<'_>,
    column: usize,
    parse: impl FnOnce(String) -> serde_json::Result<T>,
) -> rusqlite::Result<T> {
    parse(row.get(column)?).map_err(|error| unreadable(column, Type::Text, error))
}

fn unreadable(
    column: usize,
    kind: Type,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(error))
}

pub(super) fn json<T: DeserializeOwned>(text: impl AsRef<str>) -> serde_json::Result<T> {
    serde_json::from_str(text.as_ref())
}

pub(super) fn started(row: &Row<'_>) -> rusqlite::Result<jiff::Timestamp> {
    row.get::<_, String>(1)?
        .parse()
        .map_err(|error: jiff::Error| unreadable(1, Type::Text, error))
}

fn line(row: &Row<'_>) -> rusqlite::Result<RunLine> {
    let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(RunLine {
        id: RunId(row.get(0)?),
        started: started(row)?,
        state: value(row, 2, from_word)?,
        // Counted with their devices.
        cases: 0,
        samples: count(3)?,
        devices: Vec::new(),
        algorithms: Vec::new(),
        series: row.get::<_, Option<String>>(4)?.map(SeriesId),
    })
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let harness: Option<String> = row.get(6)?;
    Ok(Record {
        schema: row.get(3)?,
        id: RunId(row.get(0)?),
        started: started(row)?,
        state: value(row, 2, from_word)?,
        series: in_series(row)?,
        plan: value(row, 4, json)?,
        environment: value(row, 5, json)?,
        harness: harness
            .map(json)
            .transpose()
            .map_err(|error| unreadable(6, Type::Text, error))?,
        stores: value(row, 7, json)?,
        cases: Vec::new(),
    })
}

fn in_series(row: &Row<'_>) -> rusqlite::Result<Option<InSeries>> {
    let Some(id) = row.get(8)? else {
        return Ok(None);
    };
    let pause: i64 = row.get(11)?;
    Ok(Some(InSeries {
        id: SeriesId(id),
        number: row.get(9)?,
        runs: row.get(10)?,
        pause: Duration::from_nanos(pause.unsigned_abs()),
        against: row.get::<_, Option<String>>(12)?.map(SeriesId),
    }))
}

fn case(row: &Row<'_>) -> rusqlite::Result<CaseRecord> {
    let mut record = CaseRecord::new(value(row, 1, json)?);
    if row.get::<_, Option<String>>(2)?.is_some() {
        let code = row.get::<_, Option<String>>(8)?;
        let code = code.zip(row.get(9)?);
        record.ending = Some(Ending {
            stopped: value(row, 2, from_word)?,
            reason: row.get(3)?,
            code: code.map(|(name, number)| ReturnCode::named(name, number)),
        });
    }
    if let Some(mean) = row.get(4)? {
        let n: Option<i64> = row.get(5)?;
        record.published = Some(PublishedMean {
            mean: Seconds(mean),
            n: n.map(i64::unsigned_abs),
            note: row.get(6)?,
            band: row
                .get::<_, Option<f64>>(10)?
                .zip(row.get(11)?)
                .map(|(low, high)| Band {
                    low: Seconds(low),
                    high: Seconds(high),
                }),
        });
    }
    if let Some(parts) = row.get::<_, Option<String>>(7)? {
        let read = json(parts).map_err(|error| unreadable(7, Type::Text, error))?;
        record.parts = Some(read);
    }
    Ok(record)
}

fn sample(row: &Row<'_>) -> rusqlite::Result<Sample> {
    let time = |column| {
        let nanoseconds: i64 = row.get(column)?;
        let positive = u64::try_from(nanoseconds);
        positive
            .map(Timestamp)
            .map_err(|error| unreadable(column, Type::Integer, error))
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
