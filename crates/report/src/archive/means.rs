//! What operations cost in earlier runs, to tell how long a plan will take.

use std::collections::HashMap;
use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, Protection, StackName};
use keymark_bench::operation::Operation;
use rusqlite::Row;
use rusqlite::types::Type;

use super::{Archive, Result};

/// What two cases of different runs have in common when they cost the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CaseKey {
    /// The device.
    pub device: DeviceName,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// What is asked of it.
    pub operation: Operation,
    /// Through which program.
    pub stack: StackName,
    /// By how many workers.
    pub concurrency: u32,
    /// How the key is kept.
    pub protection: Protection,
}

impl From<&Case> for CaseKey {
    fn from(case: &Case) -> Self {
        Self {
            device: case.device.clone(),
            algorithm: case.algorithm,
            operation: case.operation,
            stack: case.stack,
            concurrency: case.concurrency(),
            protection: case.protection,
        }
    }
}

/// Mean latency of each case, from the newest run that has it.
pub type LastMeans = HashMap<CaseKey, Duration>;

/// The bare columns beside `min(age)` are those of the row with the least age (SQLite, "Bare columns
/// in an aggregate query").
const NEWEST: &str = "
    WITH recent AS (
        SELECT id, row_number() OVER (ORDER BY started_utc DESC, id DESC) AS age
        FROM run WHERE state <> 'published' ORDER BY age LIMIT 5
    ), mean AS (
        SELECT device, algorithm, operation, stack, concurrency, protection, age,
               avg(end_ns - scheduled_ns) AS ns
        FROM recent
        JOIN case_ ON case_.run = recent.id
        JOIN block ON block.case_ = case_.id
        JOIN sample ON sample.block = block.id
        WHERE outcome = 0
        GROUP BY device, algorithm, operation, stack, concurrency, protection, age
    )
    SELECT device, algorithm, operation, stack, concurrency, protection, ns, min(age)
    FROM mean GROUP BY device, algorithm, operation, stack, concurrency, protection";

impl Archive {
    /// Mean latencies of the operations that counted, out of the last five runs.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn last_means(&self) -> Result<LastMeans> {
        let read = || {
            let mut statement = self.connection.prepare(NEWEST)?;
            let means = statement.query_map((), mean)?;
            means.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| self.failed(error))
    }
}

fn mean(row: &Row<'_>) -> rusqlite::Result<(CaseKey, Duration)> {
    fn parsed<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
    where
        T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
    {
        let refused =
            |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
        row.get::<_, String>(column)?.parse().map_err(refused)
    }
    let key = CaseKey {
        device: DeviceName::new(row.get::<_, String>(0)?),
        algorithm: parsed(row, 1)?,
        operation: parsed(row, 2)?,
        stack: parsed(row, 3)?,
        concurrency: row.get(4)?,
        protection: parsed(row, 5)?,
    };
    // Latencies are not negative, and the cast of a float saturates.
    Ok((key, Duration::from_nanos(row.get::<_, f64>(6)? as u64)))
}
