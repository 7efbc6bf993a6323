//! One worker's `openssl pkeyutl` processes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::error::Error;
use keymark_bench::parts::PartSums;
use keymark_bench::workload::{Calculates, Input, KeyHandle, Performed};

use super::challenge::Task;
use super::key::{Errand, OpenSslKey};
use super::references::References;
use super::words;
use crate::programs::OperationProcess;

/// The handle.
pub(super) struct PkeyutlProcess {
    place: Arc<OpenSslKey>,
    task: Task,
    process: OperationProcess,
    references: Option<References>,
}

impl PkeyutlProcess {
    /// Of the worker of that number, whose files have that name.
    pub(super) fn new(
        place: Arc<OpenSslKey>,
        task: Task,
        name: &str,
        references: Option<References>,
    ) -> Self {
        Self {
            process: OperationProcess::new(task.call(), place.file(&format!("{name}.out"))),
            place,
            task,
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
        let _ = fs::remove_file(&self.process.output);
        let mut command = self.place.command(Errand::Operate)?;
        command
            .args(self.task.arguments())
            .arg(OsStr::from_bytes(&input.bytes))
            .arg("-out")
            .arg(&self.process.output)
            .stdout(Stdio::null());
        self.process.arm(command)
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        let (place, call) = (&self.place, self.task.call());
        let failed = |status, said: &str| place.failed(call, status, said, words::ADVICE);
        Ok(Performed {
            length: 0,
            cpu: Some(self.process.run(None, failed)?),
        })
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        self.process.collect(output)
    }

    fn parts(&mut self, latency: Duration, into: &mut PartSums) {
        if let Some(references) = &self.references {
            references.divide(latency, into);
        }
    }
}
