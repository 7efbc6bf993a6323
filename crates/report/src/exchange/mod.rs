//! Runs as files: the export of a whole record ([`json`], `schema/record-1.json`), and figures that
//! somebody published ([`published`]).

mod error;
pub mod folder;
pub mod json;
pub mod limits;
pub mod published;
pub mod share;
mod shipped;
mod source_table;

use std::fs::File;
use std::path::Path;

use keymark_bench::record::Record;

pub use error::{Fault, ImportError};
use limits::Kind;
pub use shipped::{Cells, Shipped, UnknownFigures};

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

#[cfg(test)]
mod tests;
