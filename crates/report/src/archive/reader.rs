//! Reads runs back.
//!
//! Runs by what was measured in them and when.

use std::collections::HashMap;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::DeviceName;
use keymark_bench::clock::Timestamp;
use keymark_bench::record::{CaseRecord, Record, RunId, RunState};
use keymark_bench::sample::{Block, CpuTime, Outcome, Sample, Stretch};
use keymark_bench::series::SeriesId;
use keymark_bench::server_load::ServerLoad;
use rusqlite::types::{ToSql, Type};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::de::DeserializeOwned;

use super::rows::{Json, Started, Word};
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
            if !line.algorithms.contains(&algorithm) {
                line.algorithms.push(algorithm);
            }
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
            let id = row.get(0)?;
            Ok(CaseRecord {
                ending: some_json(row, 2)?,
                published: some_json(row, 3)?,
                parts: some_json(row, 4)?,
                blocks: self.blocks(id)?,
                server_load: self.server_load(id)?,
                ..CaseRecord::new(json(row, 1)?)
            })
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
            let number = |column| -> rusqlite::Result<Option<u64>> {
                Ok(row.get::<_, Option<i64>>(column)?.map(i64::unsigned_abs))
            };
            let queue = number(3)?.zip(number(4)?);
            let mut block = Block {
                round: row.get(1)?,
                samples: Vec::with_capacity(row.get::<_, u32>(2)? as usize),
                queue: queue.map(|(length_ns, waiting)| Stretch { length_ns, waiting }),
                reference_ns: number(5)?,
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

/// What is looked for; what is not said leaves all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSearch {
    /// A part of a device's name, in any case.
    pub device: Option<String>,
    /// A part of an algorithm's name, in any case.
    pub algorithm: Option<String>,
    /// Started on this day (UTC) or later.
    pub from: Option<jiff::civil::Date>,
    /// Started on this day (UTC) or earlier.
    pub to: Option<jiff::civil::Date>,
}

/// Some of the runs that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Those that were wanted, the newest first.
    pub runs: Vec<RunLine>,
    /// How many there are.
    pub all: u64,
}

/// Which of the runs that are found are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How many newer ones are skipped.
    pub skip: u64,
    /// How many at most.
    pub take: u64,
}

const CONDITION: &str = "
    (?1 IS NULL OR EXISTS (SELECT 1 FROM case_ WHERE run = run.id AND instr(lower(device), ?1) > 0))
    AND (?2 IS NULL OR EXISTS (SELECT 1 FROM case_ WHERE run = run.id AND instr(algorithm, ?2) > 0))
    AND (?3 IS NULL OR started_utc >= ?3)
    AND (?4 IS NULL OR started_utc < ?4)";

impl Archive {
    /// Runs that a search finds.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn search(&self, search: &RunSearch, window: Window) -> Result<Found> {
        let day = |day: jiff::civil::Date| format!("{day}T");
        let device = search.device.as_ref().map(|name| name.to_lowercase());
        let algorithm = search.algorithm.as_ref().map(|name| name.to_lowercase());
        let from = search.from.map(day);
        // The day after the last one.
        let to = search
            .to
            .map(|to| day(to.saturating_add(jiff::Span::new().days(1))));
        let wanted: [&dyn ToSql; 4] = [&device, &algorithm, &from, &to];
        self.ask(|database| {
            let snapshot = database.unchecked_transaction()?;
            let ids =
                format!("SELECT id FROM run WHERE {CONDITION} ORDER BY started_utc DESC, id DESC");
            let mut ids = snapshot.prepare_cached(&ids)?;
            // Who searches among the cases does that once.
            let ids: Vec<String> = ids
                .query_map(&wanted[..], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let shown = ids
                .iter()
                .skip(window.skip as usize)
                .take(window.take as usize);
            let line = format!("{} FROM run WHERE id = ?1", LINE);
            let mut runs = Vec::new();
            for id in shown {
                runs.extend(lines(&snapshot, &line, [id])?);
            }
            Ok(Found {
                runs,
                all: ids.len() as u64,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::DeviceName;
    use keymark_bench::record::Record;
    use keymark_testkit::record::mixed as record;

    use super::*;

    fn archive() -> (tempfile::TempDir, Archive) {
        let directory = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(&directory.path().join("runs.sqlite3")).unwrap();
        for (day, device) in [(1, "software"), (2, "YubiKey 5"), (3, "yubikey 4")] {
            let mut run: Record = record(&format!("run-{day}"));
            run.started = format!("2026-01-0{day}T23:30:00Z").parse().unwrap();
            run.cases
                .iter_mut()
                .for_each(|case| case.case.device = DeviceName::new(device));
            archive.insert(&run).unwrap();
        }
        (directory, archive)
    }

    const ALL: Window = Window { skip: 0, take: 100 };

    fn found(archive: &Archive, search: &RunSearch) -> Vec<String> {
        let found = archive.search(search, ALL).unwrap();
        assert_eq!(found.all, found.runs.len() as u64);
        found.runs.into_iter().map(|run| run.id.0).collect()
    }

    #[test]
    fn runs_are_found_by_device_algorithm_and_day() {
        let (_directory, archive) = archive();
        let day = |text: &str| Some(text.parse().unwrap());
        let all = RunSearch::default();
        assert_eq!(found(&archive, &all), ["run-3", "run-2", "run-1"]);
        let device = |name: &str| RunSearch {
            device: Some(name.to_owned()),
            ..RunSearch::default()
        };
        assert_eq!(found(&archive, &device("YUBI")), ["run-3", "run-2"]);
        assert_eq!(found(&archive, &device("%")), [""; 0]);
        let algorithm = |name: &str| RunSearch {
            algorithm: Some(name.to_owned()),
            ..device("yubikey 5")
        };
        assert_eq!(found(&archive, &algorithm("RSA40")), ["run-2"]);
        assert_eq!(found(&archive, &algorithm("mldsa")), [""; 0]);
        let on = RunSearch {
            from: day("2026-01-02"),
            to: day("2026-01-02"),
            ..RunSearch::default()
        };
        assert_eq!(found(&archive, &on), ["run-2"]);
    }

    #[test]
    fn a_window_shows_some_and_counts_all() {
        let (_directory, archive) = archive();
        let window = Window { skip: 1, take: 1 };
        let found = archive.search(&RunSearch::default(), window).unwrap();
        assert_eq!(found.all, 3);
        assert_eq!(found.runs, archive.runs().unwrap()[1..2]);
        assert_eq!(found.runs[0].cases, 3);
        let beyond = Window { skip: 9, take: 1 };
        assert_eq!(
            archive.search(&RunSearch::default(), beyond).unwrap().runs,
            []
        );
    }
}
