//! One worker's `openssl pkeyutl` processes, and separate measurements of what is no private-key operation in a process's time: the
//! program's start, loading the key, and the operation by itself in keymark's own process.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::runner::measure_alone;
use keymark_bench::workload::Workload;
use keymark_bench::{Error, Part};

use super::challenge::Task;
use super::key::{ADVICE, KeyLocator, OpenSslKey};
use crate::programs::OperationProcess;
use crate::references::{self, ReferencedProcess, References};

/// Returns the handle of a worker with a key, whose output is that file.
pub(super) fn handle(
    place: &Arc<OpenSslKey>,
    task: Task,
    output: PathBuf,
    references: Option<References>,
) -> ReferencedProcess {
    let (place, of) = (Arc::clone(place), Arc::clone(place));
    let (call, arguments) = task.words();
    let command = move |input: &Path, output: &Path| {
        place.check_pin()?;
        let mut command = place.command(KeyLocator::Operate)?;
        command.args(&arguments).arg(input).arg("-out");
        command.arg(output).stdout(Stdio::null());
        Ok(command)
    };
    ReferencedProcess {
        process: OperationProcess::new(call, output),
        references,
        command: Box::new(command),
        failed: Box::new(move |status, said| of.failed(call, status, said, ADVICE)),
    }
}

/// Returns the references of one worker that works alone: the program's start, loading the key, and the operation without
/// the program, where that can be had.
pub(super) fn references(place: Arc<OpenSslKey>, mut alone: Option<Workload>) -> References {
    References::new(move |clock| {
        place.check_pin()?;
        let timed = |errand: KeyLocator| -> Result<Duration, Error> {
            let mut command = place.command(errand)?;
            let (took, done) = references::timed(clock, &mut command, errand.call())?;
            place.succeeded(errand.call(), &done)?;
            Ok(took)
        };
        let start = timed(KeyLocator::Nothing)?;
        let key_load = timed(KeyLocator::LoadKey)?.saturating_sub(start);
        let mut parts = vec![(Part::ProgramStart, start), (Part::KeyLoad, key_load)];
        if let Some(alone) = &mut alone {
            let took = measure_alone(clock, alone, Duration::ZERO, 1)?;
            parts.extend(took.first().map(|took| (Part::Operation, *took)));
        }
        Ok(parts)
    })
}
