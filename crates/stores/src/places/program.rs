//! Installed programs: where they are, and how they are run.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The whole path, in `directory` or along `PATH`: with a bare name and an environment of its own, the
/// standard library would fork and exec, which costs 6 % of a short gpg process more than `posix_spawn`.
pub fn locate(directory: Option<&Path>, program: &str) -> Option<PathBuf> {
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
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").stdin(Stdio::null());
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Longer than any line that a program says to tell that it has started.
const LONGEST_LINE: usize = 64;

/// Whether something can be read, or the end was reached, within that time.
pub(super) fn is_readable(from: &impl AsFd, limit: Duration) -> io::Result<bool> {
    let timeout = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
    loop {
        match poll(&mut [PollFd::new(from.as_fd(), PollFlags::POLLIN)], timeout) {
            Err(nix::errno::Errno::EINTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

/// What a program says first, without its line feed. Each part of it is waited for that long.
pub fn first_line(mut from: impl Read + AsFd, limit: Duration) -> io::Result<String> {
    let mut line = Vec::new();
    while line.len() < LONGEST_LINE {
        if !is_readable(&from, limit)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut octet = [0];
        match from.read(&mut octet)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if octet == *b"\n" => return Ok(String::from_utf8_lossy(&line).into_owned()),
            _ => line.extend(octet),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidData,
        "a line is too long",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(script: &str) -> io::Result<String> {
        let mut child = command(Path::new("/bin/sh"))
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let line = first_line(child.stdout.take().unwrap(), Duration::from_millis(500));
        child.kill().unwrap();
        child.wait().unwrap();
        line
    }

    #[test]
    fn a_program_is_listened_to_until_its_line_its_end_or_the_limit() {
        assert_eq!(heard("echo 12; exec sleep 600").unwrap(), "12");
        let kind = |script| heard(script).unwrap_err().kind();
        assert_eq!(kind("printf 12"), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind("exec sleep 600"), io::ErrorKind::TimedOut);
        assert_eq!(kind("yes | tr -d '\\n'"), io::ErrorKind::InvalidData);
    }
}
