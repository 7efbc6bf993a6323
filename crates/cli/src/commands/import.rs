//! `keymark import`

use keymark_bench::record::Record;
use keymark_report::archive::Archive;
use keymark_report::exchange;
use keymark_report::units::counted;
use keymark_report::visible::excerpt;
use keymark_stacks::registry;

use super::Outcome;
use crate::args::ImportArguments;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) fn run(arguments: &ImportArguments, archive: &mut Archive) -> Outcome {
    let record = exchange::import(&arguments.file).map_err(Failure::failed)?;
    check(&record)?;
    archive.insert(&record).map_err(Failure::failed)?;
    output::line(&done(&record));
    Ok(Exit::Fine)
}

/// A record from elsewhere may say of its cases only what their stacks know.
pub(super) fn check(record: &Record) -> Result<(), Failure> {
    let mut cases = record.plan.cases.iter();
    cases.try_for_each(|case| {
        registry::check(case)
            .map_err(|reason| Failure::failed(format!("{} is refused: {reason}", record.id)))
    })
}

/// What is said of a record that was taken in.
pub(super) fn done(record: &Record) -> String {
    let cases = counted(record.cases.len(), "case");
    format!("imported {} with {cases}", excerpt(&record.id.0))
}
