//! `keymark show`, and the tables at the end of `keymark bench`.

use keymark_bench::record::Record;
use keymark_report::analysis::Analysis;
use keymark_report::archive::{Archive, RunSelector, SideSelector};
use keymark_report::document::Document;
use keymark_report::table::FlatRow;
use keymark_stacks::registry;

use super::{Outcome, plot, published, series};
use crate::args::{ShowArguments, TableArguments};
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &ShowArguments, archive: &Archive) -> Outcome {
    if let RunSelector::LastSeries(_) | RunSelector::Series(_) = arguments.run {
        if !arguments.published.is_empty() {
            return Err(Failure::usage(
                "published figures can be shown beside one run; for series use 'compare series:… --published NAME'",
            ));
        }
        let side = SideSelector(vec![arguments.run.clone()]);
        let mut runs = archive.side(&side).map_err(Failure::failed)?;
        series::show(&runs, arguments.json, &arguments.tables);
        if let Some(kind) = arguments.plot {
            plot::print(&mut runs, kind)?;
        }
        return Ok(Exit::Fine);
    }
    let record = archive.load(&arguments.run).map_err(Failure::failed)?;
    let articles = published::records(&arguments.published)?;
    if arguments.json {
        for record in [&record].into_iter().chain(&articles) {
            let rows = analysis(record).rows;
            rows.iter().for_each(|row| print_json(&FlatRow::from(row)));
        }
        return Ok(Exit::Fine);
    }
    output::document(&document_beside(&record, &articles), &arguments.tables);
    if let Some(kind) = arguments.plot {
        let mut all = [vec![record], articles].concat();
        plot::print(&mut all, kind)?;
    }
    Ok(Exit::Fine)
}

/// All that there is to say about a record.
pub(super) fn print(record: &Record, tables: &TableArguments) {
    output::document(&document(record), tables);
}

/// The same, before it is printed.
pub(super) fn document(record: &Record) -> Document {
    analysis(record).document(record, &published::figures(record))
}

/// The same with what was published of its operations.
pub(super) fn document_beside(record: &Record, articles: &[Record]) -> Document {
    let analysis = analysis(record);
    let mut document = analysis.document(record, &published::figures(record));
    if !articles.is_empty() {
        match analysis.beside(record, articles) {
            Some(section) => document.sections.push(section),
            None => output::warning("the published figures have no operation of this run"),
        }
    }
    document
}

/// With what each family of stacks knows of its layers.
pub(super) fn analysis(record: &Record) -> Analysis {
    Analysis::of(record, &registry::layers())
}
