//! `keymark import`

use keymark_bench::record::Record;
use keymark_report::archive::Archive;
use keymark_report::exchange;
use keymark_report::units::counted;
use keymark_report::visible::excerpt;

use super::Outcome;
use crate::args::ImportArguments;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) fn run(arguments: &ImportArguments, archive: &mut Archive) -> Outcome {
    let record = exchange::import(&arguments.file).map_err(Failure::failed)?;
    archive.insert(&record).map_err(Failure::failed)?;
    output::line(&done(&record));
    Ok(Exit::Fine)
}

/// What is said of a record that was taken in.
pub(super) fn done(record: &Record) -> String {
    let cases = counted(record.cases.len(), "case");
    format!("imported {} with {cases}", excerpt(&record.id.0))
}
