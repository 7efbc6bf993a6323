//! `keymark export`

use std::io::Write as _;

use keymark_bench::Record;
use keymark_records::archive::{Archive, RunSelector, SideSelector};
use keymark_report::pictures::keep_cases;
use keymark_report::render::{Exported, Format};

use crate::args::{ExportArguments, ExportForm, PictureFile, PictureFormat};
use crate::documents::{export, pictures, published_records};
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Refusal of published figures with a series.
pub(super) const BESIDE_A_RUN: &str =
    "published figures can be shown with one run; for series use 'compare series:… published:NAME'";

pub(super) fn run(arguments: &ExportArguments, archive: &Archive) -> Outcome {
    let file = arguments.output.as_ref();
    let form = arguments.format.or(file.map(|file| file.form));
    match form.ok_or_else(|| Failure::usage("name a file with -o, or a --format"))? {
        ExportForm::Picture(format) => picture(arguments, archive, format)?,
        ExportForm::Document(format) => {
            if arguments.picture.is_some() || arguments.case.is_some() {
                let message = "--picture and --case are for pictures: .svg and .png";
                return Err(Failure::usage(message));
            }
            let text = document(arguments, archive, format)?;
            match file {
                Some(file) => {
                    export::write(&file.path, &text, arguments.force)?;
                    output::line(&file.path.display().to_string());
                }
                None => write_out(text.as_bytes())?,
            }
        }
    }
    Ok(Exit::Fine)
}

fn document(
    arguments: &ExportArguments,
    archive: &Archive,
    format: &Format,
) -> Result<String, Failure> {
    if let [which @ (RunSelector::LastSeries(_) | RunSelector::Series(_))] = &*arguments.runs {
        if !arguments.published.is_empty() {
            return Err(Failure::usage(BESIDE_A_RUN));
        }
        let name = format!("series:{}", archive.series(which)?);
        let runs = archive.side(&SideSelector(arguments.runs.clone()))?;
        return export::text(format, &Exported::Series { name, runs: &runs });
    }
    let articles = published_records(&arguments.published)?;
    let records = load(&arguments.runs, archive)?;
    export::runs(format, &records, &articles, Some(archive))
}

/// Each run once, in the order in which they are named.
fn load(runs: &[RunSelector], archive: &Archive) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    for run in runs {
        let record = archive.load(run)?;
        if records.iter().any(|known| known.id == record.id) {
            let message = format!("the run {} is named twice", record.id);
            return Err(Failure::usage(message));
        }
        records.push(record);
    }
    Ok(records)
}

fn picture(
    arguments: &ExportArguments,
    archive: &Archive,
    format: PictureFormat,
) -> Result<(), Failure> {
    let mut records = archive.side(&SideSelector(arguments.runs.clone()))?;
    records.extend(published_records(&arguments.published)?);
    if let Some(words) = &arguments.case {
        keep(&mut records, words)?;
    }
    let charts = pictures::charts(&mut records, arguments.picture)?;
    match &arguments.output {
        Some(file) => {
            let path = file.path.clone();
            pictures::write(&charts, &PictureFile { path, format }, arguments.theme)
        }
        None => write_out(&pictures::bytes(&charts[0], format, arguments.theme)?),
    }
}

/// Keeps the cases that have all of these words in their names.
pub(super) fn keep(records: &mut [Record], words: &str) -> Result<(), Failure> {
    records
        .iter_mut()
        .for_each(|record| keep_cases(record, words));
    if records.iter().all(|record| record.cases.is_empty()) {
        return Err(Failure::nothing_usable(format!(
            "no case matches '{words}'; 'keymark show --long' lists the cases"
        )));
    }
    Ok(())
}

/// Writes the bytes unchanged, as to a named file.
fn write_out(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
