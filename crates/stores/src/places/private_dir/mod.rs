//! Private directories for child processes, removed with everything in them, also when keymark
//! itself was killed: what a dead keymark left is swept at the next start.
//!
//! A directory carries a tag that names itself, so that no other directory is removed. The lock that keymark holds on
//! it ends with keymark. Processes end with keymark by themselves (`watchdog.rs`, `keymark_process.rs`).

mod sweep;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use keymark_bench::outside::visible::excerpt;
use keymark_bench::{During as _, Error};

use super::program::temporary;
use sweep::OwnedDir;
pub use sweep::{TAG, sweep, sweep_within};

const PREFIX: &str = "keymark-";
/// File in a private directory with the PIN of a token of keymark's own, where users read it.
pub const PIN_FILE: &str = "pin";
/// Room in `sockaddr_un.sun_path`, less the final NUL (unix(7)).
pub const SOCKET_PATH: usize = 107;
/// Letters behind the prefix.
const RANDOM: usize = 6;
/// Directories that are made until one is locked before a sweep has found it.
const ATTEMPTS: usize = 10;

/// A directory that only this user may enter.
#[derive(Debug)]
pub struct PrivateDir {
    path: PathBuf,
    /// Number of the next numbered directory in it.
    number: AtomicU32,
    /// Locked for as long as this keymark lives.
    held: OwnedDir,
}

impl PrivateDir {
    /// Makes one under the directory for temporary files.
    pub fn new() -> Result<Self, Error> {
        Self::within(&temporary())
    }

    /// Makes one under `parent`.
    pub fn within(parent: &Path) -> Result<Self, Error> {
        Self::in_directory(parent).map_err(|error| {
            let what = format!("making a private directory in {}", parent.display());
            Error::call(what, error, "set TMPDIR to a writable directory")
        })
    }

    /// The directory itself, whatever becomes of its name; none if another is now in its place.
    pub fn open(&self) -> io::Result<File> {
        OwnedDir::open(&self.path).map(OwnedDir::into_file)
    }

    /// Makes one in a directory of the user's choice, for what will be moved from there; [`sweep_within`] removes
    /// what a killed keymark has left. Others who may write to that directory cannot know its name, nor get at what
    /// is in it.
    pub fn in_directory(parent: &Path) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let made = tempfile::Builder::new()
                .prefix(PREFIX)
                .rand_bytes(RANDOM)
                .permissions(fs::Permissions::from_mode(0o700))
                .tempdir_in(parent)?;
            match OwnedDir::hold(made.path()) {
                Ok(held) => {
                    return Ok(Self {
                        path: made.keep(),
                        number: AtomicU32::new(0),
                        held,
                    });
                }
                // Another keymark has swept it, since it was not locked yet.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a directory of that name in it.
    pub fn subdirectory(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .during(format_args!("mkdir {}", path.display()))?;
        Ok(path)
    }

    /// Makes one that has that letter and a number of its own; that of what came to nothing is not taken again.
    pub fn numbered(&self, letter: char) -> Result<PathBuf, Error> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        self.subdirectory(&format!("{letter}{number}"))
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        // A process that is just ending may still put a file there; the next sweep has it then.
        let _ = self.held.remove(&self.path);
    }
}

/// Lets a group pass through a private directory to what in it is the group's: a server's workers are another user
/// than who starts it. They can neither see what is there nor put anything.
pub fn let_pass(directory: &Path, group: u32) -> Result<(), Error> {
    chown(directory, None, Some(group))
        .and_then(|()| fs::set_permissions(directory, fs::Permissions::from_mode(0o710)))
        .during(format_args!("chmod {}", directory.display()))
}

/// Checks whether a socket can be in a private directory: the path below it is `below`, at most.
///
/// # Errors
/// When the path of the directory for temporary files is too long for it, or has what GnuPG's
/// configuration and OpenSSH cannot be told.
pub fn check_room_for_socket(below: &str) -> Result<(), Error> {
    room_for_socket(&temporary(), below)
}

fn room_for_socket(parent: &Path, below: &str) -> Result<(), Error> {
    let refused = |reason: String, advice: &str| {
        // Not `display`: what is wrong with it is to be seen.
        let call = format!("making a socket under {}", excerpt(&format!("{parent:?}")));
        Err(Error::call(call, reason, advice))
    };
    let clean = parent
        .to_str()
        .filter(|path| !path.contains(char::is_control));
    if clean.is_none() {
        return refused(
            "its name is not plain UTF-8 text".to_owned(),
            "set TMPDIR to a directory with a plain name",
        );
    }
    let length = parent.as_os_str().len() + 1 + PREFIX.len() + RANDOM + 1 + below.len();
    if length > SOCKET_PATH {
        return refused(
            format!("sockets' paths would have {length} bytes; the system allows {SOCKET_PATH}"),
            "set TMPDIR to a shorter directory",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn it_is_private_and_gone_afterwards() {
        let dir = PrivateDir::new().unwrap();
        let path = dir.path().to_owned();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o700
        );
        fs::write(path.join("file"), "x").unwrap();
        fs::create_dir_all(path.join("a/b")).unwrap();
        drop(dir);
        assert!(!path.exists());
    }

    #[test]
    fn a_directory_that_cannot_be_made_says_what_to_do() {
        let error = PrivateDir::within(Path::new("/nonexistent"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/nonexistent") && error.contains("TMPDIR"),
            "{error}"
        );
    }

    #[test]
    fn a_path_that_no_socket_can_have_is_refused_with_the_reason() {
        let refused = |parent: &[u8]| {
            let parent = Path::new(OsStr::from_bytes(parent));
            room_for_socket(parent, "g/S.agent")
                .unwrap_err()
                .to_string()
        };
        let long = refused(format!("/tmp/{}", "x".repeat(80)).as_bytes());
        assert!(
            long.contains("110 bytes") && long.contains("allows 107; set TMPDIR"),
            "{long}"
        );
        for odd in [&b"/tmp/\xff"[..], b"/tmp/a\nreader-port b"] {
            let odd = refused(odd);
            assert!(
                odd.contains("UTF-8 text; set TMPDIR") && !odd.contains('\n'),
                "{odd}"
            );
        }
        let fits = format!("/tmp/{}", "x".repeat(77));
        room_for_socket(Path::new(&fits), "g/S.agent").unwrap();
    }
}
