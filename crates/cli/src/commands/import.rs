//! `keymark import`

use std::path::PathBuf;

use keymark_records::exchange;

use super::Outcome;
use crate::archive::{open_with_identity, place};
use crate::args::ImportArguments;
use crate::exit::Exit;
use crate::{documents, output};

pub(super) fn run(arguments: &ImportArguments, archive: Option<&PathBuf>) -> Outcome {
    let mut archive = open_with_identity(&place(archive)?, arguments.identity.wanted())?;
    let record = exchange::import(&arguments.file)?;
    documents::check(&record)?;
    archive.insert(&record)?;
    output::line(&documents::imported(&record));
    Ok(Exit::Fine)
}
