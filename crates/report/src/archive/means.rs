//! What operations cost in earlier runs, to tell how long a plan will take.

use std::collections::HashMap;
use std::time::Duration;

use keymark_bench::case::{Case, CaseKey};
use rusqlite::Row;
use rusqlite::types::Type;

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
        let read = || {
            let mut statement = self.connection.prepare(NEWEST_FIRST)?;
            let mut means = LastMeans::new();
            for mean in statement.query_map((), mean)? {
                let (key, mean) = mean?;
                means.entry(key).or_insert(mean);
            }
            Ok(means)
        };
        read().map_err(|error| self.failed(error))
    }
}

fn mean(row: &Row<'_>) -> rusqlite::Result<(CaseKey, Duration)> {
    let case: Case = serde_json::from_str(&row.get::<_, String>(0)?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))?;
    // Latencies are not negative, and the cast of a float saturates.
    Ok((
        case.key(),
        Duration::from_nanos(row.get::<_, f64>(1)? as u64),
    ))
}
