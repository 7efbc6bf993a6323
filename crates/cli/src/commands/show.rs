//! `keymark show` and `keymark plot`

use keymark_records::archive::{Archive, RunSelector, SideSelector};
use keymark_report::pictures::keep_cases;
use keymark_report::table::FlatRow;

use super::Outcome;
use crate::args::{PlotArguments, ShowArguments, ShownArguments};
use crate::documents::{self, pictures, published};
use crate::exit::{Exit, Failure};
use crate::observers::print_json;

pub(super) fn run(arguments: &ShowArguments, archive: &Archive) -> Outcome {
    if let RunSelector::LastSeries(_) | RunSelector::Series(_) = arguments.run {
        if !arguments.published.is_empty() {
            return Err(Failure::usage(
                "published figures can be shown beside one run; for series use 'compare series:… published:NAME'",
            ));
        }
        let side = SideSelector(vec![arguments.run.clone()]);
        let mut runs = archive.side(&side)?;
        documents::print_series(&runs, arguments.json);
        if let Some(kind) = arguments.plot {
            pictures::print(&mut runs, kind)?;
        }
        return Ok(Exit::Fine);
    }
    let record = archive.load(&arguments.run)?;
    let articles = published::records(&arguments.published)?;
    if arguments.json {
        for record in [&record].into_iter().chain(&articles) {
            let rows = documents::analysis(record).rows;
            rows.iter().for_each(|row| print_json(&FlatRow::from(row)));
        }
        documents::print_verdict(&record);
        return Ok(Exit::Fine);
    }
    let shown = ShownArguments {
        // One picture is enough.
        no_plot: arguments.shown.no_plot || arguments.plot.is_some(),
        ..arguments.shown.clone()
    };
    documents::print(&record, &articles, &shown);
    published::print_tables(&arguments.published);
    if let Some(kind) = arguments.plot {
        let mut all = [vec![record], articles].concat();
        pictures::print(&mut all, kind)?;
    }
    Ok(Exit::Fine)
}

pub(super) fn plot(arguments: &PlotArguments, archive: &Archive) -> Outcome {
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
