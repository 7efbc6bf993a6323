//! What operations cost in earlier runs, to tell how long a plan will take.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use keymark_bench::case::{Case, CaseKey};
use keymark_bench::environment::Environment;
use keymark_bench::record::{Record, RunId};
use keymark_bench::server_load::ServerLoad;
use keymark_stats::{BetweenRuns, Seconds};
use rusqlite::Row;

use super::reader::json;
use super::{Archive, Result};

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
            for mean in statement.query_map((), mean)? {
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
            let of_samples = means.query_map([&id], mean)?;
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

fn mean(row: &Row<'_>) -> rusqlite::Result<(CaseKey, Duration)> {
    let case: Case = json(row, 0)?;
    // Latencies are not negative, and the cast of a float saturates.
    Ok((
        case.key(),
        Duration::from_nanos(row.get::<_, f64>(1)? as u64),
    ))
}
