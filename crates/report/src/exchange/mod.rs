//! Runs as files: the export of a whole record ([`json`], `schema/record-1.json`), and figures that
//! somebody published ([`published`]).

mod error;
mod evidence;
pub mod folder;
pub mod json;
pub mod limits;
pub mod published;
pub mod share;
mod shipped;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use keymark_bench::record::Record;

pub use error::ImportError;
pub use shipped::{SHIPPED, Shipped, UnknownFigures};

/// Reads a record of either kind; which one it is shows in the content, not in the file's name.
///
/// # Errors
/// When the file cannot be read or is neither.
pub fn import(path: &Path) -> Result<Record, ImportError> {
    let failed = |source| ImportError::Io {
        path: path.into(),
        source,
    };
    let mut content = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limits::BYTES + 1).read_to_end(&mut content))
        .map_err(failed)?;
    if content.len() as u64 > limits::BYTES {
        let reason = format!("it has more than {} bytes", limits::BYTES);
        return Err(too_large(path, reason));
    }
    read(path, &content)
}

/// The same of what has been read; `name` is what it is called in messages.
///
/// # Errors
/// When it is neither.
pub fn read(name: &Path, content: &[u8]) -> Result<Record, ImportError> {
    match content.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Err(ImportError::Empty(name.into())),
        Some(b'{') => json::parse(name, content),
        Some(_) => published::parse(name, content),
    }
}

fn too_large(path: &Path, reason: String) -> ImportError {
    ImportError::TooLarge {
        path: path.into(),
        reason,
    }
}

#[cfg(test)]
mod tests;
