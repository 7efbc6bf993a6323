//! Output about records that several commands share: documents, pictures, comparisons, reports.

pub(crate) mod abilities;
pub(crate) mod comparison;
pub(crate) mod export;
pub(crate) mod pictures;
pub(crate) mod published;

use keymark_bench::Record;
use keymark_report::analysis::Analysis;
use keymark_report::pivot::Axis;
use keymark_report::report::{series, series_rows};
use keymark_report::units::counted;
use keymark_report::verdict::Verdict;
use keymark_report::visible::excerpt;
use keymark_report::{Beside, Document};
use keymark_stacks::registry;
use serde_json::json;

use crate::args::ShownArguments;
use crate::output;

/// Analyses a record with the layers, comparisons and tokens of each family of stacks.
pub(crate) fn analysis(record: &Record) -> Analysis {
    let analysis = Analysis::of(record, &registry::layers());
    let analysis = analysis.compared(record, registry::comparisons());
    analysis.queued(record, registry::tokens)
}

/// A run on the terminal: on one screen, or all of it.
pub(crate) fn print(record: &Record, articles: &[Record], shown: &ShownArguments) {
    let analysis = analysis(record);
    let document = document(&analysis, record, articles, shown.columns.as_deref());
    let picture = (!shown.no_picture).then(|| pictures::below_the_verdict(&analysis, record));
    let (beside, picture) = picture.flatten().unzip();
    let document = match shown.long {
        true => document,
        false => document.brief(beside.unwrap_or(Beside::Nothing)),
    };
    output::illustrated(&document, picture.as_deref());
}

/// All that there is to say about a record, with what was published of its operations.
pub(crate) fn document(
    analysis: &Analysis,
    record: &Record,
    articles: &[Record],
    by: Option<&[Axis]>,
) -> Document {
    let mut document = analysis.document_beside(record, &published::figures(record), articles, by);
    if !articles.is_empty() {
        match analysis.beside(record, articles) {
            Some(section) => document.sections.push(section),
            None => output::warning("the published figures have no operation of this run"),
        }
    }
    document
}

/// Prints the verdict of a record as one JSON object, behind its rows.
pub(crate) fn print_verdict(record: &Record) {
    let verdict = Verdict::of(&analysis(record), record);
    output::print_json(&json!({ "verdict": verdict.fields() }));
}

/// Checks the parameters of a foreign record's cases.
pub(crate) fn check(record: &Record) -> Result<(), String> {
    record.plan.cases.iter().try_for_each(|case| {
        registry::check(case)
            .map_err(|reason| format!("record {} is refused: {reason}", excerpt(&record.id.0)))
    })
}

pub(crate) fn imported(record: &Record) -> String {
    let cases = counted(record.cases.len(), "case");
    format!("imported {} with {cases}", excerpt(&record.id.0))
}

/// The runs of a series in one table.
pub(crate) fn print_series(runs: &[Record], json: bool) {
    let rows = series_rows(runs);
    if json {
        rows.iter().for_each(output::print_json);
    } else {
        output::document(&series(runs, &rows));
    }
}
