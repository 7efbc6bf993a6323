//! A folder of files that others have contributed: which of them are meant to be records.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Endings of files that are read; what stands beside them (a README, a licence) is no record.
pub const ENDINGS: [&str; 2] = ["json", "csv"];

/// Files of a folder and the folders in it, in the order of their paths.
#[derive(Debug, Default)]
pub struct Folder {
    /// To be read, by [`import`](super::import).
    pub records: Vec<PathBuf>,
    /// Called like records, and no files.
    pub refused: Vec<NoFile>,
    /// Called otherwise.
    pub aside: Vec<PathBuf>,
}

/// Something that is called like a record and is not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} is {what}, but only plain files are read; put the file itself there")]
pub struct NoFile {
    /// Where it is.
    pub path: PathBuf,
    what: &'static str,
}

/// The folder cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("cannot read folder {path}: {source}; check its name and permissions")]
pub struct Unreadable {
    /// Which folder.
    pub path: PathBuf,
    /// What the system reports.
    pub source: io::Error,
}

impl Folder {
    /// Lists a folder. What begins with a dot is its owner's (`.git`), and not looked at. Links are not followed: they may lead
    /// out of a folder that anybody contributes to.
    ///
    /// # Errors
    /// When it, or a folder in it, cannot be listed.
    pub fn list(path: &Path) -> Result<Self, Unreadable> {
        let mut folder = Self::default();
        let mut waiting = vec![path.to_path_buf()];
        while let Some(path) = waiting.pop() {
            let failed = |source| Unreadable {
                path: path.clone(),
                source,
            };
            for entry in fs::read_dir(&path).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                if entry.file_name().as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                let kind = entry.file_type().map_err(failed)?;
                if kind.is_dir() {
                    waiting.push(entry.path());
                } else {
                    folder.add(entry.path(), kind);
                }
            }
        }
        folder.records.sort();
        folder.refused.sort_by(|a, b| a.path.cmp(&b.path));
        folder.aside.sort();
        Ok(folder)
    }

    fn add(&mut self, path: PathBuf, kind: fs::FileType) {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let wanted = ENDINGS
            .iter()
            .any(|known| ending.as_deref() == Some(known.as_ref()));
        if !wanted {
            self.aside.push(path);
        } else if kind.is_file() {
            self.records.push(path);
        } else {
            let what = if kind.is_symlink() {
                "a symbolic link"
            } else {
                "a device, pipe or socket"
            };
            self.refused.push(NoFile { path, what });
        }
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn records_are_files_with_their_ending_wherever_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        fs::create_dir_all(place("b/c")).unwrap();
        fs::create_dir(place(".git")).unwrap();
        for name in [
            "b/c/2.JSON",
            "a.json",
            "b/1.csv",
            "README.md",
            ".git/x.json",
        ] {
            fs::write(place(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", place("link.json")).unwrap();
        let folder = Folder::list(directory.path()).unwrap();
        assert_eq!(
            folder.records,
            ["a.json", "b/1.csv", "b/c/2.JSON"].map(place)
        );
        assert_eq!(folder.aside, [place("README.md")]);
        let refused: Vec<String> = folder.refused.iter().map(ToString::to_string).collect();
        assert_eq!(refused.len(), 1);
        assert!(
            refused[0].contains("link.json is a symbolic link"),
            "{refused:?}"
        );
        let nowhere = Folder::list(&place("nowhere")).unwrap_err().to_string();
        assert_says(&nowhere, ["cannot read folder"]);
    }
}
