//! `keymark plot`

use keymark_records::archive::{Archive, SideSelector};
use keymark_report::pictures::keep_cases;

use super::Outcome;
use crate::args::PlotArguments;
use crate::documents::{pictures, published};
use crate::exit::{Exit, Failure};

pub(super) fn run(arguments: &PlotArguments, archive: &Archive) -> Outcome {
    let side = SideSelector(arguments.runs.clone());
    let mut records = archive.side(&side)?;
    records.extend(published::records(&arguments.published)?);
    if let Some(words) = &arguments.case {
        for record in &mut records {
            keep_cases(record, words);
        }
        if records.iter().all(|record| record.cases.is_empty()) {
            return Err(Failure::nothing_usable(format!(
                "no case matches '{words}'; 'keymark show' lists the cases"
            )));
        }
    }
    let charts = pictures::charts(&mut records, arguments.kind)?;
    pictures::write(&charts, &arguments.output, arguments.theme)?;
    Ok(Exit::Fine)
}
