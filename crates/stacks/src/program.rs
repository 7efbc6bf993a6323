//! Installed programs: where they are, and how they are run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The whole path, in `directory` or along `PATH`: with a bare name and an environment of its own, the
/// standard library would fork and exec, which costs 6 % of a short gpg process more than `posix_spawn`.
pub(crate) fn locate(directory: Option<&Path>, program: &str) -> Option<PathBuf> {
    let directories = match directory {
        Some(directory) => directory.as_os_str().to_owned(),
        None => std::env::var_os("PATH").unwrap_or_default(),
    };
    std::env::split_paths(&directories)
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
}

/// In the language this code reads, and with no more of the user's environment than it needs: what is
/// measured does not hang on the rest, on an agent or a configuration of the user's.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").stdin(Stdio::null());
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}
