//! `keymark import`

use keymark_report::archive::Archive;
use keymark_report::exchange;

use super::Outcome;
use crate::args::ImportArguments;
use crate::exit::Exit;
use crate::{documents, output};

pub(super) fn run(arguments: &ImportArguments, archive: &mut Archive) -> Outcome {
    let record = exchange::import(&arguments.file)?;
    documents::check(&record)?;
    archive.insert(&record)?;
    output::line(&documents::imported(&record));
    Ok(Exit::Fine)
}
