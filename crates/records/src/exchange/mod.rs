//! Runs as files: exports of whole records ([`json`], `schema/record-1.json`), published figures ([`published`](crate::published)),
//! and folders of records ([`Folder`]).

pub mod json;
pub mod limits;
pub mod share;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use keymark_bench::{Record, SCHEMA};
use walkdir::{DirEntry, WalkDir};

use crate::published::{self, COLUMNS};
use keymark_bench::outside::visible::{excerpt, visible};
use limits::ContentKind;

/// Reads a record of either kind. The content decides which one, not the file's name.
///
/// # Errors
/// When the file cannot be read or is neither.
pub fn import(path: &Path) -> Result<Record, ImportError> {
    let file = File::open(path).map_err(ImportFault::Io);
    let content = file.and_then(limits::read);
    parse(path, &content.map_err(|fault| fault.of(path))?)
}

/// Parses a record of either kind. `name` is for messages.
///
/// # Errors
/// When it is neither.
pub fn read(name: &Path, content: &[u8]) -> Result<Record, ImportError> {
    ImportFault::excess(limits::content(content)).map_err(|fault| fault.of(name))?;
    parse(name, content)
}

fn parse(name: &Path, content: &[u8]) -> Result<Record, ImportError> {
    let kind = ContentKind::of(content);
    let content = limits::without_mark(content);
    let mut ending = name.extension().into_iter();
    let is_json = ending.any(|end| end.eq_ignore_ascii_case("json"));
    match kind {
        ContentKind::Empty => Err(ImportFault::Empty.of(name)),
        ContentKind::Json => json::parse(name, content),
        // Users of exports do not know tables.
        ContentKind::Other(begin) if is_json => {
            Err(ImportFault::Foreign(no_object(begin)).of(name))
        }
        ContentKind::Other(_) => published::parse(name, content),
    }
}

/// Describes content that is no JSON object.
fn no_object(begin: u8) -> String {
    if matches!(begin, 0xfe | 0xff) {
        // RFC 8259 §8.1
        return "it is in UTF-16, and JSON is in UTF-8".to_owned();
    }
    let begin = if begin.is_ascii_graphic() {
        format!("'{}'", char::from(begin))
    } else {
        format!("the byte 0x{begin:02x}")
    };
    format!("it begins with {begin} and not with '{{'")
}

/// Error of an import.
#[derive(Debug, thiserror::Error)]
#[error("{}", said(.path, .fault))]
pub struct ImportError {
    /// The file.
    pub path: PathBuf,
    /// Reason.
    #[source]
    pub fault: ImportFault,
}

/// Reason of an import's failure, as text that follows the file's name.
#[derive(Debug, thiserror::Error)]
pub enum ImportFault {
    /// Unreadable file.
    #[error("{0}; check its name and permissions")]
    Io(#[from] io::Error),
    /// Empty file.
    #[error(" is empty; export the run again")]
    Empty,
    /// Early end.
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
    /// Schema of a newer keymark.
    #[error(" follows schema {0}, but this keymark reads up to {SCHEMA}; update keymark")]
    Newer(u64),
    /// Contradiction in a record.
    #[error(" contradicts itself: {0}; 'keymark export RUN --format record' writes records")]
    Inconsistent(String),
    /// Larger than any run.
    #[error(" is too large to import: {0}; export the run again and do not edit the file")]
    TooLarge(String),
    /// Neither an export nor a table of figures.
    #[error(
        " is neither a run exported by keymark ('keymark export' writes these) nor a table of published figures with \
         the columns {}",
        COLUMNS.join(", ")
    )]
    Neither,
    /// Table with other columns.
    #[error(
        " has the columns {found}, but a table of published figures needs {}: rename or convert them",
        COLUMNS.join(", ")
    )]
    Columns {
        /// Columns found.
        found: String,
    },
    /// Invalid line of a table.
    #[error(", line {line}: {reason}; correct that line")]
    Line {
        /// Number of the line, from 1.
        line: u64,
        /// Error in the line.
        reason: String,
    },
}

impl ImportFault {
    pub(crate) fn of(self, path: &Path) -> ImportError {
        ImportError {
            path: path.into(),
            fault: self,
        }
    }

    pub(crate) fn excess(excess: Option<String>) -> Result<(), Self> {
        excess.map_or(Ok(()), |reason| Err(Self::TooLarge(reason)))
    }
}

/// Returns a path that is safe to print on one line.
fn shown(path: &Path) -> String {
    visible(&path.display().to_string()).into_owned()
}

fn said(path: &Path, fault: &ImportFault) -> String {
    let path = shown(path);
    if matches!(fault, ImportFault::Io(_)) {
        format!("cannot read {path}: {fault}")
    } else {
        format!("{path}{fault}")
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "another library's")]
impl From<csv::Error> for ImportFault {
    fn from(error: csv::Error) -> Self {
        let line = error.position().map_or(1, csv::Position::line);
        let reason = match error.kind() {
            csv::ErrorKind::UnequalLengths {
                expected_len, len, ..
            } => format!("it has {len} fields, not {expected_len}"),
            csv::ErrorKind::Utf8 { .. } => "it is not UTF-8 text".to_owned(),
            // Other content may be private.
            _ => excerpt(&error.to_string()),
        };
        Self::Line { line, reason }
    }
}

/// Endings of records. Other files of a folder, such as a README, are no records.
pub const ENDINGS: [&str; 2] = ["json", "csv"];

/// Files of a folder and its subfolders, in the order of their paths.
#[derive(Debug, Default)]
pub struct Folder {
    /// Files to read with [`import`](import).
    pub records: Vec<PathBuf>,
    /// Entries with the endings of records that are no plain files.
    pub refused: Vec<NotAFile>,
    /// Files with other endings.
    pub aside: Vec<PathBuf>,
}

/// An entry with the ending of a record that is no plain file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is {what}, but only plain files are read; put the file itself there", shown(.path))]
pub struct NotAFile {
    /// Path of the entry.
    pub path: PathBuf,
    what: &'static str,
}

/// Error while listing a folder.
#[derive(Debug, thiserror::Error)]
#[error("cannot read folder {}: {source}; check its name and permissions", shown(.path))]
pub struct UnreadableFolder {
    /// The folder.
    pub path: PathBuf,
    /// Report of the system.
    pub source: io::Error,
}

impl Folder {
    /// Lists a folder. Names with a dot (`.git`) are ignored. Links are not followed: they may lead out of a folder to which anybody
    /// contributes.
    ///
    /// # Errors
    /// When it, or a folder in it, cannot be listed.
    pub fn list(path: &Path) -> Result<Self, UnreadableFolder> {
        let mut folder = Self::default();
        let own = |entry: &DirEntry| {
            entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        for entry in WalkDir::new(path)
            .into_iter()
            .filter_entry(|entry| !own(entry))
        {
            let entry = entry.map_err(|error| UnreadableFolder {
                path: error.path().unwrap_or(path).to_path_buf(),
                source: error.into_io_error().unwrap_or(io::ErrorKind::Other.into()),
            })?;
            if !entry.file_type().is_dir() {
                let kind = entry.file_type();
                folder.add(entry.into_path(), kind);
            }
        }
        folder.records.sort();
        folder.refused.sort_by(|a, b| a.path.cmp(&b.path));
        folder.aside.sort();
        Ok(folder)
    }

    fn add(&mut self, path: PathBuf, kind: fs::FileType) {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let wanted = ENDINGS
            .iter()
            .any(|known| ending.as_deref() == Some(known.as_ref()));
        if !wanted {
            self.aside.push(path);
        } else if kind.is_file() {
            self.records.push(path);
        } else {
            let what = if kind.is_symlink() {
                "a symbolic link"
            } else {
                "a device, pipe or socket"
            };
            self.refused.push(NotAFile { path, what });
        }
    }
}

#[cfg(test)]
mod tests;
