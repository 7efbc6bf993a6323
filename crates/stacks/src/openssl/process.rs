//! One worker's `openssl pkeyutl` processes.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::error::Error;
use keymark_bench::parts::PartSums;
use keymark_bench::sample::CpuTime;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use wait4::Wait4;

use super::challenge::Task;
use super::place::{Errand, Place};
use super::references::References;

/// What to do about a process that failed.
pub(super) const ADVICE: &str = "SoftHSM2 writes to its token at each login, and processes that start at the same moment may \
                                 not find it: with it, measure one worker";

/// The handle.
pub(super) struct PkeyutlProcess {
    place: Arc<Place>,
    task: Task,
    output: PathBuf,
    said: PathBuf,
    command: Option<Command>,
    references: Option<References>,
}

impl PkeyutlProcess {
    /// Of the worker of that number, whose files have that name.
    pub(super) fn new(
        place: Arc<Place>,
        task: Task,
        name: &str,
        references: Option<References>,
    ) -> Self {
        let output = place.file(&format!("{name}.out"));
        Self {
            said: output.with_extension("said"),
            output,
            place,
            task,
            command: None,
            references,
        }
    }

    fn failed(&self, status: impl std::fmt::Display) -> Error {
        let said = fs::read(&self.said).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        if refuses_pin(&said) {
            self.place.pin_was_refused();
        }
        let reason = format!("{status}: {}", complaint(&said));
        Error::call(self.task.call(), reason, ADVICE)
    }
}

/// Whether the token has judged the PIN: how libp11 and the providers' `CKR_PIN_…` say it.
fn refuses_pin(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    [
        "login failed",
        "login to token failed",
        "pin incorrect",
        "ckr_pin",
        "pin locked",
    ]
    .iter()
    .any(|words| said.contains(words))
}

/// The first line that tells a reason; the engine announces itself before.
fn complaint(said: &str) -> &str {
    let mut lines = said.lines().map(str::trim);
    let tells = |line: &&str| !line.is_empty() && !line.starts_with("Engine \"");
    lines.find(tells).unwrap_or("no reason given")
}

impl KeyHandle for PkeyutlProcess {
    fn enter(&mut self) -> Result<(), Error> {
        match &mut self.references {
            Some(references) => references.measure(),
            None => Ok(()),
        }
    }

    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        self.place.check_pin()?;
        // What an operation before this one has written counts for nothing.
        let _ = fs::remove_file(&self.output);
        let said = File::create(&self.said)
            .map_err(|error| Error::call(format!("creating {}", self.said.display()), error, ""))?;
        let mut command = self.place.command(Errand::Operate);
        command
            .args(self.task.arguments())
            .arg(OsStr::from_bytes(&input.bytes))
            .arg("-out")
            .arg(&self.output)
            .stdout(Stdio::null())
            .stderr(said)
            // Ctrl-C is keymark's to handle: the operation under way is finished.
            .process_group(0);
        self.command = Some(command);
        Ok(())
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        // The command stays where it is: what it holds is freed outside the timed region.
        let Some(command) = &mut self.command else {
            return Err(Error::call(self.task.call(), "it was not armed", ""));
        };
        let child = command
            .spawn()
            .map_err(|error| Error::call(self.task.call(), error, ""))?;
        let used = child
            .wait4()
            .map_err(|error| Error::call("wait4", error, ""))?;
        if !used.status.success() {
            return Err(self.failed(used.status));
        }
        Ok(Performed {
            length: 0,
            cpu: Some(CpuTime::new(used.rusage.utime, used.rusage.stime)),
        })
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        let result = fs::read(&self.output).map_err(|error| {
            Error::call(format!("reading {}", self.output.display()), error, "")
        })?;
        let Some(room) = output.get_mut(..result.len()) else {
            let reason = format!("{} bytes of output are too many", result.len());
            return Err(Error::call(self.task.call(), reason, ""));
        };
        room.copy_from_slice(&result);
        Ok(result.len())
    }

    fn parts(&mut self, latency: Duration, into: &mut PartSums) {
        if let Some(references) = &self.references {
            references.divide(latency, into);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What libp11 0.4.12 says.
    const WRONG_PIN: &str =
        "Engine \"pkcs11\" set.\nLogin failed\nLogin to token failed, returning NULL...\n";

    #[test]
    fn the_reason_stands_behind_what_the_engine_announces() {
        assert_eq!(complaint(WRONG_PIN), "Login failed");
        assert_eq!(complaint("Engine \"pkcs11\" set.\n"), "no reason given");
        assert!(refuses_pin(WRONG_PIN));
        assert!(!refuses_pin(
            "The private key was not found at: pkcs11:token=a\n"
        ));
    }
}
