//! What a transaction writes, and columns that hold what an export holds.

use keymark_bench::{Block, CaseRecord, Harness, Record, RunId, RunState, Sample, Timestamp};
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::database::{SampleRow, Transaction, Values};
use super::seal::{CASE, seal, seal_of_block};
use super::{ArchiveError, Fault, outcome_code};

type Result<T> = std::result::Result<T, Fault>;

impl Transaction<'_> {
    pub(super) fn has(&self, id: &RunId) -> Result<bool> {
        let found = "SELECT 1 FROM run WHERE id = ?1";
        Ok(self.database.first(found, &[&id.0], |_| Ok(()))?.is_some())
    }

    /// The rows of a run's cases, in the plan's order.
    pub(super) fn rows(&self, id: &RunId) -> Result<Vec<i64>> {
        let rows = "SELECT id FROM case_ WHERE run = ?1 ORDER BY number";
        self.database.rows(rows, &[&id.0], |row| row.get(0))
    }

    /// The run and its cases without blocks and endings; yields the rows of the cases.
    pub(super) fn head(&self, record: &Record) -> Result<Vec<i64>> {
        self.database.execute(
            "INSERT INTO run (id, started_utc, state, keymark, schema, plan, environment, harness, stores, in_series, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, '')",
            &[
                &record.id.0,
                &format!("{:.9}", record.started),
                &RunState::Unfinished.to_string(),
                &record.environment.keymark,
                &record.schema,
                &Json(&record.plan),
                &Json(&record.environment),
                &record.harness.map(Json),
                &Json(&record.stores),
                &record.series.as_ref().map(Json),
            ],
        )?;
        self.seal_run(&record.id)?;
        (0_u32..)
            .zip(&record.cases)
            .map(|(number, case)| self.case(&record.id, number, case))
            .collect()
    }

    fn case(&self, run: &RunId, number: u32, record: &CaseRecord) -> Result<i64> {
        let insert = "INSERT INTO case_ (run, number, \"case\", published, parts, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                      RETURNING id";
        let case = text(&record.case)?;
        let published = record.published.as_ref().map(text).transpose()?;
        let parts = record.parts.as_ref().map(text).transpose()?;
        // The columns of CASE: it has neither an ending nor a load yet.
        let columns = [
            Some(case),
            None,
            published,
            parts,
            None,
            Some(number.to_string()),
        ];
        let [case, _, published, parts, ..] = &columns;
        let values: Values<'_> = &[&run.0, &number, case, published, parts, &seal(&columns)];
        self.database.value(insert, values)
    }

    pub(super) fn block(&self, case: i64, block: &Block) -> Result<()> {
        let samples = i64::try_from(block.samples.len()).unwrap_or(i64::MAX);
        let latencies = block.done().map(Sample::latency_ns);
        let (done, total) = latencies.fold((0_i64, 0_u64), |(done, total), latency| {
            (done + 1, total.saturating_add(latency))
        });
        let total = stored(total, "the time of a block's operations")?;
        let known =
            |number: Option<u64>, what| number.map(|number| stored(number, what)).transpose();
        let length = known(block.queue.map(|queue| queue.length_ns), "a block's length")?;
        let waiting = known(block.queue.map(|queue| queue.waiting), "a queue's length")?;
        let reference = known(block.reference_ns, "the reference's time")?;
        let insert = "INSERT INTO block (case_, round, samples, done, done_ns, length_ns, waiting, reference_ns, sum)
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id";
        let values: Values<'_> = &[
            &case,
            &block.round,
            &samples,
            &done,
            &total,
            &length,
            &waiting,
            &reference,
            &seal_of_block(block),
        ];
        let id: i64 = self.database.value(insert, values)?;
        let time = |timestamp: Timestamp| stored(timestamp.0, "a sample's time").map(Some);
        let row = |(number, sample): (i64, &Sample)| -> Result<SampleRow> {
            let (user, system) = sample.cpu.map(|cpu| (cpu.user_us, cpu.system_us)).unzip();
            Ok([
                Some(id),
                Some(number),
                Some(sample.worker.into()),
                time(sample.scheduled)?,
                time(sample.start)?,
                time(sample.end)?,
                Some(outcome_code(sample.outcome).into()),
                user.map(i64::from),
                system.map(i64::from),
            ])
        };
        let rows: Result<Vec<SampleRow>> = (0_i64..).zip(&block.samples).map(row).collect();
        self.database.append(&rows?)
    }

    /// How the case ended, and what is known of it only then.
    pub(super) fn conclusion(&self, case: i64, record: &CaseRecord) -> Result<()> {
        let Some(ending) = &record.ending else {
            return Ok(());
        };
        if let Some(load) = &record.server_load {
            let insert = "INSERT INTO server_load (case_, load) VALUES (?1, ?2)
                          ON CONFLICT (case_) DO UPDATE SET load = excluded.load";
            self.database.execute(insert, &[&case, &Json(load)])?;
        }
        let update = "UPDATE case_ SET ending = ?2, parts = ?3 WHERE id = ?1";
        let parts = record.parts.as_ref().map(Json);
        self.database
            .execute(update, &[&case, &Json(ending), &parts])?;
        self.seal(&case, CASE)
    }

    pub(super) fn harness(&self, run: &RunId, harness: &Harness) -> Result<()> {
        let update = "UPDATE run SET harness = ?2 WHERE id = ?1";
        self.database.execute(update, &[&run.0, &Json(harness)])?;
        self.seal_run(run)
    }

    /// What stands apart of a part of the run.
    pub(super) fn own(&self, run: &RunId, part: i64, whole: &str) -> Result<()> {
        let insert = "INSERT INTO identity (run, part, whole) VALUES (?1, ?2, ?3)
                      ON CONFLICT (run, part) DO UPDATE SET whole = excluded.whole";
        self.database.execute(insert, &[&run.0, &part, &whole])
    }

    /// Keeps others from adding to the run until the commit; how many blocks it has.
    pub(super) fn claim(&self, run: &RunId) -> Result<usize> {
        self.database
            .execute("UPDATE run SET state = state WHERE id = ?1", &[&run.0])?;
        let blocks =
            "SELECT count(*) FROM case_ JOIN block ON block.case_ = case_.id WHERE run = ?1";
        let found: isize = self.database.value(blocks, &[&run.0])?;
        Ok(found.unsigned_abs())
    }

    /// The run with all that is of it.
    pub(super) fn remove(&self, run: &RunId) -> Result<()> {
        self.database
            .execute("DELETE FROM run WHERE id = ?1", &[&run.0])
    }

    pub(super) fn state(&self, run: &RunId, state: RunState) -> Result<()> {
        let update = "UPDATE run SET state = ?2 WHERE id = ?1";
        self.database
            .execute(update, &[&run.0, &state.to_string()])?;
        self.seal_run(run)
    }
}

/// SQLite's integers are signed.
fn stored(number: u64, what: &'static str) -> Result<i64> {
    i64::try_from(number).map_err(|_| ArchiveError::TooLarge(what).into())
}

/// JSON, as in an export.
pub(super) struct Json<T>(pub(super) T);

/// What stands in an export as a word, and here without its quotation marks.
pub(super) struct Word<T>(pub(super) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(text(&self.0)?.into())
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_slice(value.as_bytes()?)
            .map(Self)
            .map_err(unreadable)
    }
}

impl<T: DeserializeOwned> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = Value::String(value.as_str()?.to_owned());
        serde_json::from_value(word).map(Self).map_err(unreadable)
    }
}

pub(super) fn text(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn unreadable(error: serde_json::Error) -> FromSqlError {
    FromSqlError::Other(Box::new(error))
}
