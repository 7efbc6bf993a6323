//! `keymark report`, and the report at the end of `keymark bench`.

mod file;

use std::io::Write;
use std::path::{Path, PathBuf};

use keymark_bench::record::{Record, RunId};
use keymark_report::archive::{Archive, RunSelector};
use keymark_report::document::Document;
use keymark_report::render::{Exported, Format, FormatError, html};
use keymark_report::report::{Part, report};
use keymark_stacks::registry;

use super::{Outcome, again, compare, published, show};
use crate::args::ReportArguments;
use crate::exit::{Exit, Failure};
use crate::output;

/// What stands for stdout.
const STDOUT: &str = "-";
/// The directory of reports beside the archive.
const REPORTS: &str = "reports";

pub(super) fn run(arguments: &ReportArguments, archive: &Archive) -> Outcome {
    let records = load(&arguments.runs, archive)?;
    let articles = published::records(&arguments.published)?;
    let text = text(&records, &articles, archive, arguments.format())?;
    let target = match (&arguments.output, arguments.format()) {
        (Some(path), _) if path.as_os_str() == STDOUT => None,
        (Some(path), _) => Some(path.clone()),
        (None, format) if format.word == html::FORMAT.word => {
            Some(usual_place(archive.path(), &records[0].id)?)
        }
        (None, _) => None,
    };
    match target {
        Some(path) => {
            file::write(&path, &text, arguments.force).map_err(Failure::failed)?;
            output::line(&path.display().to_string());
        }
        None => write_out(&text)?,
    }
    Ok(Exit::Fine)
}

/// The report of a run that has just been saved, beside its archive.
pub(super) fn beside(archive: &Archive, run: &RunId) -> Result<PathBuf, Failure> {
    let records = load(&[RunSelector::Id(run.0.clone())], archive)?;
    let text = text(&records, &[], archive, &html::FORMAT)?;
    let path = usual_place(archive.path(), run)?;
    file::write(&path, &text, false).map_err(Failure::failed)?;
    Ok(path)
}

/// Each run once, in the order in which they are named.
fn load(runs: &[RunSelector], archive: &Archive) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    for run in runs {
        let record = archive.load(run).map_err(Failure::failed)?;
        if records.iter().any(|known| known.id == record.id) {
            return Err(Failure::usage(format!(
                "the run {} is named twice",
                record.id
            )));
        }
        records.push(record);
    }
    Ok(records)
}

/// All that there is to say about these runs, and of the operations of the first what articles say.
pub(super) fn document(
    records: &[Record],
    articles: &[Record],
    archive: &Archive,
) -> Result<Document, Failure> {
    let parts = records.iter().enumerate().map(|(number, record)| Part {
        record,
        document: match number {
            0 => show::document_beside(record, articles),
            _ => show::document(record),
        },
        again: again::again(record),
    });
    let comparison = match records {
        [_, _, ..] => Some(compare::each_run(records, archive)?),
        _ => None,
    };
    Ok(report(parts.collect(), comparison.as_ref()))
}

fn text(
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
fn usual_place(archive: &Path, run: &RunId) -> Result<PathBuf, Failure> {
    let directory = archive
        .parent()
        .unwrap_or_else(|| Path::new(""))
        .join(REPORTS);
    std::fs::create_dir_all(&directory).map_err(|error| {
        Failure::failed(format!("{} cannot be made: {error}", directory.display()))
    })?;
    Ok(directory.join(format!("{}.html", file::name(&run.0))))
}

/// As it is: a file that is redirected to is the same as one that is named.
fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::failed(
            format!("the report cannot be written: {error}"),
        )),
        _ => Ok(()),
    }
}
