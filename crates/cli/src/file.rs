//! Files that the user named: each is there whole, or as it was before.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use nix::unistd::{AccessFlags, access};
use tempfile::Builder;

use crate::exit::Failure;
use crate::output;

/// Around the random name of what is not whole yet.
const PREFIX: &str = ".keymark-";
const SUFFIX: &str = ".part";
/// Since nothing was added to it.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Treatment of an existing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// The file stays, and nothing is written.
    Kept,
    /// The file is replaced.
    Replaced,
}

/// Writes to a file next to the target, and then puts that in its place: a full disk leaves nothing half done. A pipe or a device is
/// written to as it is.
pub(crate) fn write(
    path: &Path,
    existing: Existing,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let filled = |file: &File| {
        let mut writer = BufWriter::new(file);
        fill(&mut writer).and_then(|()| writer.flush())
    };
    let found = fs::metadata(path);
    match &found {
        Ok(_) if existing == Existing::Kept => return Err(io::ErrorKind::AlreadyExists.into()),
        Ok(found) if !found.is_file() => return filled(&File::options().write(true).open(path)?),
        _ => {}
    }
    // What a link leads to is written, not the link.
    let path = if found.is_ok() {
        fs::canonicalize(path)?
    } else {
        path.to_owned()
    };
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    // The error of a temporary file would name that one.
    access(directory, AccessFlags::W_OK)?;
    sweep(directory);
    // As any other program's file, what the umask allows.
    let mode = found.map_or(0o666, |found| found.permissions().mode());
    let beside = Builder::new()
        .prefix(PREFIX)
        .suffix(SUFFIX)
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(directory)?;
    filled(beside.as_file())?;
    let placed = match existing {
        Existing::Kept => beside.persist_noclobber(&path),
        Existing::Replaced => beside.persist(&path),
    };
    placed.map(drop).map_err(|refused| refused.error)
}

/// Removes what a keymark has left that was killed while it wrote: nobody writes for so long without a word.
fn sweep(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_left = || {
            let found = entry.metadata().ok()?;
            let age = found.modified().ok()?.elapsed().ok()?;
            let is_own = found.is_file() && found.uid() == nix::unistd::geteuid().as_raw();
            (is_own && age > ABANDONED).then_some(())
        };
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) && is_left().is_some() {
            // The next one tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Puts that in the file's place.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, Existing::Replaced, |to| to.write_all(bytes))
}

/// Replaces a file's content, or prints it where no file is named.
pub(crate) fn put(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    let Some(path) = path else {
        output::print(text);
        return Ok(());
    };
    let written = replace(path, text.as_bytes());
    Ok(written.map_err(|error| format!("cannot write {}: {error}", path.display()))?)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        let text = |text: &'static str| move |to: &mut dyn Write| to.write_all(text.as_bytes());
        write(&path, Existing::Kept, text("one")).unwrap();
        let refused = write(&path, Existing::Kept, text("two")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        write(&path, Existing::Replaced, |to| {
            to.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, Existing::Replaced, text("three")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        // What was left by one that was killed goes, and what another is writing stays.
        for (name, age) in [
            (".keymark-a.part", 2 * ABANDONED),
            (".keymark-b.part", Duration::ZERO),
        ] {
            let left = File::create(place.path().join(name)).unwrap();
            left.set_modified(SystemTime::now() - age).unwrap();
        }
        write(&link, Existing::Replaced, text("three")).unwrap();
        assert!(place.path().join(".keymark-b.part").exists());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
        write(Path::new("/dev/null"), Existing::Replaced, text("gone")).unwrap();
        let nowhere = write(Path::new("/nowhere/file"), Existing::Kept, text("gone"));
        assert_eq!(
            nowhere.unwrap_err().raw_os_error(),
            Some(nix::errno::Errno::ENOENT as i32)
        );
        let full = write(Path::new("/dev/full"), Existing::Replaced, text("gone"));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
