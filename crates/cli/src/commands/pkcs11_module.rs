//! `keymark pkcs11-module`, which keymark starts for itself.

use std::io;
use std::path::Path;

use keymark_stores::pkcs11::{ModuleFile, probe};

use super::Outcome;
use crate::exit::{Exit, Failure};

pub(super) fn run(file: &Path, reserved: Option<String>) -> Outcome {
    let file = ModuleFile {
        reserved,
        ..ModuleFile::new(file)
    };
    probe::serve(&file, io::stdin().lock(), io::stdout()).map_err(Failure::failed)?;
    Ok(Exit::Fine)
}
