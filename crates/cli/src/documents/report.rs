//! Reports of runs, and where they are written.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use keymark_bench::{Record, RunId};
use keymark_records::archive::{Archive, RunSelector};
use keymark_report::Document;
use keymark_report::render::html::MARK;
use keymark_report::render::{Exported, Format, FormatError, html};
use keymark_report::report::{Part, report};
use keymark_report::site::sum;
use keymark_stacks::registry;

use super::comparison;
use crate::exit::Failure;
use crate::{file, rerun};

/// The directory of reports beside the archive.
const REPORTS: &str = "reports";

/// Bytes at a page's beginning that hold its mark.
const BEGINNING: u64 = 512;

/// The report of a run that has just been saved, beside its archive.
pub(crate) fn beside(archive: &Archive, run: &RunId) -> Result<PathBuf, Failure> {
    let record = archive.load(&RunSelector::Id(run.0.clone()))?;
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
        let analysis = super::analysis(record);
        part(record, super::document(&analysis, record, articles, None))
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
        Err(other) => Err(other.into()),
        Ok(()) => Ok(String::from_utf8_lossy(&text).into_owned()),
    }
}

/// `reports/RUN.html` beside the archive.
pub(crate) fn usual_place(archive: &Path, run: &RunId) -> Result<PathBuf, Failure> {
    let directory = archive.parent().unwrap_or_else(|| Path::new(""));
    let directory = directory.join(REPORTS);
    let created = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&directory);
    let owner = created.and_then(|()| Ok(fs::metadata(&directory)?.uid()));
    let owner = owner.map_err(|error| format!("cannot create {}: {error}", directory.display()))?;
    // Whoever else made it could have put links there.
    if owner != nix::unistd::geteuid().as_raw() {
        return Err(Failure::failed(format!(
            "{} belongs to another user; name a file with --output",
            directory.display()
        )));
    }
    Ok(directory.join(format!("{}.html", name(&run.0))))
}

/// A run's part of a report.
pub(crate) fn part(record: &Record, document: Document) -> Part<'_> {
    Part {
        record,
        document,
        rerun: rerun::of(record),
    }
}

/// Writes the report: whole or not at all, and not over what keymark did not write.
pub(crate) fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if !force && is_foreign(path).map_err(failed)? {
        return Err(Failure::failed(format!(
            "{} exists and is not a keymark report; '--force' overwrites it",
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

/// A run's name as a file's: imported ones are anybody's. One that is no file's name is told from all others by its checksum.
fn name(run: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = run
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(100)
        .collect();
    if name == run && !name.starts_with('.') && !name.is_empty() {
        return name;
    }
    let sum = sum(run.as_bytes());
    format!("{}-{}", name.trim_start_matches('.'), &sum[..16])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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

    #[test]
    fn a_runs_name_leads_nowhere_else() {
        assert_eq!(name("20260101-000000-0001"), "20260101-000000-0001");
        let odd = [
            "../../etc/passwd",
            ".",
            "..",
            "...",
            "",
            "a<b>\n",
            "a_b__/",
            &"x".repeat(101),
        ];
        let names: BTreeSet<String> = odd.iter().map(|run| name(run)).collect();
        assert_eq!(names.len(), odd.len(), "{names:?}");
        for name in names {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            assert!(name.chars().all(plain) && !name.starts_with('.'), "{name}");
        }
    }
}
