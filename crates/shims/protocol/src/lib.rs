//! Protocols between the C-ABI libraries and keymark. Apart from the libraries, because a
//! program that linked one of those would call it in place of the real PC/SC.

#![warn(missing_docs)]

use std::io;
use std::path::Path;

pub mod pkcs11;
pub mod trace;
pub mod wire;

/// Why a file cannot be used, in words with its name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FileError(String);

fn unread(path: &Path) -> impl Fn(io::Error) -> FileError {
    move |error| FileError(format!("cannot read the trace {}: {error}", path.display()))
}

fn foreign(path: &Path, expected: &str) -> FileError {
    FileError(format!("{} is not {expected}", path.display()))
}

/// The socket of a served card; without it, calls are forwarded to the real PC/SC.
pub const CARD: &str = "KEYMARK_PCSC_CARD";
/// The file that takes down the calls; without it, none are.
pub const TRACE: &str = "KEYMARK_PCSC_TRACE";
/// The real PC/SC library, in place of libpcsclite.so.1.
pub const LIBRARY: &str = "KEYMARK_PCSC_LIBRARY";
/// Set to anything: who asks the real library for a card alone gets it shared.
pub const SHARED: &str = "KEYMARK_PCSC_SHARED";
/// Name of the reader that a served card is in.
pub const READER: &str = "keymark virtual reader 00 00";
