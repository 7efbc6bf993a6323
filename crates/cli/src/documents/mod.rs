//! Output about records that several commands share: documents, pictures, comparisons, reports.

pub(crate) mod abilities;
pub(crate) mod comparison;
pub(crate) mod export;
pub(crate) mod pictures;

use std::collections::BTreeSet;
use std::time::Duration;

use itertools::Itertools;
use keymark_bench::{DeviceName, Profile, ProfileStore, Provenance, Record, StackName};
use keymark_records::published::PublishedTable;
use keymark_report::analysis::{Analysis, PublishedFigure};
use keymark_report::pivot::Axis;
use keymark_report::report::{published_section, series, series_rows};
use keymark_report::units::counted;
use keymark_report::verdict::Verdict;
use keymark_report::visible::excerpt;
use keymark_report::{Beside, Document, Section};
use keymark_stacks::registry;
use keymark_stats::Seconds;
use serde_json::json;

use crate::args::ShownArguments;
use crate::exit::Failure;
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
    let mut document = analysis.document_beside(record, &published_figures(record), articles, by);
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

/// Returns published times of operations as records. Loads, ratios and rates have none.
pub(crate) fn published_records<'s>(
    shipped: impl IntoIterator<Item = &'s PublishedTable>,
) -> Result<Vec<Record>, Failure> {
    let times = shipped
        .into_iter()
        .filter(|shipped| shipped.cells().is_none());
    let records = times.map(|shipped| Ok(shipped.record()?));
    records
        .filter_ok(|record: &Record| !record.cases.is_empty())
        .collect()
}

/// Prints published loads and ratios as they are in their tables.
pub(crate) fn print_published(shipped: &[PublishedTable]) {
    let sections: Vec<Section> = shipped
        .iter()
        .copied()
        .filter_map(published_section)
        .collect();
    if !sections.is_empty() {
        output::document(&Document::of(sections));
    }
}

/// Returns the published figures of a run's twins, which are of gpg processes.
pub(crate) fn published_figures(record: &Record) -> Vec<PublishedFigure> {
    let twins: BTreeSet<&DeviceName> = record
        .cases
        .iter()
        .filter(|case| case.case.provenance == Provenance::Twin)
        .map(|case| &case.case.device)
        .collect();
    twins.into_iter().flat_map(of_twin).collect()
}

fn of_twin(device: &DeviceName) -> Vec<PublishedFigure> {
    let name = device.as_str().strip_prefix("twin:");
    // A profile of the user's own may be gone.
    let profile = name.and_then(|name| Profile::find(name).ok());
    // What is published of others than cards was not measured through gpg.
    let of_card = profile.filter(|profile| profile.store == ProfileStore::OpenpgpCard);
    let Some(profile) = of_card else {
        return Vec::new();
    };
    let seconds = |time: Duration| Seconds(time.as_secs_f64());
    let figures = profile.services.iter().filter_map(|(capability, service)| {
        Some(PublishedFigure {
            device: device.clone(),
            algorithm: capability.algorithm,
            operation: capability.operation,
            stack: StackName::GPG,
            card: seconds(service.time.mean()),
            whole: seconds(service.published?),
        })
    });
    figures.collect()
}
