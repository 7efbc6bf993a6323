//! Calls that an archive makes to its database. SQLite (`sqlite.rs`) and PostgreSQL (`postgresql.rs`) get the same statements.
//! Parameters are `$1`, `$2`, … and first appear in that order: SQLite numbers them by appearance (sqlite.org/lang_expr.html).

use std::fmt::{Debug, Display};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{Failure, Fault};

/// A connection to a database.
pub(super) trait Database: Debug {
    /// Passes every row found to `each`, which must not use the database: rows are still arriving.
    fn query(
        &self,
        statement: &str,
        values: &[SqlValue],
        each: &mut dyn FnMut(&SqlRow) -> Result<(), Fault>,
    ) -> Result<(), Fault>;

    fn append(&self, samples: &[SampleRow]) -> Result<(), Fault>;

    fn transact(&self, step: TransactionStep) -> Result<(), Fault>;

    /// Sets how long a statement waits for other programs that write.
    fn set_patience(&self, patience: Duration) -> Result<(), Fault>;
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

/// A parameter of a statement, or the content of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SqlValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

macro_rules! into_sql_value {
    ($($of:ty => $variant:ident),* $(,)?) => {
        $(impl From<$of> for SqlValue {
            fn from(value: $of) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}
into_sql_value!(i64 => Integer, u32 => Integer, &str => Text, &String => Text, String => Text);

impl<T: Into<Self>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Makes the list of a statement's parameters.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::archive::database::SqlValue::from($value)),*]
    };
}
pub(super) use values;

/// A row of a result.
pub(super) struct SqlRow(pub(super) Vec<SqlValue>);

impl SqlRow {
    pub(super) fn get<T: FromSqlValue>(&self, column: usize) -> Result<T, Fault> {
        let value = self.0.get(column).unwrap_or(&SqlValue::Null);
        T::from_value(value).ok_or_else(|| Fault::damaged(format!("column {column}: {value:?}")))
    }

    /// Reads JSON.
    pub(super) fn json<T: DeserializeOwned>(&self, column: usize) -> Result<T, Fault> {
        parsed(&self.get::<String>(column)?)
    }

    pub(super) fn optional_json<T: DeserializeOwned>(
        &self,
        column: usize,
    ) -> Result<Option<T>, Fault> {
        self.get::<Option<String>>(column)?
            .map(|json| parsed(&json))
            .transpose()
    }

    /// Reads a word that JSON has in quotation marks.
    pub(super) fn word<T: DeserializeOwned>(&self, column: usize) -> Result<T, Fault> {
        serde_json::from_value(self.get::<String>(column)?.into()).map_err(Fault::damaged)
    }
}

pub(super) fn parsed<T: DeserializeOwned>(json: &str) -> Result<T, Fault> {
    serde_json::from_str(json).map_err(Fault::damaged)
}

pub(super) fn json(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(Fault::damaged)
}

/// Content that a column may have.
pub(super) trait FromSqlValue: Sized {
    fn from_value(value: &SqlValue) -> Option<Self>;
}

macro_rules! from_sql_value {
    ($($of:ty: $variant:ident($content:ident) => $value:expr),* $(,)?) => {
        $(impl FromSqlValue for $of {
            fn from_value(value: &SqlValue) -> Option<Self> {
                if let SqlValue::$variant($content) = value {
                    $value
                } else {
                    None
                }
            }
        })*
    };
}

from_sql_value! {
    i64: Integer(number) => Some(*number),
    u64: Integer(number) => (*number).try_into().ok(),
    u32: Integer(number) => (*number).try_into().ok(),
    u8: Integer(number) => (*number).try_into().ok(),
    usize: Integer(number) => (*number).try_into().ok(),
    f64: Real(number) => Some(*number),
    String: Text(text) => Some(text.clone()),
}

impl<T: FromSqlValue> FromSqlValue for Option<T> {
    fn from_value(value: &SqlValue) -> Option<Self> {
        if *value == SqlValue::Null {
            return Some(None);
        }
        T::from_value(value).map(Some)
    }
}

impl dyn Database + '_ {
    /// Returns what `each` makes of every row found.
    pub(super) fn rows<T>(
        &self,
        statement: &str,
        values: &[SqlValue],
        mut each: impl FnMut(&SqlRow) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
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
        values: &[SqlValue],
        each: impl FnMut(&SqlRow) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        Ok(self.rows(statement, values, each)?.into_iter().next())
    }

    /// Returns the value of a statement that always has a row.
    pub(super) fn value<T: FromSqlValue>(
        &self,
        statement: &str,
        values: &[SqlValue],
    ) -> Result<T, Fault> {
        self.first(statement, values, |row| row.get(0))?
            .ok_or_else(|| Fault::damaged("a row is missing"))
    }

    pub(super) fn execute(&self, statement: &str, values: &[SqlValue]) -> Result<(), Fault> {
        self.query(statement, values, &mut |_| Ok(()))
    }

    pub(super) fn snapshot(&self) -> Result<Transaction<'_>, Fault> {
        self.begin(TransactionStep::Read)
    }

    pub(super) fn writing(&self) -> Result<Transaction<'_>, Fault> {
        self.begin(TransactionStep::Write)
    }

    fn begin(&self, step: TransactionStep) -> Result<Transaction<'_>, Fault> {
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
    pub(super) fn commit(mut self) -> Result<(), Fault> {
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

impl Fault {
    pub(super) fn damaged(reason: impl Display) -> Self {
        Self::Failed(Failure::Damaged, reason.to_string())
    }
}
