//! Why a file cannot be imported, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use keymark_bench::record::SCHEMA;

use super::published::COLUMNS;
use crate::visible::excerpt;

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[error("{}", said(.path, .fault))]
pub struct ImportError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    #[source]
    pub fault: Fault,
}

/// The same where the file's name is not known; the words follow the name.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It cannot be read.
    #[error("{0}; check its name and permissions")]
    Io(#[from] io::Error),
    /// Nothing in it.
    #[error(" is empty; export the run again")]
    Empty,
    /// It breaks off.
    #[error(" ends too early, at line {line}, column {column}; copy or export it again")]
    Truncated {
        /// Its last line.
        line: usize,
        /// Column in that line.
        column: usize,
    },
    /// Neither kind of file.
    #[error(" is not a run exported by keymark: {0}; 'keymark export' writes such files")]
    Foreign(String),
    /// It follows that schema, of a newer keymark.
    #[error(" follows schema {0}, but this keymark reads up to {SCHEMA}; update keymark")]
    Newer(u64),
    /// It cannot be a record that keymark wrote.
    #[error(" contradicts itself: {0}; export the run again and do not edit the file")]
    Inconsistent(String),
    /// More than any run can have measured.
    #[error(" is too large to import: {0}; export the run again and do not edit the file")]
    TooLarge(String),
    /// No export of keymark, and a table without a column that figures have.
    #[error(
        " is neither a run exported by keymark ('keymark export' writes these) nor a table of published figures with \
         the columns {}",
        COLUMNS.join(", ")
    )]
    Neither,
    /// A table that has these columns.
    #[error(
        " has the columns {found}, but a table of published figures needs {}: rename or convert them",
        COLUMNS.join(", ")
    )]
    Columns {
        /// Its columns.
        found: String,
    },
    /// A line that makes no sense.
    #[error(", line {line}: {reason}; correct that line")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

impl Fault {
    /// As a fault of the file.
    pub(super) fn of(self, path: &Path) -> ImportError {
        ImportError {
            path: path.into(),
            fault: self,
        }
    }

    /// What goes beyond a limit, if something does.
    pub(super) fn excess(excess: Option<String>) -> Result<(), Self> {
        excess.map_or(Ok(()), |reason| Err(Self::TooLarge(reason)))
    }
}

fn said(path: &Path, fault: &Fault) -> String {
    let path = path.display();
    match fault {
        Fault::Io(_) => format!("cannot read {path}: {fault}"),
        Fault::Empty
        | Fault::Truncated { .. }
        | Fault::Foreign(_)
        | Fault::Newer(_)
        | Fault::Inconsistent(_)
        | Fault::TooLarge(_)
        | Fault::Neither
        | Fault::Columns { .. }
        | Fault::Line { .. } => format!("{path}{fault}"),
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "another library's, to which more may come"
)]
impl From<csv::Error> for Fault {
    fn from(error: csv::Error) -> Self {
        let line = error.position().map_or(1, csv::Position::line);
        let reason = match error.kind() {
            csv::ErrorKind::UnequalLengths {
                expected_len, len, ..
            } => format!("it has {len} fields, not {expected_len}"),
            csv::ErrorKind::Utf8 { .. } => "it is not UTF-8 text".to_owned(),
            // What else it is stays between it and its owner.
            _ => excerpt(&error.to_string()),
        };
        Self::Line { line, reason }
    }
}
