//! `keymark history`

use keymark_report::archive::{Archive, CaseWords};
use keymark_report::history::{self, READ_THROUGH, Trend};
use keymark_report::report;

use super::Outcome;
use crate::args::HistoryArguments;
use crate::documents::pictures;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &HistoryArguments, archive: &Archive) -> Outcome {
    let words = CaseWords::new(arguments.case.iter().map(String::as_str));
    let past = archive.history(&words)?;
    let mut trends = history::trends(&past);
    let named = arguments.case.join(" ");
    if trends.is_empty() {
        return Err(Failure::nothing_usable(format!(
            "no finished run has a case that matches '{named}'; 'keymark show' lists the cases of a run"
        )));
    }
    if arguments.json {
        let rows = trends.iter().flat_map(Trend::rows);
        rows.for_each(|row| print_json(&row));
    } else {
        if trends.len() <= READ_THROUGH {
            archive.bound(&mut trends, arguments.last)?;
        }
        let document = report::history(&trends, arguments.last);
        let picture = (!arguments.no_plot).then(|| pictures::of_history(&trends, arguments.last));
        output::illustrated(&document, picture.flatten().as_deref(), &arguments.tables);
    }
    Ok(Exit::Fine)
}
