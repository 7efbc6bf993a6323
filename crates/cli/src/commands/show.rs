//! `keymark show`

use keymark_records::archive::{Archive, RunSelector, SideSelector};
use keymark_report::table::FlatRow;

use super::export::{BESIDE_A_RUN, keep};
use crate::args::{ShowArguments, ShownArguments};
use crate::documents::{self, pictures};
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

pub(super) fn run(arguments: &ShowArguments, archive: &Archive) -> Outcome {
    if let RunSelector::LastSeries(_) | RunSelector::Series(_) = arguments.run {
        return series(arguments, archive);
    }
    let mut records = vec![archive.load(&arguments.run)?];
    if let Some(words) = &arguments.case {
        keep(&mut records, words)?;
    }
    let articles = documents::published_records(&arguments.published)?;
    let record = &records[0];
    if arguments.form.is_json() {
        for record in [record].into_iter().chain(&articles) {
            let rows = documents::analysis(record).rows;
            rows.iter()
                .for_each(|row| output::print_json(&FlatRow::from(row)));
        }
        documents::print_verdict(record);
        return Ok(Exit::Fine);
    }
    let shown = ShownArguments {
        // One picture is enough.
        no_picture: arguments.shown.no_picture || arguments.picture.is_some(),
        ..arguments.shown.clone()
    };
    documents::print(record, &articles, &shown);
    documents::print_published(&arguments.published);
    if arguments.picture.is_some() {
        records.extend(articles);
        pictures::print(&mut records, arguments.picture)?;
    }
    Ok(Exit::Fine)
}

fn series(arguments: &ShowArguments, archive: &Archive) -> Outcome {
    if !arguments.published.is_empty() {
        return Err(Failure::usage(BESIDE_A_RUN));
    }
    let side = SideSelector(vec![arguments.run.clone()]);
    let mut runs = archive.side(&side)?;
    if let Some(words) = &arguments.case {
        keep(&mut runs, words)?;
    }
    documents::print_series(&runs, arguments.form.is_json());
    if arguments.picture.is_some() {
        pictures::print(&mut runs, arguments.picture)?;
    }
    Ok(Exit::Fine)
}
