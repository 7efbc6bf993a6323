//! What killed keymarks left.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::libc::{O_DIRECTORY, O_NOFOLLOW};

use super::identity_tag::{self, IdentityTag, LOCK};
use super::process::{self, World};
use super::{PIN_FILE, PREFIX};
use crate::places::program;

/// Times that a process which is just ending may get a file in between.
const WRITERS: usize = 3;

/// Ends what killed keymarks left: PINs of all of them first, then processes, then directories. Returns how many directories
/// were removed.
pub fn sweep() -> usize {
    sweep_within(&program::temporary())
}

/// The same of those in that directory.
pub fn sweep_within(parent: &Path) -> usize {
    let Ok(entries) = fs::read_dir(parent) else {
        return 0;
    };
    let (mut abandoned, mut swept) = (Vec::new(), 0);
    for entry in entries.flatten() {
        let name = entry.file_name();
        // keymark's own names are ASCII.
        let Some(name) = name.to_str() else {
            continue;
        };
        if name.starts_with(PREFIX) {
            abandoned.extend(Abandoned::take(entry.path()));
        } else if process::died_over(name) && take_unfinished(&entry.path()).is_some() {
            swept += 1;
        }
    }
    let removed = abandoned.into_iter().filter_map(Abandoned::remove);
    swept + removed.count()
}

/// A directory of a keymark that is dead.
struct Abandoned {
    path: PathBuf,
    directory: Own,
    tag: IdentityTag,
    /// Until all is gone: another keymark may be sweeping.
    _lock: File,
}

impl Abandoned {
    /// Takes it over, with its PIN removed already: what follows takes time, and may be cut short.
    fn take(path: PathBuf) -> Option<Self> {
        let directory = Own::open(&path)?;
        let (lock, tag) = IdentityTag::take(&directory.contents())?;
        // Most have none.
        let _ = fs::remove_file(directory.contents().join(PIN_FILE));
        Some(Self {
            path,
            directory,
            tag,
            _lock: lock,
        })
    }

    fn remove(self) -> Option<()> {
        if World::here().ok()? == self.tag.world {
            end_users(&self.directory.contents());
        }
        self.directory.remove(&self.path).ok()
    }
}

/// One without a mark: its keymark died over making or removing it. There is nothing else in it.
fn take_unfinished(path: &Path) -> Option<()> {
    let directory = Own::open(path)?;
    let lock = directory.contents().join(LOCK);
    if fs::symlink_metadata(&lock).is_ok() {
        let _lock = identity_tag::take_lock(&directory.contents())?;
        fs::remove_file(lock).ok()?;
    }
    fs::remove_dir(path).ok()
}

pub(super) fn open_own(path: &Path) -> Option<File> {
    Some(Own::open(path)?.0)
}

/// Ends a directory of this keymark's, whose lock it holds.
pub(super) fn take_apart(path: &Path) -> io::Result<()> {
    let directory = Own::open(path).ok_or(io::ErrorKind::NotFound)?;
    end_users(&directory.contents());
    directory.remove(path)
}

fn end_users(contents: &Path) {
    remove_socket_directories(contents);
    process::end_recorded(contents);
}

/// A directory of this user's that nobody else may see or write to, though a group may pass through it, held open: whatever becomes of its name, what is
/// looked at and removed is in this one.
struct Own(File);

impl Own {
    fn open(path: &Path) -> Option<Self> {
        let directory = OpenOptions::new()
            .read(true)
            .custom_flags(O_DIRECTORY | O_NOFOLLOW)
            .open(path)
            .ok()?;
        let meta = directory.metadata().ok()?;
        let private = meta.uid() == nix::unistd::geteuid().as_raw() && meta.mode() & 0o067 == 0;
        private.then_some(Self(directory))
    }

    fn contents(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    /// The lock goes last, so that what is left of a removal that is cut short is still known; between it and
    /// the directory itself, the name says who was at it.
    fn remove(&self, path: &Path) -> io::Result<()> {
        let contents = self.contents();
        let mut emptied = empty(&contents);
        for _ in 0..WRITERS {
            if emptied.is_ok() {
                break;
            }
            emptied = empty(&contents);
        }
        emptied?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let random = name.strip_prefix(PREFIX).unwrap_or(&name);
        let leaving = path.with_file_name(process::unfinished_prefix()? + random);
        fs::rename(path, &leaving)?;
        fs::remove_file(contents.join(LOCK))?;
        fs::remove_dir(leaving)
    }
}

/// Removes everything but the lock.
fn empty(contents: &Path) -> io::Result<()> {
    for entry in fs::read_dir(contents)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Where `/run/user/UID` exists, GnuPG keeps the sockets of a home there and not in the home.
fn remove_socket_directories(contents: &Path) {
    let Ok(real) = fs::read_link(contents) else {
        return;
    };
    let Some(gpgconf) = program::locate(None, "gpgconf") else {
        return;
    };
    let homes = fs::read_dir(contents).into_iter().flatten().flatten();
    for home in homes.filter(|home| home.path().join("gpg-agent.conf").exists()) {
        let mut command = program::command(&gpgconf);
        command
            .arg("--homedir")
            // gpgconf makes the socket directory's name of the home's.
            .arg(real.join(home.file_name()))
            .arg("--remove-socketdir");
        let _ = program::run(&mut command, program::QUESTION);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::PrivateDir;
    use super::*;

    /// As a keymark leaves it that is killed.
    fn abandoned(parent: &Path) -> PathBuf {
        let dir = PrivateDir::within(parent).unwrap();
        let path = dir.path().to_owned();
        let kept = parent.join("kept");
        fs::rename(&path, &kept).unwrap();
        drop(dir); // lets go of the lock
        fs::rename(&kept, &path).unwrap();
        IdentityTag::outlive(&path);
        path
    }

    #[test]
    fn a_sweep_takes_what_is_abandoned_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let held = PrivateDir::within(parent.path()).unwrap();
        let left = abandoned(parent.path());
        fs::create_dir_all(left.join("g0/private-keys-v1.d")).unwrap();
        fs::write(left.join("g0/file"), "x").unwrap();
        let foreign = parent.path().join("other");
        fs::create_dir(&foreign).unwrap();
        assert_eq!(sweep_within(parent.path()), 1);
        assert!(held.path().exists() && foreign.exists() && !left.exists());
        assert_eq!(sweep_within(parent.path()), 0);
    }

    #[test]
    fn pins_go_before_all_else() {
        let parent = tempfile::tempdir().unwrap();
        let left = abandoned(parent.path());
        let (pin, other) = (left.join(PIN_FILE), left.join("file"));
        fs::write(&pin, "271828").unwrap();
        fs::write(&other, "x").unwrap();
        let taken = Abandoned::take(left.clone()).unwrap();
        assert!(!pin.exists() && other.exists());
        taken.remove().unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn a_directory_of_that_name_with_a_lock_is_not_keymarks() {
        let parent = tempfile::tempdir().unwrap();
        let users = parent.path().join("keymark-notes");
        fs::create_dir(&users).unwrap();
        fs::set_permissions(&users, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(users.join(LOCK), "").unwrap();
        assert_eq!(sweep_within(parent.path()), 0);
        // A copy of one that was keymark's is the user's, too.
        let left = abandoned(parent.path());
        fs::copy(left.join(LOCK), users.join(LOCK)).unwrap();
        assert_eq!(sweep_within(parent.path()), 1);
        assert!(users.join(LOCK).exists() && !left.exists());
    }

    #[test]
    fn no_link_is_followed() {
        let parent = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let theirs = abandoned(elsewhere.path());
        fs::write(theirs.join("file"), "x").unwrap();
        symlink(&theirs, parent.path().join("keymark-linked")).unwrap();
        assert_eq!(sweep_within(parent.path()), 0);
        let left = abandoned(parent.path());
        symlink(elsewhere.path(), left.join("out")).unwrap();
        assert_eq!(sweep_within(parent.path()), 1);
        assert!(theirs.join("file").exists() && !left.exists());
    }

    #[test]
    fn what_others_may_enter_is_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let left = abandoned(parent.path());
        fs::set_permissions(&left, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(sweep_within(parent.path()), 0);
        assert!(left.exists());
    }

    #[test]
    fn what_a_group_may_pass_through_is_taken() {
        let parent = tempfile::tempdir().unwrap();
        let left = abandoned(parent.path());
        let group = nix::unistd::getegid().as_raw();
        super::super::let_pass(&left, group).unwrap();
        assert_eq!(sweep_within(parent.path()), 1);
        assert!(!left.exists());
    }

    #[test]
    fn a_removal_and_a_making_that_were_cut_short_are_finished() {
        let parent = tempfile::tempdir().unwrap();
        let own = process::unfinished_prefix().unwrap();
        let dead = own.replace(&format!("-{}-", std::process::id()), "-4194305-");
        let make = |name: &str| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
            path
        };
        let (empty, locked) = (
            make(&(dead.clone() + "aaaaaa")),
            make(&(dead.clone() + "bbbbbb")),
        );
        fs::write(locked.join(LOCK), "").unwrap();
        let full = make(&(dead + "cccccc"));
        fs::write(full.join("file"), "").unwrap();
        let under_way = make(&(own + "dddddd"));
        assert_eq!(sweep_within(parent.path()), 2);
        assert!(!empty.exists() && !locked.exists() && full.exists() && under_way.exists());
    }
}
