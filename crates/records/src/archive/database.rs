//! Where rows are kept: in a file by SQLite, or by a PostgreSQL server. Both are asked the same SQL; what they call
//! differently stands here.

use std::time::Duration;

use rusqlite::types::{FromSql, Type};
use rusqlite::{Connection, ToSql};

use super::Fault;
use super::postgresql::{Column, Postgres};

/// A connection to either.
#[derive(Debug)]
pub(super) enum Database {
    Sqlite(Connection),
    Postgres(Box<Postgres>),
}

/// What stands for `?1`, `?2`, … of a statement.
pub(super) type Values<'a> = &'a [&'a dyn ToSql];

/// Numbers of one sample, in the order of its columns.
pub(super) type SampleRow = [Option<i64>; 9];

/// A row that was found.
#[derive(Clone, Copy)]
pub(super) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    pub(super) fn get<T: FromSql>(&self, column: usize) -> rusqlite::Result<T> {
        match self {
            Self::Sqlite(row) => row.get(column),
            Self::Postgres(row) => {
                let refused = rusqlite::Error::FromSqlConversionFailure;
                let Column(value) = row
                    .try_get(column)
                    .map_err(|error| refused(column, Type::Null, Box::new(error)))?;
                let of = value.data_type();
                T::column_result(value).map_err(|error| refused(column, of, Box::new(error)))
            }
        }
    }
}

impl Database {
    /// Every row that is found. `each` asks nothing itself: the rows are still on their way.
    pub(super) fn rows<T>(
        &self,
        statement: &str,
        values: Values<'_>,
        mut each: impl FnMut(Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        let mut found = Vec::new();
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(statement)?;
                let mut rows = statement.query(values)?;
                while let Some(row) = rows.next()? {
                    found.push(each(Row::Sqlite(row))?);
                }
            }
            Self::Postgres(server) => server.rows(statement, values, &mut |row| {
                found.push(each(row)?);
                Ok(())
            })?,
        }
        Ok(found)
    }

    /// The first row, if there is one.
    pub(super) fn first<T>(
        &self,
        statement: &str,
        values: Values<'_>,
        each: impl FnMut(Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Fault> {
        Ok(self.rows(statement, values, each)?.into_iter().next())
    }

    /// The value of a statement that always has a row.
    pub(super) fn value<T: FromSql>(
        &self,
        statement: &str,
        values: Values<'_>,
    ) -> Result<T, Fault> {
        let found = self.first(statement, values, |row| row.get(0))?;
        found.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
    }

    pub(super) fn execute(&self, statement: &str, values: Values<'_>) -> Result<(), Fault> {
        self.rows(statement, values, |_| Ok(())).map(drop)
    }

    /// Adds samples.
    pub(super) fn append(&self, samples: &[SampleRow]) -> Result<(), Fault> {
        match self {
            Self::Sqlite(connection) => {
                let insert = "INSERT INTO sample VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
                let mut insert = connection.prepare_cached(insert)?;
                for sample in samples {
                    insert.execute(rusqlite::params_from_iter(sample))?;
                }
                Ok(())
            }
            Self::Postgres(server) => server.append(samples),
        }
    }

    /// Waits that long for another process that writes.
    pub(super) fn be_patient(&self, patience: Duration) -> Result<(), Fault> {
        match self {
            Self::Sqlite(connection) => Ok(connection.busy_timeout(patience)?),
            Self::Postgres(server) => server.be_patient(patience),
        }
    }

    /// What is read until the end of it is of one moment.
    pub(super) fn snapshot(&self) -> Result<Transaction<'_>, Fault> {
        self.begin(match self {
            Self::Sqlite(_) => "BEGIN",
            Self::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        })
    }

    /// What is written until the commit is there as a whole, or not at all.
    pub(super) fn writing(&self) -> Result<Transaction<'_>, Fault> {
        self.begin(match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE",
            Self::Postgres(_) => "BEGIN",
        })
    }

    fn begin(&self, how: &str) -> Result<Transaction<'_>, Fault> {
        self.batch(how)?;
        Ok(Transaction {
            database: self,
            is_open: true,
        })
    }

    fn batch(&self, statements: &str) -> Result<(), Fault> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(statements)?),
            Self::Postgres(server) => server.batch(statements),
        }
    }
}

/// A transaction; undone when dropped.
#[derive(Debug)]
pub(super) struct Transaction<'a> {
    pub(super) database: &'a Database,
    is_open: bool,
}

impl Transaction<'_> {
    pub(super) fn commit(mut self) -> Result<(), Fault> {
        self.database.batch("COMMIT")?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Without a connection there is no transaction either.
            let _ = self.database.batch("ROLLBACK");
        }
    }
}
