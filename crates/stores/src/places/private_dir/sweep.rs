//! Removal of what killed keymarks left.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::libc::{O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK};
use serde::{Deserialize, Serialize};

use super::{PIN_FILE, PREFIX, RANDOM};
use crate::places::process::Process;
use crate::places::program;

/// File that marks a private directory. It says which directory it was written for, so that neither a file of that
/// name nor a copy of the directory passes for one.
pub const TAG: &str = "keymark";
const TITLE: &str = "private directory of keymark";
/// More than a tag ever has, in bytes.
const LONGEST: u64 = 1024;
/// Attempts to empty a directory in which a process that is just ending makes a file meanwhile.
const WRITERS: usize = 4;
/// Patience with the lock of a dead keymark. A child that has not come to its program yet when its keymark is killed
/// holds it for a moment more.
const LINGERING: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(5);

/// Removes what killed keymarks left: PINs of all of them first, then directories. Returns how many directories were
/// removed.
pub fn sweep() -> usize {
    sweep_within(&program::temporary())
}

/// Removes what killed keymarks left in a directory of the user's choice, as [`sweep`] does.
pub fn sweep_within(parent: &Path) -> usize {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default();
        name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
    });
    let abandoned: Vec<_> = paths
        .filter_map(|path| Some((abandoned(&path)?, path)))
        .collect();
    let removed = abandoned
        .into_iter()
        .filter(|(directory, path)| directory.remove(path).is_ok());
    removed.count()
}

/// The directory, if it is a dead keymark's, locked, as another keymark may be sweeping; and without its PIN, as what
/// follows takes time and may be cut short.
fn abandoned(path: &Path) -> Option<OwnedDir> {
    let directory = OwnedDir::open(path).ok()?;
    let is_abandoned = match directory.tag() {
        Some(tag) => directory.is_let_go(&tag),
        // Its keymark died over making or removing it.
        None => is_made_name(path) && directory.0.try_lock().is_ok() && directory.is_unfinished(),
    };
    if !is_abandoned {
        return None;
    }
    // Most have no PIN.
    let _ = fs::remove_file(directory.contents().join(PIN_FILE));
    Some(directory)
}

/// Returns whether [`PrivateDir`](super::PrivateDir) makes such names.
fn is_made_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(PREFIX).is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|letter| letter.is_ascii_alphanumeric())
    })
}

/// A directory of this user's, held open: whatever becomes of its name, its contents are looked at and removed.
/// Nobody else may see them or write to it, though a group may pass through it.
#[derive(Debug)]
pub(super) struct OwnedDir(File);

impl OwnedDir {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let directory = OpenOptions::new()
            .read(true)
            .custom_flags(O_DIRECTORY | O_NOFOLLOW)
            .open(path)?;
        let meta = directory.metadata()?;
        if meta.uid() != nix::unistd::geteuid().as_raw() || meta.mode() & 0o067 != 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Self(directory))
    }

    /// Opens a directory that was just made, and locks and tags it.
    ///
    /// # Errors
    /// When a sweep has removed it ([`io::ErrorKind::NotFound`]).
    pub(super) fn hold(path: &Path) -> io::Result<Self> {
        let directory = Self::open(path)?;
        // A file system without locks of directories has no sweeps either.
        let _ = directory.0.lock();
        let tag = IdentityTag::of(&directory.0)?;
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(directory.contents().join(TAG))?
            .write_all(tag.text()?.as_bytes())?;
        Ok(directory)
    }

    pub(super) fn into_file(self) -> File {
        self.0
    }

    fn contents(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    /// Reads its tag. None where there is none, or where it is another directory's.
    fn tag(&self) -> Option<IdentityTag> {
        let mut text = String::new();
        let file = OpenOptions::new()
            .read(true)
            // A link leads elsewhere, and a pipe would keep us waiting.
            .custom_flags(O_NOFOLLOW | O_NONBLOCK)
            .open(self.contents().join(TAG))
            .ok()?;
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        let own = identity(&self.0).ok()?;
        IdentityTag::parse(&text).filter(|tag| tag.directory == own)
    }

    /// Returns whether there is nothing in it but a tag that was not written.
    fn is_unfinished(&self) -> bool {
        fs::read_dir(self.contents()).is_ok_and(|mut entries| {
            entries.all(|entry| {
                entry.is_ok_and(|entry| {
                    entry.file_name() == TAG && entry.metadata().is_ok_and(|meta| meta.len() == 0)
                })
            })
        })
    }

    /// Takes the lock: at once, or, of a keymark that is dead, when its last child has let go of it.
    fn is_let_go(&self, tag: &IdentityTag) -> bool {
        let here = PidNamespace::here().is_ok_and(|here| here == tag.namespace);
        let mut waited = Duration::ZERO;
        while self.0.try_lock().is_err() {
            if !here || tag.keymark.lives() || waited >= LINGERING {
                return false;
            }
            std::thread::sleep(STEP);
            waited += STEP;
        }
        true
    }

    /// Removes it with its contents. The tag goes last, so that what is left of a removal that is cut short is still
    /// known.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        let contents = self.contents();
        remove_socket_directories(&contents);
        (0..WRITERS)
            .map(|_| empty(&contents))
            .find(Result::is_ok)
            .unwrap_or_else(|| empty(&contents))?;
        match fs::remove_file(contents.join(TAG)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::remove_dir(path)
    }
}

/// Identity of a private directory and of the keymark that has made it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IdentityTag {
    /// Device and inode of the directory.
    directory: (u64, u64),
    namespace: PidNamespace,
    keymark: Process,
}

/// Namespace in which numbers of processes mean the same.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PidNamespace {
    /// The kernel's name of its start.
    boot: String,
    inode: u64,
}

impl PidNamespace {
    fn here() -> io::Result<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        Ok(Self {
            boot: boot.trim().to_owned(),
            inode: fs::metadata("/proc/self/ns/pid")?.ino(),
        })
    }
}

fn identity(directory: &File) -> io::Result<(u64, u64)> {
    directory.metadata().map(|meta| (meta.dev(), meta.ino()))
}

impl IdentityTag {
    /// Makes the tag of a directory of this keymark's.
    fn of(directory: &File) -> io::Result<Self> {
        Ok(Self {
            directory: identity(directory)?,
            namespace: PidNamespace::here()?,
            keymark: Process::of(std::process::id()).ok_or(io::ErrorKind::NotFound)?,
        })
    }

    /// Formats it as a title and JSON.
    fn text(&self) -> io::Result<String> {
        Ok(format!("{TITLE}\n{}\n", serde_json::to_string(self)?))
    }

    fn parse(text: &str) -> Option<Self> {
        let tag = text.strip_suffix('\n')?.strip_prefix(TITLE)?;
        serde_json::from_str(tag.strip_prefix('\n')?).ok()
    }
}

/// Removes everything but the tag.
fn empty(contents: &Path) -> io::Result<()> {
    for entry in fs::read_dir(contents)? {
        let entry = entry?;
        if entry.file_name() == TAG {
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

/// Removes socket directories of GnuPG's homes: `/run/user/UID`, if it exists, has the sockets.
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

    /// Makes a directory as a killed keymark leaves it. Only a dead keymark's lock is waited for, and children that
    /// other tests start hold it for a moment more.
    fn abandoned(parent: &Path) -> PathBuf {
        let path = unfinished(parent);
        let held = OwnedDir::hold(&path).unwrap();
        let mut ended = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let keymark = Process::of(ended.id()).unwrap();
        ended.kill().unwrap();
        ended.wait().unwrap();
        let tag = IdentityTag {
            keymark,
            ..IdentityTag::of(&held.0).unwrap()
        };
        fs::write(path.join(TAG), tag.text().unwrap()).unwrap();
        path
    }

    fn unfinished(parent: &Path) -> PathBuf {
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent);
        made.unwrap().keep()
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
        let taken = super::abandoned(&left).unwrap();
        assert!(!pin.exists() && other.exists());
        taken.remove(&left).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn a_directory_of_that_name_without_its_own_tag_is_not_keymarks() {
        let parent = tempfile::tempdir().unwrap();
        let users = parent.path().join("keymark-notes");
        fs::create_dir(&users).unwrap();
        fs::set_permissions(&users, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(users.join("lock"), "").unwrap();
        assert_eq!(sweep_within(parent.path()), 0);
        // A copy of one that was keymark's is also the user's.
        let left = abandoned(parent.path());
        fs::copy(left.join(TAG), users.join(TAG)).unwrap();
        assert_eq!(sweep_within(parent.path()), 1);
        assert!(users.join(TAG).exists() && !left.exists());
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
    fn what_a_group_may_pass_through_is_taken_and_what_others_may_enter_is_not() {
        for (mode, swept) in [(0o710, 1), (0o755, 0)] {
            let parent = tempfile::tempdir().unwrap();
            let left = abandoned(parent.path());
            fs::set_permissions(&left, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(sweep_within(parent.path()), swept, "{mode:o}");
            assert_eq!(left.exists(), swept == 0, "{mode:o}");
        }
    }

    #[test]
    fn a_removal_and_a_making_that_were_cut_short_are_finished() {
        let parent = tempfile::tempdir().unwrap();
        let (empty, untold) = (unfinished(parent.path()), unfinished(parent.path()));
        fs::write(untold.join(TAG), "").unwrap();
        let full = unfinished(parent.path());
        fs::write(full.join("file"), "").unwrap();
        let users = parent.path().join("keymark-notes");
        fs::create_dir(&users).unwrap();
        fs::set_permissions(&users, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(sweep_within(parent.path()), 2);
        assert!(!empty.exists() && !untold.exists() && full.exists() && users.exists());
        // One that is swept before it is locked is made again.
        assert_eq!(
            OwnedDir::hold(&empty).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn the_lock_of_a_dead_keymark_is_waited_for() {
        let parent = tempfile::tempdir().unwrap();
        let left = abandoned(parent.path());
        let held = OwnedDir::open(&left).unwrap();
        held.0.lock().unwrap();
        // A child that is on its way to its program has the same open file.
        let lingering = std::thread::spawn(move || {
            std::thread::sleep(STEP * 20);
            drop(held);
        });
        assert_eq!(sweep_within(parent.path()), 1);
        lingering.join().unwrap();
    }
}
