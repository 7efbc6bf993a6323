//! The file by which a private directory is known again: it says which directory it was written for, so that
//! neither a file of that name nor a copy of the directory passes for one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use serde::{Deserialize, Serialize};

use super::process::World;
use crate::places::process::Process;

/// Locked for as long as its keymark lives.
pub(super) const LOCK: &str = "lock";
const TITLE: &str = "private directory of keymark";
/// More than a mark ever has.
const LONGEST: u64 = 1024;

/// How long the lock of a dead keymark is waited for: a child that has not come to its program yet when its keymark
/// is killed holds it, too.
const LINGERING: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(5);

/// What the file says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IdentityTag {
    /// Device and inode of the directory.
    directory: (u64, u64),
    /// Where the numbers of its processes mean something.
    pub(super) world: World,
    /// Whose it is.
    keymark: Process,
}

impl IdentityTag {
    /// For a directory of this keymark's.
    pub(super) fn of(directory: &Path) -> io::Result<Self> {
        let meta = fs::symlink_metadata(directory)?;
        Ok(Self {
            directory: (meta.dev(), meta.ino()),
            world: World::here()?,
            keymark: Process::of(std::process::id()).ok_or(io::ErrorKind::NotFound)?,
        })
    }

    /// A title, and what it says as JSON.
    fn text(&self) -> io::Result<String> {
        Ok(format!("{TITLE}\n{}\n", serde_json::to_string(self)?))
    }

    fn parse(text: &str) -> Option<Self> {
        let tag = text.strip_suffix('\n')?.strip_prefix(TITLE)?;
        serde_json::from_str(tag.strip_prefix('\n')?).ok()
    }

    /// Writes it into the directory, locked before anything is in it.
    pub(super) fn put(&self, directory: &Path) -> io::Result<File> {
        let mut lock = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(directory.join(LOCK))?;
        lock.lock()?;
        lock.write_all(self.text()?.as_bytes())?;
        Ok(lock)
    }

    /// Of a directory that no keymark holds any more: its lock, now held here, and its mark.
    /// Nothing where there is none, or where it is not this directory's.
    pub(super) fn take(directory: &Path) -> Option<(File, Self)> {
        let mut lock = open_lock(directory)?;
        let mut text = String::new();
        Read::by_ref(&mut lock)
            .take(LONGEST)
            .read_to_string(&mut text)
            .ok()?;
        let tag = Self::parse(&text)?;
        // `directory` may be a link of /proc to an open one.
        let meta = fs::metadata(directory).ok()?;
        let its_own = tag.directory == (meta.dev(), meta.ino());
        (its_own && tag.is_let_go(&lock)).then_some((lock, tag))
    }

    /// Takes the lock: at once, or, of a keymark that is dead, when its last child has let go of it.
    fn is_let_go(&self, lock: &File) -> bool {
        let here = World::here().is_ok_and(|here| here == self.world);
        let mut waited = Duration::ZERO;
        while lock.try_lock().is_err() {
            if !here || self.keymark.lives() || waited >= LINGERING {
                return false;
            }
            std::thread::sleep(STEP);
            waited += STEP;
        }
        true
    }
}

/// The lock file, if it is a file of this user's that is still there, and nobody holds it.
pub(super) fn take_lock(directory: &Path) -> Option<File> {
    open_lock(directory).filter(|lock| lock.try_lock().is_ok())
}

fn open_lock(directory: &Path) -> Option<File> {
    let lock = OpenOptions::new()
        .read(true)
        // A link leads elsewhere, and a pipe would keep us waiting.
        .custom_flags(O_NOFOLLOW | O_NONBLOCK)
        .open(directory.join(LOCK))
        .ok()?;
    let meta = lock.metadata().ok()?;
    let own = meta.is_file() && meta.uid() == nix::unistd::geteuid().as_raw() && meta.nlink() == 1;
    own.then_some(lock)
}

#[cfg(test)]
impl IdentityTag {
    /// As [`IdentityTag::of`], of a keymark that has ended. Tests let go of locks while other tests start programs, whose
    /// children hold them for a moment more: only a dead keymark's is waited for.
    fn of_the_dead(directory: &Path) -> Self {
        let mut ended = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let keymark = Process::of(ended.id()).unwrap();
        ended.kill().unwrap();
        ended.wait().unwrap();
        Self {
            keymark,
            ..Self::of(directory).unwrap()
        }
    }

    /// Makes this keymark's directory, whose lock was let go, a dead one's.
    pub(super) fn outlive(directory: &Path) {
        let text = Self::of_the_dead(directory).text().unwrap();
        fs::write(directory.join(LOCK), text).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let tag = IdentityTag::of(directory.path()).unwrap();
        let text = tag.text().unwrap();
        assert_eq!(IdentityTag::parse(&text).as_ref(), Some(&tag));
        for other in ["", "\n", "private directory of keymark\n", "1 2\n3 4\n"] {
            assert_eq!(IdentityTag::parse(other), None, "{other:?}");
        }
        assert_eq!(IdentityTag::parse(text.trim_end()), None);
        assert_eq!(IdentityTag::parse(&(text + "more\n")), None);
    }

    #[test]
    fn the_lock_of_a_dead_keymark_is_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let tag = IdentityTag::of_the_dead(directory.path());
        let lock = tag.put(directory.path()).unwrap();
        // A child that is on its way to its program has the same open file.
        let lingering = std::thread::spawn(move || {
            std::thread::sleep(STEP * 20);
            drop(lock);
        });
        assert!(IdentityTag::take(directory.path()).is_some());
        lingering.join().unwrap();
    }

    #[test]
    fn a_lock_that_is_held_or_a_link_is_not_taken() {
        let directory = tempfile::tempdir().unwrap();
        let lock = IdentityTag::of(directory.path())
            .unwrap()
            .put(directory.path())
            .unwrap();
        assert!(IdentityTag::take(directory.path()).is_none(), "held");
        drop(lock);
        IdentityTag::outlive(directory.path());
        assert!(IdentityTag::take(directory.path()).is_some());
        let moved = directory.path().join("elsewhere");
        fs::rename(directory.path().join(LOCK), &moved).unwrap();
        std::os::unix::fs::symlink(&moved, directory.path().join(LOCK)).unwrap();
        assert!(IdentityTag::take(directory.path()).is_none(), "a link");
    }
}
