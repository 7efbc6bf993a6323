//! Runs as files: the export of a whole record ([`json`], `schema/record-1.json`), and figures that
//! somebody published ([`published`]).

mod error;
pub mod json;
pub mod published;

use std::fs;
use std::path::Path;

use keymark_bench::record::Record;

pub use error::ImportError;

/// Reads a record of either kind; which one it is shows in the content, not in the file's name.
///
/// # Errors
/// When the file cannot be read or is neither.
pub fn import(path: &Path) -> Result<Record, ImportError> {
    let content = fs::read(path).map_err(|source| ImportError::Io {
        path: path.into(),
        source,
    })?;
    match content.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Err(ImportError::Empty(path.into())),
        Some(b'{') => json::parse(path, &content),
        Some(_) => published::parse(path, &content),
    }
}

#[cfg(test)]
mod tests;
