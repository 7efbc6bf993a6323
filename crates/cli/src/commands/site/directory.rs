//! Target directory of a site, which is written whole or not at all, and only replaces an earlier site.
//!
//! A site is written to a private directory next to its target, then exchanged with it (`renameat2`). `SHA256SUMS` identifies the files
//! of an earlier site; other or changed files are the user's. They are looked for before the work, and before and after the
//! exchange, which is then undone.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use itertools::Itertools;
use keymark_report::render::html::MARK;
use keymark_report::site::{Pages, SUMS, sum};
use keymark_stores::places::private_dir::{PrivateDir, sweep_within};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat, renameat_with};
use rustix::io::Errno;
use walkdir::{DirEntry, WalkDir};

/// Largest number of foreign files in a message.
const NAMED: usize = 3;

/// Names in the private directory of the new site, and of the old one if the file system cannot exchange them.
const NEW: &str = "site";
const OLD: &str = "old";

/// A directory that may be written to.
#[derive(Debug)]
pub(super) struct SiteDirectory {
    /// Name given by the user.
    out: PathBuf,
    path: PathBuf,
    /// True if there is an unchanged site; else the directory is missing or empty.
    has_site: bool,
}

impl SiteDirectory {
    /// Checks the directory before the work, which may take hours.
    pub(super) fn examine(out: &Path, records: &Path) -> Result<Self, String> {
        let failed = |error: io::Error| format!("cannot write {}: {error}", out.display());
        let path = resolved(out).map_err(failed)?;
        if let Ok(records) = fs::canonicalize(records)
            && (records.starts_with(&path) || path.starts_with(&records))
        {
            return Err(format!(
                "the site and its records must not contain one another: name a directory outside {}",
                records.display()
            ));
        }
        match fs::metadata(out) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(format!("{} exists and is not a directory", out.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self {
                    out: out.into(),
                    path,
                    has_site: false,
                });
            }
            Err(error) => return Err(failed(error)),
        }
        let has_site = fs::read_dir(&path).map_err(failed)?.next().is_some();
        if has_site {
            check_site(&path, out)?;
        }
        Ok(Self {
            out: out.into(),
            path,
            has_site,
        })
    }

    /// Writes all files next to the target, and then replaces it.
    pub(super) fn write(&self, pages: &Pages) -> Result<(), String> {
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        let filled = || {
            fs::create_dir_all(parent)?;
            sweep_within(parent);
            let beside = PrivateDir::in_directory(parent)?;
            let directory = beside.open()?;
            fill(&directory, pages)?;
            Ok((beside, directory))
        };
        let (_beside, directory) = filled().map_err(|error| self.failed(error))?;
        if !self.has_site {
            // An empty directory gives way, and nothing else.
            let put = renameat(&directory, NEW, CWD, &self.path);
            return put.map_err(|error| self.failed(error.into()));
        }
        check_site(&self.path, &self.out)?;
        let old = self
            .exchange(&directory)
            .map_err(|error| self.failed(error.into()))?;
        let there = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
        check_site(&there.join(old), &self.out).inspect_err(|_| {
            // Where that fails, both are still there.
            let _ = self.put_back(&directory, old);
        })
    }

    fn failed(&self, error: io::Error) -> String {
        format!("cannot write {}: {error}", self.path.display())
    }

    /// Replaces the old site by the new one. Returns the name of the old one in the private directory.
    fn exchange(&self, directory: &File) -> Result<&'static str, Errno> {
        match renameat_with(directory, NEW, CWD, &self.path, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(NEW),
            // Not every file system can do that in one step.
            Err(Errno::INVAL | Errno::NOSYS) => {
                renameat(CWD, &self.path, directory, OLD)?;
                if let Err(error) = renameat(directory, NEW, CWD, &self.path) {
                    renameat(directory, OLD, CWD, &self.path)?;
                    return Err(error);
                }
                Ok(OLD)
            }
            Err(error) => Err(error),
        }
    }

    fn put_back(&self, directory: &File, old: &str) -> Result<(), Errno> {
        if old == NEW {
            return renameat_with(directory, NEW, CWD, &self.path, RenameFlags::EXCHANGE);
        }
        renameat(CWD, &self.path, directory, NEW)?;
        renameat(directory, old, CWD, &self.path)
    }
}

/// Returns the path without links: a link to a directory stays, and its target is replaced.
fn resolved(out: &Path) -> io::Result<PathBuf> {
    if let Ok(path) = fs::canonicalize(out) {
        return Ok(path);
    }
    let path = std::path::absolute(out)?;
    let parent = path
        .parent()
        .and_then(|parent| fs::canonicalize(parent).ok());
    Ok(match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path,
    })
}

/// Makes every file through the open directory, and follows no link.
fn fill(directory: &File, pages: &Pages) -> io::Result<()> {
    let site = made(directory.try_clone()?.into(), NEW)?;
    let sums = pages.sums();
    for (path, content) in pages.iter().chain([(SUMS, sums.as_bytes())]) {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folders = folders.split('/').filter(|folder| !folder.is_empty());
        let within = folders.into_iter().try_fold(site.try_clone()?, made)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(0o666);
        let file = openat(within, name, flags | OFlags::CLOEXEC, mode)?;
        File::from(file).write_all(content)?;
    }
    Ok(())
}

/// Opens a folder, which is made if it is missing.
fn made(at: OwnedFd, folder: &str) -> io::Result<OwnedFd> {
    match mkdirat(&at, folder, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(at, folder, flags, Mode::empty())?)
}

/// Refuses a directory that is not exactly a site as keymark wrote it.
fn check_site(path: &Path, out: &Path) -> Result<(), String> {
    let foreign = |why: String| {
        format!(
            "{} is not empty and not a site that keymark can replace: {why}; name another directory",
            out.display()
        )
    };
    let read = |name: &str| fs::read_to_string(path.join(name));
    let Ok(sums) = read(SUMS) else {
        return Err(foreign(format!("it has no {SUMS}")));
    };
    let lines = sums.lines().filter_map(|line| line.split_once("  "));
    let known: HashMap<&str, &str> = lines.map(|(sum, name)| (name, sum)).collect();
    let is_known = |name: &String| {
        let wanted = known.get(name.as_str());
        wanted.is_some_and(|wanted| {
            fs::read(path.join(name)).is_ok_and(|content| sum(&content) == **wanted)
        })
    };
    let mut names = files(path).map_err(|error| foreign(error.to_string()))?;
    names.retain(|name| name != SUMS && !is_known(name));
    match names.len() {
        0 if read("index.html").is_ok_and(|page| page.contains(MARK)) => Ok(()),
        0 => Err(foreign(
            "its index.html was not written by keymark".to_owned(),
        )),
        all => Err(foreign(format!(
            "{}{} not part of it, or changed since",
            names[..all.min(NAMED)].join(", "),
            match all.checked_sub(NAMED) {
                Some(more) if more > 0 => format!(" and {more} more are"),
                _ if all == 1 => " is".to_owned(),
                _ => " are".to_owned(),
            }
        ))),
    }
}

/// Lists everything below a directory except directories.
fn files(root: &Path) -> io::Result<Vec<String>> {
    let entries = WalkDir::new(root).sort_by_file_name().into_iter();
    let files = entries.filter_ok(|entry| !entry.file_type().is_dir());
    let name = |entry: DirEntry| {
        let name = entry.path().strip_prefix(root);
        name.unwrap_or(entry.path()).display().to_string()
    };
    Ok(files.map_ok(name).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    fn pages(text: &str) -> Pages {
        let mut pages = Pages::default();
        let page = format!("{MARK}{text}").into_bytes();
        pages.add("index.html".to_owned(), page).unwrap();
        pages.add("a/b.html".to_owned(), b"b".to_vec()).unwrap();
        pages
    }

    fn examined(out: &Path) -> SiteDirectory {
        SiteDirectory::examine(out, Path::new("/nowhere")).unwrap()
    }

    #[test]
    fn what_somebody_has_put_there_in_between_stays() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let foreign = |name: &str| {
            fs::create_dir_all(&out).unwrap();
            fs::write(out.join(name), "mine").unwrap();
        };
        // Where nothing was.
        let site = examined(&out);
        foreign("mine");
        assert_says(&site.write(&pages("one")).unwrap_err(), ["cannot write"]);
        fs::remove_file(out.join("mine")).unwrap();
        examined(&out).write(&pages("one")).unwrap();
        // Where a site was: a file next to it, and one of its own changed.
        for name in ["mine", "index.html", "a/mine"] {
            let site = examined(&out);
            let before = fs::read(out.join(name)).ok();
            foreign(name);
            assert_says(&site.write(&pages("two")).unwrap_err(), [name]);
            assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "mine");
            match before {
                Some(before) => fs::write(out.join(name), before).unwrap(),
                None => fs::remove_file(out.join(name)).unwrap(),
            }
        }
        examined(&out).write(&pages("two")).unwrap();
        let page = fs::read_to_string(out.join("index.html")).unwrap();
        assert!(page.ends_with("two"), "{page}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
