//! Runs as files: exports of whole records ([`json`], `schema/record-1.json`), published figures ([`published`](crate::published)),
//! and folders of records ([`Folder`]).

pub mod json;
pub mod limits;
pub mod share;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use keymark_bench::Record;
use walkdir::{DirEntry, WalkDir};

use crate::published;
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
        ContentKind::Empty => Err(ImportFault::empty().of(name)),
        ContentKind::Json => json::parse(name, content),
        // Users of exports do not know tables.
        ContentKind::Other(begin) if is_json => {
            Err(ImportFault::foreign(&no_object(begin)).of(name))
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

/// Reason why a file was not imported, with its name and a remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ImportError(String);

/// Reason without the file's name.
#[derive(Debug)]
pub(crate) enum ImportFault {
    /// Unreadable file.
    Io(io::Error),
    /// Text that follows the file's name.
    Content(String),
}

impl ImportFault {
    pub(crate) fn of(self, path: &Path) -> ImportError {
        let path = shown(path);
        ImportError(match self {
            Self::Io(error) => {
                format!("cannot read {path}: {error}; check its name and permissions")
            }
            Self::Content(text) => format!("{path}{text}"),
        })
    }

    pub(crate) fn empty() -> Self {
        Self::Content(" is empty; export the run again".to_owned())
    }

    /// Content that is neither an export nor a table.
    pub(crate) fn foreign(reason: &str) -> Self {
        Self::Content(format!(
            " is not a run exported by keymark: {reason}; 'keymark export' writes such files"
        ))
    }

    pub(crate) fn inconsistent(reason: &str) -> Self {
        Self::Content(format!(
            " contradicts itself: {reason}; 'keymark export RUN --format record' writes records"
        ))
    }

    /// Invalid line of a table, counted from 1.
    pub(crate) fn line(line: u64, reason: &str) -> Self {
        Self::Content(format!(", line {line}: {reason}; correct that line"))
    }

    /// Refuses what is larger than any run.
    pub(crate) fn excess(excess: Option<String>) -> Result<(), Self> {
        excess.map_or(Ok(()), |reason| {
            Err(Self::Content(format!(
                " is too large to import: {reason}; export the run again and do not edit the file"
            )))
        })
    }
}

impl From<io::Error> for ImportFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Returns a path that is safe to print on one line.
fn shown(path: &Path) -> String {
    visible(&path.display().to_string()).into_owned()
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
        Self::line(line, &reason)
    }
}

/// Endings of records. Other files of a folder, such as a README, are no records.
pub const ENDINGS: [&str; 2] = ["json", "csv"];

/// Files of a folder and its subfolders, in the order of their paths.
#[derive(Debug, Default)]
pub struct Folder {
    /// Files to read with [`import`](import).
    pub records: Vec<PathBuf>,
    /// Errors for entries with the endings of records that are no plain files, in order.
    pub refused: Vec<String>,
    /// Files with other endings.
    pub aside: Vec<PathBuf>,
}

impl Folder {
    /// Lists a folder. Names with a dot (`.git`) are ignored. Links are not followed: they may lead out of a folder to which anybody
    /// contributes.
    ///
    /// # Errors
    /// When it, or a folder in it, cannot be listed.
    pub fn list(path: &Path) -> Result<Self, String> {
        let mut folder = Self::default();
        let own = |entry: &DirEntry| {
            entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        for entry in WalkDir::new(path)
            .into_iter()
            .filter_entry(|entry| !own(entry))
        {
            let entry = entry.map_err(|error| {
                let path = shown(error.path().unwrap_or(path));
                let reason = error.into_io_error().unwrap_or(io::ErrorKind::Other.into());
                format!("cannot read folder {path}: {reason}; check its name and permissions")
            })?;
            if !entry.file_type().is_dir() {
                let kind = entry.file_type();
                folder.add(entry.into_path(), kind);
            }
        }
        folder.records.sort();
        folder.refused.sort();
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
            let path = shown(&path);
            self.refused.push(format!(
                "{path} is {what}, but only plain files are read; put the file itself there"
            ));
        }
    }
}

#[cfg(test)]
mod tests;
