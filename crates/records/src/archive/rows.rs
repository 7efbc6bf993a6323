//! Rows that a transaction writes.

use keymark_bench::{Block, CaseRecord, Harness, Record, RunId, RunState, Sample, Timestamp};

use super::database::{SampleRow, Transaction, json, values};
use super::seal::{CASE, seal_of_block};
use super::{ArchiveError, Result, outcome_code};

impl Transaction<'_> {
    pub(super) fn has(&self, id: &RunId) -> Result<bool> {
        let found = "SELECT 1 FROM run WHERE id = $1";
        let found = self.database.first(found, values![&id.0], |_| Ok(()))?;
        Ok(found.is_some())
    }

    /// Returns the rows of a run's cases in the plan's order.
    pub(super) fn case_rows(&self, id: &RunId) -> Result<Vec<i64>> {
        let rows = "SELECT id FROM case_ WHERE run = $1 ORDER BY number";
        self.database.rows(rows, values![&id.0], |row| row.get(0))
    }

    /// Adds the run and its cases without blocks and endings. Returns the rows of the cases.
    pub(super) fn add_run(&self, record: &Record) -> Result<Vec<i64>> {
        self.database.execute(
            "INSERT INTO run (id, started_utc, state, keymark, schema, plan, environment, harness, stores, in_series, sum)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '')",
            values![
                &record.id.0,
                format!("{:.9}", record.started),
                RunState::Unfinished.to_string(),
                &record.environment.keymark,
                record.schema,
                json(&record.plan)?,
                json(&record.environment)?,
                record.harness.as_ref().map(json).transpose()?,
                json(&record.stores)?,
                record.series.as_ref().map(json).transpose()?,
            ],
        )?;
        self.seal_run(&record.id)?;
        let cases = (0_u32..).zip(&record.cases);
        cases
            .map(|(number, case)| self.add_case(&record.id, number, case))
            .collect()
    }

    fn add_case(&self, run: &RunId, number: u32, record: &CaseRecord) -> Result<i64> {
        let published = record.published.as_ref().map(json).transpose()?;
        let parts = record.parts.as_ref().map(json).transpose()?;
        let id: i64 = self.database.value(
            "INSERT INTO case_ (run, number, \"case\", published, parts, sum) VALUES ($1, $2, $3, $4, $5, '') RETURNING id",
            values![&run.0, number, json(&record.case)?, published, parts],
        )?;
        self.seal(&id.into(), CASE)?;
        Ok(id)
    }

    pub(super) fn add_block(&self, case: i64, block: &Block) -> Result<()> {
        let done = block.done().count() as u64;
        let total = block
            .done()
            .map(Sample::latency_ns)
            .fold(0, u64::saturating_add);
        let optional =
            |number: Option<u64>, what| number.map(|number| stored(number, what)).transpose();
        let id: i64 = self.database.value(
            "INSERT INTO block (case_, round, samples, done, done_ns, length_ns, waiting, reference_ns, sum)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id",
            values![
                case,
                block.round,
                stored(block.samples.len() as u64, "a block's length")?,
                stored(done, "a block's length")?,
                stored(total, "the time of a block's operations")?,
                optional(block.queue.map(|queue| queue.length_ns), "a block's length")?,
                optional(block.queue.map(|queue| queue.waiting), "a queue's length")?,
                optional(block.reference_ns, "the reference's time")?,
                seal_of_block(block),
            ],
        )?;
        let samples: Vec<SampleRow> = (0_i64..)
            .zip(&block.samples)
            .map(|(number, sample)| sample_row(id, number, sample))
            .collect::<Result<_>>()?;
        self.database.append(&samples)
    }

    /// Adds the case's ending, and what is known only then.
    pub(super) fn conclude(&self, case: i64, record: &CaseRecord) -> Result<()> {
        let Some(ending) = &record.ending else {
            return Ok(());
        };
        if let Some(load) = &record.server_load {
            let insert = "INSERT INTO server_load (case_, load) VALUES ($1, $2)
                          ON CONFLICT (case_) DO UPDATE SET load = excluded.load";
            self.database.execute(insert, values![case, json(load)?])?;
        }
        let update = "UPDATE case_ SET ending = $1, parts = $2 WHERE id = $3";
        let parts = record.parts.as_ref().map(json).transpose()?;
        self.database
            .execute(update, values![json(ending)?, parts, case])?;
        self.seal(&case.into(), CASE)
    }

    pub(super) fn set_harness(&self, run: &RunId, harness: &Harness) -> Result<()> {
        let update = "UPDATE run SET harness = $1 WHERE id = $2";
        self.database
            .execute(update, values![json(harness)?, &run.0])?;
        self.seal_run(run)
    }

    pub(super) fn set_state(&self, run: &RunId, state: RunState) -> Result<()> {
        let update = "UPDATE run SET state = $1 WHERE id = $2";
        self.database
            .execute(update, values![state.to_string(), &run.0])?;
        self.seal_run(run)
    }

    /// Adds a part of the run as it was before redaction.
    pub(super) fn add_identity(&self, run: &RunId, part: i64, whole: &str) -> Result<()> {
        let insert = "INSERT INTO identity (run, part, whole) VALUES ($1, $2, $3)
                      ON CONFLICT (run, part) DO UPDATE SET whole = excluded.whole";
        self.database.execute(insert, values![&run.0, part, whole])
    }

    /// Keeps others from adding to the run until the commit. Returns the number of its blocks.
    pub(super) fn claim(&self, run: &RunId) -> Result<usize> {
        let lock = "UPDATE run SET state = state WHERE id = $1";
        self.database.execute(lock, values![&run.0])?;
        let blocks =
            "SELECT count(*) FROM case_ JOIN block ON block.case_ = case_.id WHERE run = $1";
        self.database.value(blocks, values![&run.0])
    }

    pub(super) fn remove(&self, run: &RunId) -> Result<()> {
        self.database
            .execute("DELETE FROM run WHERE id = $1", values![&run.0])
    }
}

fn sample_row(block: i64, number: i64, sample: &Sample) -> Result<SampleRow> {
    let time = |timestamp: Timestamp| stored(timestamp.0, "a sample's time").map(Some);
    let (user, system) = sample.cpu.map(|cpu| (cpu.user_us, cpu.system_us)).unzip();
    Ok([
        Some(block),
        Some(number),
        Some(sample.worker.into()),
        time(sample.scheduled)?,
        time(sample.start)?,
        time(sample.end)?,
        Some(outcome_code(sample.outcome).into()),
        user.map(i64::from),
        system.map(i64::from),
    ])
}

/// Integers of databases are signed.
fn stored(number: u64, what: &'static str) -> Result<i64> {
    i64::try_from(number).map_err(|_| {
        let text = "is too large for an archive, and cannot be right; measure again";
        ArchiveError::Other(format!("{what} {text}"))
    })
}
