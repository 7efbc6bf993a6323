//! Columns that hold what an export holds.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// JSON, as in an export.
pub(super) struct Json<T>(pub(super) T);

/// The word that stands for a value in an export.
pub(super) struct Word<T>(pub(super) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let json = serde_json::to_string(&self.0).map_err(unwritable)?;
        Ok(json.into())
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let read = serde_json::from_str(value.as_str()?);
        read.map(Self).map_err(unreadable)
    }
}

impl<T: Serialize> ToSql for Word<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = serde_json::to_value(&self.0).map_err(unwritable)?;
        let word = value.as_str().map(str::to_owned);
        Ok(word.unwrap_or_else(|| value.to_string()).into())
    }
}

impl<T: DeserializeOwned> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = Value::String(value.as_str()?.to_owned());
        serde_json::from_value(word).map(Self).map_err(unreadable)
    }
}

fn unwritable(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> FromSqlError {
    FromSqlError::Other(Box::new(error))
}

/// When a run started.
pub(super) struct Started(pub(super) jiff::Timestamp);

impl FromSql for Started {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let read: Result<jiff::Timestamp, jiff::Error> = value.as_str()?.parse();
        read.map(Self).map_err(unreadable)
    }
}
