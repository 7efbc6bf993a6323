//! What cases have taken in earlier runs: run by run, and to tell how long a plan will take.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::time::Duration;

use itertools::Itertools as _;
use keymark_bench::series::SeriesId;
use keymark_bench::{
    Algorithm, Case, CaseKey, CaseRecord, Environment, Operation, Record, RunId, ServerLoad,
};
use keymark_stats::{BetweenRuns, RunDependence, Seconds, Summary};

use super::database::{Database, Row};
use super::reader::{json, some_json};
use super::rows::Word;
use super::{Archive, Fault, Result};
use crate::compare::mean;
use crate::history::{self, Past, Trend};

/// Words that name cases: all of them stand in the case's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseWords(Vec<String>);

impl CaseWords {
    /// From a command line, where words may stand together.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words = words.into_iter().flat_map(str::split_whitespace);
        Self(words.map(str::to_lowercase).collect())
    }

    /// Whether a case is one of those that are meant, on a machine of that label, which may be one of the words.
    pub fn name(&self, case: &Case, machine: Option<&str>) -> bool {
        let name = case.to_string().to_lowercase();
        let machine = machine.map(str::to_lowercase);
        let own: Vec<&str> = name.split_whitespace().chain(machine.as_deref()).collect();
        self.0.iter().all(|word| own.contains(&word.as_str()))
    }

    /// The word among them that is one of these.
    fn word<T: FromStr + ToString>(&self) -> Option<String> {
        let mut words = self.0.iter();
        words.find_map(|word| Some(word.parse::<T>().ok()?.to_string()))
    }
}

const CASES: &str = include_str!("queries/cases.sql");

/// Cases whose means are asked for at once: a statement is no longer than SQLite takes.
const AT_ONCE: usize = 5_000;

impl Archive {
    /// The cases that are meant, in every finished run, the oldest first. Published figures and predictions have no
    /// history: neither comes from a run.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn history(&self, wanted: &CaseWords) -> Result<Vec<Past>> {
        self.ask(|database| self.past(database, wanted))
    }

    fn past(&self, database: &Database, wanted: &CaseWords) -> Result<Vec<Past>, Fault> {
        let _snapshot = database.snapshot()?;
        let (algorithm, operation) = (wanted.word::<Algorithm>(), wanted.word::<Operation>());
        // Runs of one machine mostly say the same.
        let mut environments: HashMap<String, Environment> = HashMap::new();
        let mut read = |row: Row<'_>| -> rusqlite::Result<_> {
            let (case, run): (Case, String) = (json(row, 2)?, row.get(3)?);
            let environment = match environments.entry(row.get(6)?) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(json(row, 6)?),
            };
            if !wanted.name(&case, environment.machine.as_deref()) {
                return Ok(None);
            }
            let past = Past {
                id: row.get(0)?,
                environment: environment.clone(),
                run: RunId(run),
                started: row.get::<Word<_>>(1)?.0,
                series: row.get::<Option<String>>(4)?.map(SeriesId),
                case,
                mean: Seconds(0.0),
            };
            Ok(Some((past, some_json(row, 5)?)))
        };
        let found = database.rows(CASES, &[&algorithm, &operation], |row| {
            self.readable(row, 3, read(row)).map(Option::flatten)
        })?;
        let found: Vec<_> = found.into_iter().flatten().collect();
        let ids: Vec<i64> = found.iter().map(|(past, _)| past.id).collect();
        let means = means_of_samples(database, &ids)?;
        let mut all = Vec::new();
        for (past, load) in found {
            let mean = if past.case.load.pacing.rate().is_some() || load.is_some() {
                self.mean_under_load(&past, load)?
            } else {
                means.get(&past.id).copied()
            };
            all.extend(mean.map(|mean| Past { mean, ..past }));
        }
        Ok(all)
    }

    /// Of a queue that grows there is none.
    fn mean_under_load(
        &self,
        past: &Past,
        load: Option<Box<ServerLoad>>,
    ) -> Result<Option<Seconds>, Fault> {
        let blocks = match load {
            Some(_) => Vec::new(),
            None => self.blocks(past.id)?,
        };
        Ok(mean(&CaseRecord {
            blocks,
            server_load: load,
            ..CaseRecord::new(past.case.clone())
        }))
    }

    /// Gives the last so many points of each trend their intervals: those of a single run are of its samples, all of
    /// which are read.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn bound(&self, trends: &mut [Trend], last: usize) -> Result<()> {
        for trend in trends {
            let case = &trend.case;
            for point in trend.points.iter_mut().rev().take(last) {
                let Some(row) = point.row else { continue };
                let record = CaseRecord {
                    blocks: self.ask(|_| self.blocks(row))?,
                    ..CaseRecord::new(case.clone())
                };
                // Only this case's samples are read, not what the run's others tell.
                let alone = RunDependence::default();
                if let Some(summary) = Summary::of(&record.latencies(), &alone, history::SEED) {
                    point.mean = summary.mean;
                }
            }
        }
        Ok(())
    }
}

/// The means of the operations that count, of these cases alone: a sum of blocks for each that was looked at took longer.
fn means_of_samples(database: &Database, cases: &[i64]) -> Result<HashMap<i64, Seconds>, Fault> {
    let mut means = HashMap::new();
    for some in cases.chunks(AT_ONCE) {
        let ids = some.iter().join(",");
        let statement = format!(
            "SELECT case_, CAST(sum(done_ns) AS double precision) / sum(done)
             FROM block WHERE case_ IN ({ids}) GROUP BY case_ HAVING sum(done) > 0"
        );
        let found = database.rows(&statement, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found = found.into_iter().filter(|(_, mean)| *mean > 0.0);
        means.extend(found.map(|(id, mean): (i64, f64)| (id, Seconds::from_nanos(mean))));
    }
    Ok(means)
}

/// Mean latency of each case, from the newest run that has it.
pub type LastMeans = HashMap<CaseKey, Duration>;

const NEWEST_FIRST: &str = include_str!("queries/newest_first.sql");

impl Archive {
    /// Mean latencies of the operations that counted, out of the last five runs.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn last_means(&self) -> Result<LastMeans> {
        self.ask(|database| {
            let mut means = LastMeans::new();
            // What cannot be read tells nothing of what a plan will take.
            let found = database.rows(NEWEST_FIRST, &[], |row| Ok(mean_of_row(row).ok()))?;
            for (key, mean) in found.into_iter().flatten() {
                means.entry(key).or_insert(mean);
            }
            Ok(means)
        })
    }
}

/// Earlier runs, newest first, that may tell by how much runs differ.
const FINISHED: &str = include_str!("queries/finished.sql");
/// Runs of these, at most, are read: every sample of them is.
const ENOUGH: usize = 30;

const MEANS: &str = include_str!("queries/means.sql");

/// Loads on servers have no samples.
const LOADS: &str = include_str!("queries/loads.sql");

impl Archive {
    /// By how much runs of the cases of these records differ on their machines, by the archive's runs of the
    /// same keymark there, without `single` ones, whose difference is in question.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn between_runs(&self, compared: &[&Record], single: &[&Record]) -> Result<BetweenRuns> {
        self.ask(|database| earlier_means(database, compared, single))
    }
}

fn earlier_means(
    database: &Database,
    compared: &[&Record],
    single: &[&Record],
) -> Result<BetweenRuns, Fault> {
    let wanted: HashSet<CaseKey> = compared
        .iter()
        .flat_map(|record| record.cases.iter().map(|case| case.case.key()))
        .collect();
    let runs: Vec<(String, String)> =
        database.rows(FINISHED, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut cases: HashMap<(CaseKey, String), Vec<Seconds>> = HashMap::new();
    let mut read = 0;
    for (id, environment) in runs {
        let Ok(environment) = serde_json::from_slice::<Environment>(environment.as_bytes()) else {
            continue;
        };
        let alike = compared.iter().any(|record| {
            let its = &record.environment;
            its.cpu_model == environment.cpu_model
                && its.cores == environment.cores
                && its.keymark == environment.keymark
        });
        if !alike || single.iter().any(|record| record.id.0 == id) {
            continue;
        }
        let mut some = false;
        let of_samples = database.rows(MEANS, &[&id], |row| Ok(mean_of_row(row).ok()))?;
        let of_loads = database.rows(LOADS, &[&id], |row| Ok(mean_of_load(row).ok().flatten()))?;
        for (key, mean) in of_samples.into_iter().chain(of_loads).flatten() {
            if wanted.contains(&key) {
                some = true;
                let of_case = cases.entry((key, environment.keymark.clone()));
                of_case.or_default().push(Seconds(mean.as_secs_f64()));
            }
        }
        read += usize::from(some);
        if read == ENOUGH {
            break;
        }
    }
    let cases: Vec<Vec<Seconds>> = cases.into_values().collect();
    Ok(BetweenRuns::of(&cases, read))
}

/// The mean of the steady state, if there was one.
fn mean_of_load(row: Row<'_>) -> rusqlite::Result<Option<(CaseKey, Duration)>> {
    let (case, load): (Case, ServerLoad) = (json(row, 0)?, json(row, 1)?);
    let mean = load.mean(|second| &second.whole);
    Ok(mean.map(|mean| (case.key(), Duration::from_secs_f64(mean.0))))
}

fn mean_of_row(row: Row<'_>) -> rusqlite::Result<(CaseKey, Duration)> {
    let case: Case = json(row, 0)?;
    // Latencies are not negative, and the cast of a float saturates.
    Ok((case.key(), Duration::from_nanos(row.get::<f64>(1)? as u64)))
}
