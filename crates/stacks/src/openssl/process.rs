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
use keymark_bench::workload::{Calculates, Input, KeyHandle, Performed};
use wait4::Wait4;

use super::challenge::Task;
use super::place::{Errand, Place};
use super::references::References;
use super::words;

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
}

impl KeyHandle for PkeyutlProcess {
    fn calculates(&self) -> Calculates {
        Calculates::Others
    }

    fn enter(&mut self) -> Result<(), Error> {
        match &mut self.references {
            Some(references) => references.before_block(),
            None => Ok(()),
        }
    }

    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        self.place.check_pin()?;
        // What an operation before this one has written counts for nothing.
        let _ = fs::remove_file(&self.output);
        let said = File::create(&self.said)
            .map_err(|error| Error::call(format!("creating {}", self.said.display()), error, ""))?;
        let mut command = self.place.command(Errand::Operate)?;
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
            let said = fs::read(&self.said).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            return Err(self
                .place
                .failed(self.task.call(), used.status, &said, words::ADVICE));
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
