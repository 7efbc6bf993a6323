//! Means of cases in earlier runs: estimates of a plan's duration, and of the differences between runs of a machine.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use keymark_bench::{Case, CaseKey, Environment, Record, ServerLoad};
use keymark_stats::{BetweenRuns, Seconds};

use super::database::{Database, SqlRow, values};
use super::{Archive, Result};

/// Mean latency of each case, from the newest run that has it.
pub type LastMeans = HashMap<CaseKey, Duration>;

const NEWEST_FIRST: &str = include_str!("queries/newest_first.sql");

impl Archive {
    /// Returns mean latencies of successful operations from the last five runs.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn last_means(&self) -> Result<LastMeans> {
        self.ask(|database| {
            let mut means = LastMeans::new();
            // Damaged rows are left out of estimates.
            let found = database.rows(NEWEST_FIRST, &[], |row| Ok(mean_of_row(row).ok()))?;
            for (key, mean) in found.into_iter().flatten() {
                means.entry(key).or_insert(mean);
            }
            Ok(means)
        })
    }
}

/// Finds earlier runs, newest first.
const FINISHED: &str = include_str!("queries/finished.sql");
/// Largest number of runs that are read.
const ENOUGH: usize = 30;

const MEANS: &str = include_str!("queries/means.sql");

/// Loads on servers have no samples.
const LOADS: &str = include_str!("queries/loads.sql");

impl Archive {
    /// Returns how much runs of the compared cases differ, from the archive's runs on the same machines with the same keymark.
    /// Runs in `single` are left out: their difference is in question.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn between_runs(&self, compared: &[&Record], single: &[&Record]) -> Result<BetweenRuns> {
        self.ask(|database| earlier_means(database, compared, single))
    }
}

fn earlier_means(
    database: &dyn Database,
    compared: &[&Record],
    single: &[&Record],
) -> Result<BetweenRuns> {
    let wanted: HashSet<CaseKey> = compared
        .iter()
        .flat_map(|record| &record.cases)
        .map(|case| case.case.key())
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
        let of_samples = database.rows(MEANS, values![&id], |row| Ok(mean_of_row(row).ok()))?;
        let of_loads = database.rows(LOADS, values![&id], |row| {
            Ok(mean_of_load(row).ok().flatten())
        })?;
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

/// Returns the mean of the steady state, if there is one.
fn mean_of_load(row: &SqlRow) -> Result<Option<(CaseKey, Duration)>> {
    let (case, load): (Case, ServerLoad) = (row.json(0)?, row.json(1)?);
    let mean = load.mean(|second| &second.whole);
    Ok(mean.map(|mean| (case.key(), Duration::from_secs_f64(mean.0))))
}

fn mean_of_row(row: &SqlRow) -> Result<(CaseKey, Duration)> {
    let case: Case = row.json(0)?;
    // Latencies are not negative, and the cast of a float saturates.
    Ok((case.key(), Duration::from_nanos(row.get::<f64>(1)? as u64)))
}
