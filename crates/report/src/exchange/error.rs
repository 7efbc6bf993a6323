//! Why a file cannot be imported, and what to do about it.

use std::io;
use std::path::PathBuf;

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}; check its name and permissions")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system reports.
        source: io::Error,
    },
    /// Nothing in it.
    #[error("{0} is empty; export the run again")]
    Empty(PathBuf),
    /// It breaks off.
    #[error("{path} ends too early, at line {line}, column {column}; copy or export it again")]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
    },
    /// JSON, or nearly, but of something else.
    #[error(
        "{path} is not a run exported by keymark: {reason}; 'keymark export' writes such files"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// How that was seen.
        reason: String,
    },
    /// Written by a later keymark.
    #[error("{path} follows schema {found}, but this keymark reads up to {known}; update keymark")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
        /// The newest schema that this program reads.
        known: u32,
    },
    /// A run whose parts do not fit together.
    #[error("{path} contradicts itself: {reason}; export the run again and do not edit the file")]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// More of something than any run that was measured has.
    #[error(
        "{path} is too large to import: {reason}; export the run again and do not edit the file"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How that was seen.
        reason: String,
    },
    /// Nothing that is known.
    #[error(
        "{path} is neither a run exported by keymark ('keymark export' writes these) nor a table of published \
         figures with the columns {wanted}"
    )]
    Neither {
        /// The file.
        path: PathBuf,
        /// Columns of a table.
        wanted: String,
    },
    /// A table with other columns.
    #[error(
        "{path} has the columns {found}, but a table of published figures needs {wanted}: rename or convert them"
    )]
    Columns {
        /// The file.
        path: PathBuf,
        /// Its columns.
        found: String,
        /// Those it should have.
        wanted: String,
    },
    /// A line of a table that makes no sense.
    #[error("{path}, line {line}: {reason}; correct that line")]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}
