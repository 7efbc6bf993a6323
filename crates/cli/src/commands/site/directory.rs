//! Where a site is written: whole or not at all, and never over what is not an earlier site.
//!
//! A site is written beside its target, then exchanged with it (`renameat2`). An earlier site is known by its
//! `SHA256SUMS`: what is not in it, or changed, is somebody's.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use itertools::Itertools;
use keymark_report::render::html::MARK;
use keymark_report::site::{Pages, SUMS, sum};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use walkdir::{DirEntry, WalkDir};

/// So many names of foreign files are said.
const NAMED: usize = 3;

/// A directory that may be written to.
#[derive(Debug)]
pub(super) struct SiteDirectory {
    path: PathBuf,
    /// Whether a site is there that keymark made, and nobody has changed; else there is nothing, or nothing in it.
    has_site: bool,
}

impl SiteDirectory {
    /// Looks at what is there, before hours may go into what is written to it.
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
                let has_site = false;
                return Ok(Self { path, has_site });
            }
            Err(error) => return Err(failed(error)),
        }
        let has_site = fs::read_dir(&path).map_err(failed)?.next().is_some();
        if has_site {
            check_site(&path, out)?;
        }
        Ok(Self { path, has_site })
    }

    /// Writes all files beside the target, and then puts them in its place.
    pub(super) fn write(&self, pages: &Pages) -> Result<(), String> {
        let failed = |error: io::Error| format!("cannot write {}: {error}", self.path.display());
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let beside = self
            .path
            .with_file_name(format!(".{name}.{}.part", std::process::id()));
        let written = fill(&beside, pages).and_then(|()| self.put(&beside));
        if written.is_err() {
            // It may not be there at all.
            let _ = fs::remove_dir_all(&beside);
        }
        written.map_err(failed)
    }

    fn put(&self, beside: &Path) -> io::Result<()> {
        if self.has_site {
            return fs::remove_dir_all(self.exchange(beside)?);
        }
        // An empty directory gives way.
        fs::rename(beside, &self.path)
    }

    /// Puts the new site in the place of the old one, and says where that is now.
    fn exchange(&self, beside: &Path) -> io::Result<PathBuf> {
        if renameat_with(CWD, beside, CWD, &self.path, RenameFlags::EXCHANGE).is_ok() {
            return Ok(beside.to_path_buf());
        }
        // Not every file system can do that in one step.
        let mut old = beside.as_os_str().to_owned();
        old.push(".old");
        fs::rename(&self.path, &old)?;
        if let Err(error) = fs::rename(beside, &self.path) {
            fs::rename(&old, &self.path)?;
            return Err(error);
        }
        Ok(old.into())
    }
}

/// Where it is, or will be. A link to a directory stays, and what it leads to is replaced.
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

fn fill(directory: &Path, pages: &Pages) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let sums = pages.sums();
    for (path, content) in pages.iter().chain([(SUMS, sums.as_bytes())]) {
        let path = directory.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, content)?;
    }
    Ok(())
}

/// Whether a directory holds a site and nothing else, all of it as it was written.
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

/// Whatever is below a directory and is no directory, by its name there.
fn files(root: &Path) -> io::Result<Vec<String>> {
    let entries = WalkDir::new(root).sort_by_file_name().into_iter();
    let files = entries.filter_ok(|entry| !entry.file_type().is_dir());
    let name = |entry: DirEntry| {
        let name = entry.path().strip_prefix(root);
        name.unwrap_or(entry.path()).display().to_string()
    };
    Ok(files.map_ok(name).collect::<Result<_, _>>()?)
}
