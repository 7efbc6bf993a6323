//! Runs as files: the export of a whole record ([`json`], `schema/record-1.json`), and figures that somebody published
//! ([`published`]); why a file cannot be imported, and which files of a [`Folder`] are meant to be records.

pub mod json;
pub mod limits;
pub mod published;
pub mod share;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use keymark_bench::{Record, SCHEMA};
use walkdir::{DirEntry, WalkDir};

use keymark_bench::outside::visible::{excerpt, visible};
use limits::Kind;
use published::COLUMNS;

pub use published::{Cells, Shipped, UnknownFigures};

/// Reads a record of either kind; which one it is shows in the content, not in the file's name.
///
/// # Errors
/// When the file cannot be read or is neither.
pub fn import(path: &Path) -> Result<Record, ImportError> {
    let file = File::open(path).map_err(Fault::Io);
    let content = file.and_then(limits::read);
    parse(path, &content.map_err(|fault| fault.of(path))?)
}

/// The same of what has been read; `name` is what it is called in messages.
///
/// # Errors
/// When it is neither.
pub fn read(name: &Path, content: &[u8]) -> Result<Record, ImportError> {
    Fault::excess(limits::content(content)).map_err(|fault| fault.of(name))?;
    parse(name, content)
}

fn parse(name: &Path, content: &[u8]) -> Result<Record, ImportError> {
    let kind = Kind::of(content);
    let content = limits::without_mark(content);
    let mut ending = name.extension().into_iter();
    let is_json = ending.any(|end| end.eq_ignore_ascii_case("json"));
    match kind {
        Kind::Empty => Err(Fault::Empty.of(name)),
        Kind::Json => json::parse(name, content),
        // Nobody who exported it wants to hear of tables.
        Kind::Other(begin) if is_json => Err(Fault::Foreign(no_object(begin)).of(name)),
        Kind::Other(_) => published::parse(name, content),
    }
}

/// What JSON begins with that keymark did not write.
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

/// A path in one line, whatever a contributor has called a file.
fn shown(path: &Path) -> String {
    visible(&path.display().to_string()).into_owned()
}

fn said(path: &Path, fault: &Fault) -> String {
    let path = shown(path);
    if matches!(fault, Fault::Io(_)) {
        format!("cannot read {path}: {fault}")
    } else {
        format!("{path}{fault}")
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "another library's")]
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

/// Endings of files that are read; what stands beside them (a README, a licence) is no record.
pub const ENDINGS: [&str; 2] = ["json", "csv"];

/// Files of a folder and the folders in it, in the order of their paths.
#[derive(Debug, Default)]
pub struct Folder {
    /// To be read, by [`import`](import).
    pub records: Vec<PathBuf>,
    /// Called like records, and no files.
    pub refused: Vec<NoFile>,
    /// Called otherwise.
    pub aside: Vec<PathBuf>,
}

/// Something that is called like a record and is not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is {what}, but only plain files are read; put the file itself there", shown(.path))]
pub struct NoFile {
    /// Where it is.
    pub path: PathBuf,
    what: &'static str,
}

/// The folder cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("cannot read folder {}: {source}; check its name and permissions", shown(.path))]
pub struct Unreadable {
    /// Which folder.
    pub path: PathBuf,
    /// What the system reports.
    pub source: io::Error,
}

impl Folder {
    /// Lists a folder. What begins with a dot is its owner's (`.git`), and not looked at. Links are not followed: they may lead
    /// out of a folder that anybody contributes to.
    ///
    /// # Errors
    /// When it, or a folder in it, cannot be listed.
    pub fn list(path: &Path) -> Result<Self, Unreadable> {
        let mut folder = Self::default();
        let own = |entry: &DirEntry| {
            entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        for entry in WalkDir::new(path)
            .into_iter()
            .filter_entry(|entry| !own(entry))
        {
            let entry = entry.map_err(|error| Unreadable {
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
            self.refused.push(NoFile { path, what });
        }
    }
}

#[cfg(test)]
mod tests;
