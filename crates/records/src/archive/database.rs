//! Calls that an archive makes to its database. SQLite (`sqlite.rs`) and PostgreSQL (`postgresql.rs`) get the same statements.
//! Parameters are `$1`, `$2`, … and first appear in that order: SQLite numbers them by appearance (sqlite.org/lang_expr.html).
//! Both exchange values in the form of SQLite.

use std::fmt::Debug;
use std::time::Duration;

use rusqlite::types::{FromSql, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ArchiveError, Result};

/// A connection to a database.
pub(super) trait Database: Debug {
    /// Passes every row found to `each`, which must not use the database: rows are still arriving.
    fn query(
        &self,
        statement: &str,
        values: &[Value],
        each: &mut dyn FnMut(&SqlRow) -> Result<()>,
    ) -> Result<()>;

    fn append(&self, samples: &[SampleRow]) -> Result<()>;

    fn transact(&self, step: TransactionStep) -> Result<()>;

    /// Sets how long a statement waits for other programs that write.
    fn set_patience(&self, patience: Duration) -> Result<()>;
}

/// A step of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionStep {
    /// Begins to read one state of the database.
    Read,
    Write,
    Commit,
    RollBack,
}

/// Numbers of one sample, in the order of its columns.
pub(super) type SampleRow = [Option<i64>; 9];

/// Makes the list of a statement's parameters.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$(rusqlite::types::Value::from($value.to_owned())),*]
    };
}
pub(super) use values;

/// A row of a result.
pub(super) struct SqlRow(pub(super) Vec<Value>);

impl SqlRow {
    pub(super) fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        let value = self.0.get(column).unwrap_or(&Value::Null);
        T::column_result(value.into())
            .map_err(|_| ArchiveError::damaged(format!("column {column}: {value:?}")))
    }

    /// Reads JSON.
    pub(super) fn json<T: DeserializeOwned>(&self, column: usize) -> Result<T> {
        parsed(&self.get::<String>(column)?)
    }

    pub(super) fn optional_json<T: DeserializeOwned>(&self, column: usize) -> Result<Option<T>> {
        self.get::<Option<String>>(column)?
            .map(|json| parsed(&json))
            .transpose()
    }

    /// Reads a word that JSON has in quotation marks.
    pub(super) fn word<T: DeserializeOwned>(&self, column: usize) -> Result<T> {
        serde_json::from_value(self.get::<String>(column)?.into()).map_err(ArchiveError::damaged)
    }
}

pub(super) fn parsed<T: DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(ArchiveError::damaged)
}

pub(super) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(ArchiveError::damaged)
}

impl dyn Database + '_ {
    /// Returns what `each` makes of every row found.
    pub(super) fn rows<T>(
        &self,
        statement: &str,
        values: &[Value],
        mut each: impl FnMut(&SqlRow) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.query(statement, values, &mut |row| {
            found.push(each(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    pub(super) fn first<T>(
        &self,
        statement: &str,
        values: &[Value],
        each: impl FnMut(&SqlRow) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.rows(statement, values, each)?.into_iter().next())
    }

    /// Returns the value of a statement that always has a row.
    pub(super) fn value<T: FromSql>(&self, statement: &str, values: &[Value]) -> Result<T> {
        self.first(statement, values, |row| row.get(0))?
            .ok_or_else(|| ArchiveError::damaged("a row is missing"))
    }

    pub(super) fn execute(&self, statement: &str, values: &[Value]) -> Result<()> {
        self.query(statement, values, &mut |_| Ok(()))
    }

    pub(super) fn snapshot(&self) -> Result<Transaction<'_>> {
        self.begin(TransactionStep::Read)
    }

    pub(super) fn writing(&self) -> Result<Transaction<'_>> {
        self.begin(TransactionStep::Write)
    }

    fn begin(&self, step: TransactionStep) -> Result<Transaction<'_>> {
        self.transact(step)?;
        Ok(Transaction {
            database: self,
            is_open: true,
        })
    }
}

/// A transaction, undone when dropped without a commit.
#[derive(Debug)]
pub(super) struct Transaction<'a> {
    pub(super) database: &'a dyn Database,
    is_open: bool,
}

impl Transaction<'_> {
    pub(super) fn commit(mut self) -> Result<()> {
        self.database.transact(TransactionStep::Commit)?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Without a connection there is no transaction either.
            let _ = self.database.transact(TransactionStep::RollBack);
        }
    }
}
