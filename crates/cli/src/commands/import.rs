//! `keymark import`

use keymark_report::archive::Archive;
use keymark_report::exchange;

use super::Outcome;
use crate::args::ImportArguments;
use crate::exit::{Exit, Failure};
use crate::{documents, output};

pub(super) fn run(arguments: &ImportArguments, archive: &mut Archive) -> Outcome {
    let record = exchange::import(&arguments.file).map_err(Failure::failed)?;
    documents::check(&record).map_err(Failure::failed)?;
    archive.insert(&record).map_err(Failure::failed)?;
    output::line(&documents::imported(&record));
    Ok(Exit::Fine)
}
