//! Files that the user named: each is there whole, or as it was before.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::Builder;

use crate::exit::Failure;
use crate::output;

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
    // As any other program's file, what the umask allows.
    let mode = found.map_or(0o666, |found| found.permissions().mode());
    let beside = Builder::new()
        .prefix(".keymark-")
        .suffix(".part")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(directory)?;
    filled(beside.as_file())?;
    let placed = match existing {
        Existing::Kept => beside.persist_noclobber(&path),
        Existing::Replaced => beside.persist(&path),
    };
    placed.map(drop).map_err(|refused| refused.error)
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
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
        write(Path::new("/dev/null"), Existing::Replaced, text("gone")).unwrap();
        let full = write(Path::new("/dev/full"), Existing::Replaced, text("gone"));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
