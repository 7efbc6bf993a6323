//! Programs that replace a device: started by a script in a private directory, gone with it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::places::private_dir::PrivateDir;
use crate::places::program;
use crate::places::watchdog::Watchdog;
use keymark_bench::Error;

/// Model name of libtpms' TPMs, of which swtpm is made. IBM, its maker, has also made some of silicon.
pub(crate) const LIBTPMS: &str = "SW   TPM";
/// Limit of the start, which takes 0.1 s on an idle machine and exceeded 10 s on a busy one.
const START: Duration = Duration::from_secs(60);
const SCRIPT: &str = "start";
const LOG: &str = "log";

/// The running programs: they end with the value, or with keymark if that is killed.
#[derive(Debug)]
pub(crate) struct Emulator {
    _watchdog: Watchdog,
    log: PathBuf,
}

impl Emulator {
    /// Runs the script, which is told the directory and the arguments, and writes a line once the programs
    /// that it has started can be used. What it ends is its group, with a watchdog in it that does so after keymark.
    pub(crate) fn start(
        place: &PrivateDir,
        script: &str,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::call("starting swtpm", error, "");
        let (file, log) = (place.path().join(SCRIPT), place.path().join(LOG));
        fs::write(&file, script).map_err(failed)?;
        let watchdog = Watchdog::start(place.path())?;
        let mut command = program::command(Path::new("/bin/sh"));
        command
            .args([file.as_path(), place.path()])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).map_err(failed)?);
        let mut starter = watchdog.spawn(&mut command).map_err(failed)?;
        let emulator = Self {
            _watchdog: watchdog,
            log,
        };
        let told = starter.stdout.take();
        let line = told.ok_or_else(|| io::ErrorKind::BrokenPipe.into());
        let line = line.and_then(|told| program::first_line(told, START));
        line.map_err(|error| emulator.explained(failed(error)))?;
        // It has nothing left to do.
        program::ended_within(&mut starter, START)
            .ok_or_else(|| failed(io::ErrorKind::TimedOut.into()))?;
        Ok(emulator)
    }

    /// The error with the programs' last complaint.
    pub(crate) fn explained(&self, error: Error) -> Error {
        let log = program::complaints(&self.log);
        match (log.lines().rfind(|line| !line.trim().is_empty()), error) {
            (
                Some(complaint),
                Error::Call {
                    call,
                    reason,
                    advice,
                },
            ) => Error::call(call, format!("{reason} ({complaint})"), advice),
            (_, error) => error,
        }
    }
}

/// A path that a shell, a D-Bus address (D-Bus specification, "Server Addresses") and swtpm's options all take
/// as it is.
pub(crate) fn plain(path: &Path) -> Result<&str, Error> {
    let is_plain =
        |octet: u8| octet.is_ascii_alphanumeric() || matches!(octet, b'/' | b'.' | b'-' | b'_');
    let text = path.to_str().filter(|text| text.bytes().all(is_plain));
    text.ok_or_else(|| {
        Error::call(
            format!("starting swtpm in {path:?}"),
            "other programs need its path in a line of text, which cannot contain this name",
            "set TMPDIR to a directory of letters, digits, '.', '-' and '_'",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_programs_cannot_be_told_is_refused_with_the_reason() {
        assert_eq!(plain(Path::new("/tmp/a-b_c.D1")).unwrap(), "/tmp/a-b_c.D1");
        for odd in ["/tmp/a b", "/tmp/a,b", "/tmp/$(x)", "/tmp/ä"] {
            let error = plain(Path::new(odd)).unwrap_err().to_string();
            assert!(error.contains("set TMPDIR"), "{error}");
        }
    }

    #[test]
    fn who_does_not_start_says_why() {
        let place = PrivateDir::new().unwrap();
        let error = Emulator::start(&place, "echo no such thing >&2", []).unwrap_err();
        assert!(error.to_string().contains("no such thing"), "{error}");
    }
}
