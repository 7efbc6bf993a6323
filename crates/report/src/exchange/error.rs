//! Why a file cannot be imported, and what to do about it.

use std::io;
use std::path::PathBuf;

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("{path} cannot be read: {source}; check its name and permissions")]
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
    #[error("{path} breaks off at line {line}, column {column}; copy or export it again")]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
    },
    /// JSON, or nearly, but of something else.
    #[error("{path} is no run exported by keymark: {reason}; 'keymark export' writes such files")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// How that was seen.
        reason: String,
    },
    /// Written by a later keymark.
    #[error("{path} follows schema {found}, this keymark reads up to {known}; update keymark")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
        /// The newest schema that this program reads.
        known: u32,
    },
    /// A run whose parts do not fit together.
    #[error(
        "{path} contradicts itself: {reason}; export the run again and leave the file unedited"
    )]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// More of something than any run that was measured has.
    #[error(
        "{path} is larger than keymark imports: {reason}; export the run again and leave the file unedited"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How that was seen.
        reason: String,
    },
    /// Nothing that is known.
    #[error(
        "{path} is neither a run exported by keymark nor a table of published figures, which has the columns {wanted}; \
         'keymark export' writes the former"
    )]
    Neither {
        /// The file.
        path: PathBuf,
        /// Columns of a table.
        wanted: String,
    },
    /// A table with other columns.
    #[error(
        "{path} has the columns {found}; a table of published figures has {wanted}: rename or convert them"
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
