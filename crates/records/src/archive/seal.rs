//! Checksums of rows and blocks find changes by a disk or a copy. They are no defense against people who may write to the archive.

use itertools::Itertools;
use keymark_bench::{Block, RunId, Sample};
use rusqlite::types::Value;
use sha2::{Digest, Sha256};

use super::database::{SqlRow, Transaction, values};
use super::{ArchiveError, Result, outcome_code};

/// A table whose column `sum` has a checksum of other columns.
pub(super) struct Sealed {
    table: &'static str,
    /// The table joined with others that belong to its rows.
    pub(super) from: &'static str,
    /// Columns in the checksum, in its order, read as text.
    pub(super) columns: &'static str,
    count: usize,
}

pub(super) const RUN: &Sealed = &Sealed {
    table: "run",
    from: "run",
    columns: "started_utc, state, keymark, CAST(schema AS text), plan, environment, harness, stores, in_series",
    count: 9,
};

pub(super) const CASE: &Sealed = &Sealed {
    table: "case_",
    from: "case_ LEFT JOIN server_load ON server_load.case_ = case_.id",
    columns: "\"case\", ending, published, parts, load, CAST(number AS text)",
    count: 6,
};

impl Sealed {
    /// Compares a row of these columns with its `sum`.
    pub(super) fn check(&self, row: &SqlRow) -> Result<()> {
        if seal(&self.texts(row)?) == row.get::<String>(self.count)? {
            return Ok(());
        }
        Err(ArchiveError::damaged(format!(
            "a row of table {} does not match its checksum",
            self.table
        )))
    }

    fn texts(&self, row: &SqlRow) -> Result<Vec<Option<String>>> {
        (0..self.count).map(|column| row.get(column)).collect()
    }
}

impl Transaction<'_> {
    pub(super) fn seal_run(&self, run: &RunId) -> Result<()> {
        self.seal(&run.0.clone().into(), RUN)
    }

    /// Stores the checksum of a row as it is now.
    pub(super) fn seal(&self, id: &Value, row: &Sealed) -> Result<()> {
        let columns = format!("SELECT {} FROM {} WHERE id = $1", row.columns, row.from);
        let database = self.database;
        let texts = database.first(&columns, values![id], |found| row.texts(found))?;
        let Some(texts) = texts else { return Ok(()) };
        let update = format!("UPDATE {} SET sum = $1 WHERE id = $2", row.table);
        database.execute(&update, values![seal(&texts), id])
    }
}

/// Octets of a checksum: enough to find accidents.
const SUM: usize = 8;

/// Returns the checksum of a row's columns.
fn seal(columns: &[Option<String>]) -> String {
    let mut texts = columns
        .iter()
        .map(|text| text.as_deref().unwrap_or_default());
    hex::encode(&Sha256::digest(texts.join("\n"))[..SUM])
}

/// Returns the checksum of a block with its samples.
pub(super) fn seal_of_block(block: &Block) -> String {
    let mut sum = Sha256::new();
    let mut add = |number: Option<u64>| match number {
        Some(number) => sum.update(number.to_le_bytes()),
        // No number has this length.
        None => sum.update([0]),
    };
    add(Some(block.round.into()));
    add(block.queue.map(|queue| queue.length_ns));
    add(block.queue.map(|queue| queue.waiting));
    add(block.reference_ns);
    for sample in &block.samples {
        let Sample {
            worker,
            scheduled,
            start,
            end,
            outcome,
            cpu,
        } = sample;
        add(Some((*worker).into()));
        add(Some(scheduled.0));
        add(Some(start.0));
        add(Some(end.0));
        add(Some(outcome_code(*outcome).into()));
        add(cpu.map(|cpu| cpu.user_us.into()));
        add(cpu.map(|cpu| cpu.system_us.into()));
    }
    hex::encode(&sum.finalize()[..SUM])
}
