//! Private directories for child processes, removed with everything in them, also when keymark
//! itself was killed: what a dead keymark left is swept at the next start.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use keymark_bench::error::Error;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

const PREFIX: &str = "keymark-";
/// Locked for as long as its keymark lives; the kernel lets go of it whatever happens.
const LOCK: &str = "lock";

/// A directory that only this user may enter.
#[derive(Debug)]
pub struct PrivateDir {
    dir: Option<TempDir>,
    path: PathBuf,
    _lock: File,
}

impl PrivateDir {
    /// Makes one under the directory for temporary files.
    ///
    /// # Errors
    /// When that cannot be written to.
    pub fn new() -> Result<Self, Error> {
        Self::within(&std::env::temp_dir())
    }

    /// Makes one under `parent`.
    ///
    /// # Errors
    /// When that cannot be written to.
    pub fn within(parent: &Path) -> Result<Self, Error> {
        let failed = |call: &str, error: io::Error| {
            let what = format!("{call} in {}", parent.display());
            Error::call(
                what,
                error,
                "set TMPDIR to a directory that can be written to",
            )
        };
        let dir = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent)
            .map_err(|error| failed("making a private directory", error))?;
        let lock =
            File::create(dir.path().join(LOCK)).map_err(|error| failed("making a lock", error))?;
        lock.lock().map_err(|error| failed("locking", error))?;
        let path = dir.path().to_owned();
        Ok(Self {
            dir: Some(dir),
            path,
            _lock: lock,
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a directory of that name in it.
    ///
    /// # Errors
    /// As the system reports.
    pub fn subdirectory(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| Error::call(format!("mkdir {}", path.display()), error, ""))?;
        Ok(path)
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        end_processes(&self.path);
        if let Some(dir) = self.dir.take() {
            // A process that is just ending may still put a file there; the next sweep has it then.
            let _ = dir.close();
        }
    }
}

/// Ends what killed keymarks left: processes first, then their directories. Returns how many
/// directories were removed.
#[must_use]
pub fn sweep() -> usize {
    sweep_within(&std::env::temp_dir())
}

fn sweep_within(parent: &Path) -> usize {
    let Ok(entries) = fs::read_dir(parent) else {
        return 0;
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .filter(|entry| abandoned(&entry.path()))
        .filter(|entry| {
            end_processes(&entry.path());
            fs::remove_dir_all(entry.path()).is_ok()
        })
        .count()
}

/// A directory of this user whose lock nobody holds.
fn abandoned(dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owned = fs::symlink_metadata(dir)
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == nix::unistd::geteuid().as_raw());
    owned && File::open(dir.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

/// Ends every process that names the directory on its command line, as all that keymark starts do.
fn end_processes(dir: &Path) {
    remove_socket_directories(dir);
    for pid in processes_naming(dir) {
        // It may be gone already.
        let _ = kill(pid, Signal::SIGKILL);
    }
}

/// Where `/run/user/UID` exists, GnuPG keeps the sockets of a home there and not in the home.
fn remove_socket_directories(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for home in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("gpg-agent.conf").exists())
    {
        let _ = Command::new("gpgconf")
            .arg("--homedir")
            .arg(&home)
            .arg("--remove-socketdir")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// Processes of this machine with the path in their arguments.
#[must_use]
pub fn processes_naming(dir: &Path) -> Vec<Pid> {
    let needle = dir.as_os_str().as_encoded_bytes();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let arguments = fs::read(entry.path().join("cmdline")).ok()?;
            let names = arguments
                .windows(needle.len())
                .any(|window| window == needle);
            (names && pid != std::process::id().cast_signed()).then(|| Pid::from_raw(pid))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
        drop(dir);
        assert!(!path.exists());
    }

    #[test]
    fn processes_that_name_it_end_with_it() {
        let dir = PrivateDir::new().unwrap();
        let mut child = Command::new("tail")
            .arg("-f")
            .arg(dir.path().join(LOCK))
            .spawn()
            .unwrap();
        // Until exec has replaced the arguments.
        let named = (0..1_000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            !processes_naming(dir.path()).is_empty()
        });
        assert!(named, "tail names the directory");
        drop(dir);
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_sweep_takes_what_is_abandoned_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let held = PrivateDir::within(parent.path()).unwrap();
        let left = parent.path().join("keymark-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let foreign = parent.path().join("other");
        fs::create_dir(&foreign).unwrap();
        assert_eq!(sweep_within(parent.path()), 1);
        assert!(held.path().exists() && foreign.exists() && !left.exists());
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
}
