//! Where a report is written, and what is not overwritten by it.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use keymark_report::render::html::MARK;

use crate::file;

/// So much of a page holds its mark.
const BEGINNING: u64 = 512;

/// Writes the report: whole or not at all, and not over what keymark did not write.
pub(super) fn write(path: &Path, text: &str, force: bool) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if !force && is_foreign(path).map_err(failed)? {
        return Err(format!(
            "{} exists and is not a keymark report; '--force' overwrites it",
            path.display()
        ));
    }
    file::replace(path, text.as_bytes()).map_err(failed)
}

/// Whether something is there that is no page of keymark's.
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

/// A run's name as a file's: imported ones are anybody's.
pub(super) fn name(run: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = run
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(100)
        .collect();
    match name.trim_start_matches('.') {
        "" => "run".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;
    use std::fs;

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
        assert_says(&refused, ["--force"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "my thesis");
        write(&path, &page("three"), true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), page("three"));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_runs_name_leads_nowhere_else() {
        assert_eq!(name("20260101-000000-0001"), "20260101-000000-0001");
        assert_eq!(name("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(name("..."), "run");
        assert_eq!(name("a<b>\n"), "a_b__");
    }
}
