//! `keymark report`

use std::io::Write;

use keymark_bench::Record;
use keymark_records::archive::{Archive, RunSelector};
use keymark_report::render::html;

use super::Outcome;
use crate::args::ReportArguments;
use crate::documents::{published, report};
use crate::exit::{Exit, Failure};
use crate::output;

const STDOUT: &str = "-";

pub(super) fn run(arguments: &ReportArguments, archive: &Archive) -> Outcome {
    let records = load(&arguments.runs, archive)?;
    let articles = published::records(&arguments.published)?;
    let text = report::text(&records, &articles, archive, arguments.format())?;
    let target = match (&arguments.output, arguments.format()) {
        (Some(file), _) if file.path.as_os_str() == STDOUT => None,
        (Some(file), _) => Some(file.path.clone()),
        (None, format) if format.word == html::FORMAT.word => {
            Some(report::usual_place(archive.path(), &records[0].id)?)
        }
        (None, _) => None,
    };
    match target {
        Some(path) => {
            report::write(&path, &text, arguments.force)?;
            output::line(&path.display().to_string());
        }
        None => write_out(&text)?,
    }
    Ok(Exit::Fine)
}

/// Each run once, in the order in which they are named.
fn load(runs: &[RunSelector], archive: &Archive) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    for run in runs {
        let record = archive.load(run)?;
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

/// Writes the bytes unchanged, as to a named file.
fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write the report: {error}")))
        }
        _ => Ok(()),
    }
}
