//! Reports of runs, and where they are written.

use std::path::{Path, PathBuf};

use keymark_bench::record::{Record, RunId};
use keymark_report::archive::{Archive, RunSelector};
use keymark_report::document::Document;
use keymark_report::render::{Exported, Format, FormatError, html};
use keymark_report::report::{Part, report};
use keymark_stacks::registry;

use super::{comparison, page_file};
use crate::exit::Failure;
use crate::rerun;

/// The directory of reports beside the archive.
const REPORTS: &str = "reports";

/// The report of a run that has just been saved, beside its archive.
pub(crate) fn beside(archive: &Archive, run: &RunId) -> Result<PathBuf, Failure> {
    let record = archive
        .load(&RunSelector::Id(run.0.clone()))
        .map_err(Failure::failed)?;
    let text = text(&[record], &[], archive, &html::FORMAT)?;
    let path = usual_place(archive.path(), run)?;
    write(&path, &text, false)?;
    Ok(path)
}

/// All that there is to say about these runs, and of the operations of the first what articles say.
pub(crate) fn document(
    records: &[Record],
    articles: &[Record],
    archive: &Archive,
) -> Result<Document, Failure> {
    let parts = records.iter().enumerate().map(|(number, record)| {
        let articles = if number == 0 { articles } else { &[] };
        part(record, super::document_beside(record, articles, None))
    });
    let comparison = match records {
        [_, _, ..] => Some(comparison::each_run(records, archive)?),
        _ => None,
    };
    Ok(report(parts.collect(), comparison.as_ref()))
}

/// The report in that format.
pub(crate) fn text(
    records: &[Record],
    articles: &[Record],
    archive: &Archive,
    format: &Format,
) -> Result<String, Failure> {
    let document = document(records, articles, archive)?;
    let exported = Exported::Runs {
        runs: records,
        families: &registry::layers(),
        document: &|| document.clone(),
    };
    let mut text = Vec::new();
    match (format.write)(&exported, &mut text) {
        Err(several @ FormatError::SeveralRuns) => Err(Failure::usage(several)),
        Err(other) => Err(Failure::failed(other)),
        Ok(()) => Ok(String::from_utf8_lossy(&text).into_owned()),
    }
}

/// `reports/RUN.html` beside the archive.
pub(crate) fn usual_place(archive: &Path, run: &RunId) -> Result<PathBuf, Failure> {
    let directory = archive
        .parent()
        .unwrap_or_else(|| Path::new(""))
        .join(REPORTS);
    std::fs::create_dir_all(&directory).map_err(|error| {
        Failure::failed(format!("cannot create {}: {error}", directory.display()))
    })?;
    Ok(directory.join(format!("{}.html", page_file::name(&run.0))))
}

/// A run's part of a report.
pub(crate) fn part(record: &Record, document: Document) -> Part<'_> {
    Part {
        record,
        document,
        rerun: rerun::of(record),
    }
}

/// Writes a report, not over what keymark did not write unless that is `force`d.
pub(crate) fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    page_file::write(path, text, force).map_err(Failure::failed)
}
