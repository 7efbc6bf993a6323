//! `keymark history`

use itertools::Itertools;
use keymark_report::archive::{Archive, CaseWords};
use keymark_report::history::{self, Trend};
use keymark_report::report;

use super::Outcome;
use crate::args::HistoryArguments;
use crate::documents::pictures;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

/// More trends than this are no answer to a question about a case.
const TRENDS: usize = 12;

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
    if trends.len() > TRENDS && !arguments.json {
        return Err(Failure::usage(format!(
            "'{named}' matches {} cases and machines; add words of one of them, or a machine's label:\n  {}",
            trends.len(),
            some(&trends)
        )));
    }
    if arguments.json {
        let rows = trends.iter().flat_map(Trend::rows);
        rows.for_each(|row| print_json(&row));
    } else {
        archive.bound(&mut trends, arguments.last)?;
        let document = report::history(&trends, arguments.last);
        let picture = (!arguments.no_plot).then(|| pictures::of_history(&trends, arguments.last));
        output::illustrated(&document, picture.flatten().as_deref(), &arguments.tables);
    }
    Ok(Exit::Fine)
}

/// The first of them, a line each.
fn some(trends: &[Trend]) -> String {
    let first = trends.iter().take(TRENDS);
    let line = |trend: &Trend| format!("{} on {}", trend.case, trend.machine);
    first.map(line).join("\n  ")
}
