//! Checksums of rows and blocks: a disk or a copy that changes what is stored is found when it is read. They are no defence against
//! who may write to the archive.

use keymark_bench::{Block, RunId, Sample};
use rusqlite::ToSql;
use rusqlite::types::Type;
use sha2::{Digest, Sha256};

use super::database::{Row, Transaction};
use super::{Fault, outcome_code};

/// A row with a checksum of what is read of it, in its column `sum`.
pub(super) struct Sealed {
    table: &'static str,
    /// The table, with what else belongs to the row.
    pub(super) from: &'static str,
    /// Columns that the checksum is of, in its order, each read as text.
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
    /// Refuses a row of these columns and `sum` if they do not match.
    pub(super) fn check(&self, row: Row<'_>) -> rusqlite::Result<()> {
        if seal(&self.texts(row)?) == row.get::<String>(self.count)? {
            return Ok(());
        }
        let differs = format!("a row of table {} does not match its checksum", self.table);
        let refused = rusqlite::Error::FromSqlConversionFailure;
        Err(refused(self.count, Type::Text, differs.into()))
    }

    fn texts(&self, row: Row<'_>) -> rusqlite::Result<Vec<Option<String>>> {
        (0..self.count).map(|column| row.get(column)).collect()
    }
}

impl Transaction<'_> {
    pub(super) fn seal_run(&self, run: &RunId) -> Result<(), Fault> {
        self.seal(&run.0, RUN)
    }

    /// Stores the checksum of a row as it is now.
    pub(super) fn seal(&self, id: &dyn ToSql, row: &Sealed) -> Result<(), Fault> {
        let columns = format!("SELECT {} FROM {} WHERE id = ?1", row.columns, row.from);
        let texts = self
            .database
            .first(&columns, &[id], |found| row.texts(found))?;
        let Some(texts) = texts else { return Ok(()) };
        let update = format!("UPDATE {} SET sum = ?2 WHERE id = ?1", row.table);
        self.database.execute(&update, &[id, &seal(&texts)])
    }
}

/// Octets of a checksum: accidents are found, and rows stay short.
const SUM: usize = 8;

/// The checksum of a row's columns.
pub(super) fn seal(columns: &[Option<String>]) -> String {
    let texts: Vec<&str> = columns
        .iter()
        .map(|text| text.as_deref().unwrap_or_default())
        .collect();
    hex::encode(&Sha256::digest(texts.join("\n"))[..SUM])
}

/// The checksum of a block with its samples.
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
