//! Runs as text in a form, and files of it.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use keymark_bench::Record;
use keymark_records::archive::Archive;
use keymark_report::Document;
use keymark_report::charts::Theme;
use keymark_report::render::html::MARK;
use keymark_report::render::{Exported, Format, FormatError};
use keymark_report::report::{Part, report};
use keymark_stacks::registry;

use super::{comparison, pictures};
use crate::args::{ExportFile, ExportForm, PictureFile};
use crate::exit::Failure;
use crate::{file, rerun};

/// Bytes at a page's beginning that hold its mark.
const BEGINNING: u64 = 512;

/// Writes a run, or a series by its name, to a file in the form of its ending.
pub(crate) fn to_file(
    records: &[Record],
    series: Option<&str>,
    file: &ExportFile,
) -> Result<(), Failure> {
    match file.form {
        ExportForm::Document(format) => {
            let text = match series {
                Some(name) => {
                    let name = format!("series:{name}");
                    let runs = records;
                    text(format, &Exported::Series { name, runs })?
                }
                None => runs(format, records, &[], None)?,
            };
            write(&file.path, &text, false)
        }
        ExportForm::Picture(format) => {
            let charts = pictures::charts(&mut records.to_vec(), None)?;
            let path = file.path.clone();
            pictures::write(&charts, &PictureFile { path, format }, Theme::Light)
        }
    }
}

/// Returns runs in that form, the operations of the first with the figures of articles. An archive is needed for a
/// comparison of several.
pub(crate) fn runs(
    format: &Format,
    records: &[Record],
    articles: &[Record],
    archive: Option<&Archive>,
) -> Result<String, Failure> {
    let document = document(records, articles, archive)?;
    let exported = Exported::Runs {
        runs: records,
        families: &registry::layers(),
        document: &|| document.clone(),
    };
    text(format, &exported)
}

fn document(
    records: &[Record],
    articles: &[Record],
    archive: Option<&Archive>,
) -> Result<Document, Failure> {
    let parts = records.iter().enumerate().map(|(number, record)| {
        let articles = if number == 0 { articles } else { &[] };
        let analysis = super::analysis(record);
        part(record, super::document(&analysis, record, articles, None))
    });
    let comparison = match (records, archive) {
        ([_, _, ..], Some(archive)) => Some(comparison::each_run(records, archive)?),
        _ => None,
    };
    Ok(report(parts.collect(), comparison.as_ref()))
}

pub(crate) fn text(format: &Format, exported: &Exported<'_>) -> Result<String, Failure> {
    match (format.write)(exported) {
        Err(several @ FormatError::SeveralRuns) => Err(Failure::usage(several)),
        written => Ok(written?),
    }
}

/// A run's part of a report.
pub(crate) fn part(record: &Record, document: Document) -> Part<'_> {
    Part {
        record,
        document,
        rerun: rerun::of(record),
    }
}

/// Writes a file, whole or not at all; a page is not written over one of other programs.
pub(crate) fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let is_page = text
        .get(..BEGINNING as usize)
        .unwrap_or(text)
        .contains(MARK);
    if is_page && !force && is_foreign(path).map_err(failed)? {
        return Err(Failure::failed(format!(
            "{} exists and is not a page of keymark; '--force' overwrites it",
            path.display()
        )));
    }
    Ok(file::replace(path, text.as_bytes()).map_err(failed)?)
}

/// Returns whether the path is a file without keymark's mark.
fn is_foreign(path: &Path) -> std::io::Result<bool> {
    let mut beginning = Vec::new();
    // A pipe or a device has nothing that could be lost, and reading may never end.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(false);
    }
    match File::open(path) {
        Ok(file) => file.take(BEGINNING).read_to_end(&mut beginning)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(!beginning.is_empty() && !String::from_utf8_lossy(&beginning).contains(MARK))
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn only_keymarks_own_pages_are_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        let page = |text: &str| format!("<!doctype html>\n{MARK}\n{text}");
        write(&path, &page("one"), false).unwrap();
        write(&path, &page("two"), false).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), page("two"));
        fs::write(&path, "my thesis").unwrap();
        let refused = write(&path, &page("three"), false).unwrap_err();
        assert_says(&refused.message, ["--force"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "my thesis");
        write(&path, &page("three"), true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), page("three"));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
