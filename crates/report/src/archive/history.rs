//! What a case has taken, run by run.

use std::collections::HashMap;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::Case;
use keymark_bench::environment::Environment;
use keymark_bench::operation::Operation;
use keymark_bench::record::{CaseRecord, RunId};
use keymark_bench::series::SeriesId;
use keymark_bench::server_load::ServerLoad;
use keymark_stats::{RunDependence, Seconds, Summary};
use rusqlite::{OptionalExtension, params};

use super::column::Started;
use super::reader::json;
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

    fn parsed<T: std::str::FromStr>(&self) -> Option<T> {
        self.0.iter().find_map(|word| word.parse().ok())
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
        let algorithm = wanted
            .parsed::<Algorithm>()
            .map(|algorithm| algorithm.to_string());
        let operation = wanted
            .parsed::<Operation>()
            .map(|operation| operation.to_string());
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
