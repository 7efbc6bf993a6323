//! What cases have taken in earlier runs: run by run, and to tell how long a plan will take.

use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, CaseKey};
use keymark_bench::environment::Environment;
use keymark_bench::operation::Operation;
use keymark_bench::record::{CaseRecord, Record, RunId};
use keymark_bench::series::SeriesId;
use keymark_bench::server_load::ServerLoad;
use keymark_stats::{BetweenRuns, RunDependence, Seconds, Summary};
use rusqlite::{OptionalExtension, Row, params};

use super::reader::json;
use super::rows::Started;
use super::{Archive, Result};
use crate::compare::mean;
use crate::history::{self, Trend};

/// Words that name cases: all of them stand in the case's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseWords(Vec<String>);

impl CaseWords {
    /// From a command line, where words may stand together.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words = words.into_iter().flat_map(str::split_whitespace);
        Self(words.map(str::to_lowercase).collect())
    }

    /// Whether a case is one of those that are meant.
    pub fn name(&self, case: &Case) -> bool {
        let name = case.to_string().to_lowercase();
        let own: Vec<&str> = name.split_whitespace().collect();
        self.0.iter().all(|word| own.contains(&word.as_str()))
    }

    /// The word among them that is one of these.
    fn word<T: FromStr + ToString>(&self) -> Option<String> {
        let mut words = self.0.iter();
        words.find_map(|word| Some(word.parse::<T>().ok()?.to_string()))
    }
}

/// A case in one run that was finished.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// The run.
    pub run: RunId,
    /// When it started.
    pub started: jiff::Timestamp,
    /// The series that it is of, if it is of one.
    pub series: Option<SeriesId>,
    /// On what.
    pub environment: Environment,
    /// The case.
    pub case: Case,
    /// Its mean, as it was measured.
    pub mean: Seconds,
    /// Its row.
    pub(crate) id: i64,
}

const CASES: &str = "
    SELECT case_.id, started_utc, \"case\", run.id, series
    FROM run JOIN case_ ON case_.run = run.id
    WHERE state = 'finished' AND replica = 0 AND published_mean_s IS NULL
      AND (?1 IS NULL OR algorithm = ?1) AND (?2 IS NULL OR operation = ?2)
    ORDER BY started_utc, run.id, number";

impl Archive {
    /// The cases that are meant, in every finished run, the oldest first. Published figures and predictions have no
    /// history: neither comes from a run.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn history(&self, wanted: &CaseWords) -> Result<Vec<Past>> {
        self.ask(|_| Ok(self.past(wanted)?))
    }

    fn past(&self, wanted: &CaseWords) -> rusqlite::Result<Vec<Past>> {
        let snapshot = self.connection.unchecked_transaction()?;
        let mut cases = snapshot.prepare(CASES)?;
        let (algorithm, operation) = (wanted.word::<Algorithm>(), wanted.word::<Operation>());
        let mut rows = cases.query(params![algorithm, operation])?;
        let mut environments: HashMap<String, Environment> = HashMap::new();
        let mut past = Vec::new();
        while let Some(row) = rows.next()? {
            let case: Case = json(row, 2)?;
            if !wanted.name(&case) {
                continue;
            }
            let (id, run): (i64, String) = (row.get(0)?, row.get(3)?);
            let Some(mean) = self.mean_of(id, &case)? else {
                continue;
            };
            if !environments.contains_key(&run) {
                environments.insert(run.clone(), self.environment(&run)?);
            }
            past.push(Past {
                id,
                environment: environments[&run].clone(),
                run: RunId(run),
                started: row.get::<_, Started>(1)?.0,
                series: row.get::<_, Option<String>>(4)?.map(SeriesId),
                case,
                mean,
            });
        }
        Ok(past)
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
                    blocks: self.ask(|_| Ok(self.blocks(row)?))?,
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

    fn environment(&self, run: &str) -> rusqlite::Result<Environment> {
        let environment = "SELECT environment FROM run WHERE id = ?1";
        self.connection
            .query_row(environment, [run], |row| json(row, 0))
    }

    /// The mean of the operations that count; of a queue that grows there is none.
    fn mean_of(&self, id: i64, case: &Case) -> rusqlite::Result<Option<Seconds>> {
        let load: Option<Box<ServerLoad>> = self.server_load(id)?;
        let open = case.load.pacing.rate().is_some();
        if open || load.is_some() {
            let record = CaseRecord {
                blocks: if load.is_some() {
                    Vec::new()
                } else {
                    self.blocks(id)?
                },
                server_load: load,
                ..CaseRecord::new(case.clone())
            };
            return Ok(mean(&record));
        }
        let mean =
            "SELECT avg(end_ns - scheduled_ns) FROM block JOIN sample ON sample.block = block.id
                    WHERE case_ = ?1 AND outcome = 0";
        let mut mean = self.connection.prepare_cached(mean)?;
        let mean: Option<f64> = mean.query_row([id], |row| row.get(0)).optional()?.flatten();
        Ok(mean.filter(|mean| *mean > 0.0).map(Seconds::from_nanos))
    }
}

/// Mean latency of each case, from the newest run that has it.
pub type LastMeans = HashMap<CaseKey, Duration>;

const NEWEST_FIRST: &str = "
    WITH recent AS (
        SELECT id, row_number() OVER (ORDER BY started_utc DESC, id DESC) AS age
        FROM run WHERE state <> 'published' ORDER BY age LIMIT 5
    )
    SELECT case_.\"case\", avg(end_ns - scheduled_ns)
    FROM recent
    JOIN case_ ON case_.run = recent.id
    JOIN block ON block.case_ = case_.id
    JOIN sample ON sample.block = block.id
    WHERE outcome = 0
    GROUP BY case_.id ORDER BY age, case_.number";

impl Archive {
    /// Mean latencies of the operations that counted, out of the last five runs.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn last_means(&self) -> Result<LastMeans> {
        self.ask(|database| {
            let mut statement = database.prepare(NEWEST_FIRST)?;
            let mut means = LastMeans::new();
            for mean in statement.query_map((), mean_of_row)? {
                let (key, mean) = mean?;
                means.entry(key).or_insert(mean);
            }
            Ok(means)
        })
    }
}

/// Earlier runs, newest first, that may tell by how much runs differ.
const FINISHED: &str = "
    SELECT id, environment FROM run WHERE state = 'finished' ORDER BY started_utc DESC, id DESC LIMIT 200";
/// Runs of these, at most, are read: every sample of them is.
const ENOUGH: usize = 30;

const MEANS: &str = "
    SELECT case_.\"case\", avg(end_ns - scheduled_ns)
    FROM case_
    JOIN block ON block.case_ = case_.id
    JOIN sample ON sample.block = block.id
    WHERE run = ?1 AND outcome = 0 AND replica = 0
    GROUP BY case_.id";

/// Loads on servers have no samples.
const LOADS: &str = "
    SELECT case_.\"case\", load FROM case_ JOIN server_load ON server_load.case_ = case_.id
    WHERE run = ?1 AND replica = 0";

impl Archive {
    /// By how much runs of the cases of these records differ on their machines, by the archive's runs of the
    /// same keymark there, without `single` ones, whose difference is in question.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn between_runs(&self, compared: &[&Record], single: &[&Record]) -> Result<BetweenRuns> {
        self.ask(|_| Ok(self.earlier_means(compared, single)?))
    }

    fn earlier_means(
        &self,
        compared: &[&Record],
        single: &[&Record],
    ) -> rusqlite::Result<BetweenRuns> {
        let wanted: HashSet<CaseKey> = compared
            .iter()
            .flat_map(|record| record.cases.iter().map(|case| case.case.key()))
            .collect();
        let mut runs = self.connection.prepare(FINISHED)?;
        let runs = runs.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut means = self.connection.prepare(MEANS)?;
        let mut loads = self.connection.prepare(LOADS)?;
        let mut cases: HashMap<(CaseKey, String), Vec<Seconds>> = HashMap::new();
        let mut read = 0;
        for run in runs {
            let (id, environment): (String, String) = run?;
            let Ok(environment) = serde_json::from_str::<Environment>(&environment) else {
                continue;
            };
            let alike = compared.iter().any(|record| {
                let its = &record.environment;
                its.cpu_model == environment.cpu_model
                    && its.cores == environment.cores
                    && its.keymark == environment.keymark
            });
            if !alike || single.iter().any(|record| record.id == RunId(id.clone())) {
                continue;
            }
            let mut some = false;
            let of_samples = means.query_map([&id], mean_of_row)?;
            let of_loads = loads
                .query_map([&id], mean_of_load)?
                .filter_map(Result::transpose);
            for row in of_samples.chain(of_loads) {
                let (key, mean) = row?;
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
}

/// The mean of the steady state, if there was one.
fn mean_of_load(row: &Row<'_>) -> rusqlite::Result<Option<(CaseKey, Duration)>> {
    let (case, load): (Case, ServerLoad) = (json(row, 0)?, json(row, 1)?);
    let mean = load.mean(|second| &second.whole);
    Ok(mean.map(|mean| (case.key(), Duration::from_secs_f64(mean.0))))
}

fn mean_of_row(row: &Row<'_>) -> rusqlite::Result<(CaseKey, Duration)> {
    let case: Case = json(row, 0)?;
    // Latencies are not negative, and the cast of a float saturates.
    Ok((
        case.key(),
        Duration::from_nanos(row.get::<_, f64>(1)? as u64),
    ))
}
