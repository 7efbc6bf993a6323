//! Workers that are processes: keymark started once more, which opens a key by the errand of its store.

use std::time::Duration;

use keymark_bench::worker::{self, Line, Met, Order, Word, WorkerProcess};
use keymark_bench::workload::KeyHandle;
use keymark_bench::{During as _, Error};

use crate::access::{Access, Errand, KeyUse};
use crate::places::keymark_process::{Awaited, Ending, KeymarkProcess, accept};
use crate::places::program;
use crate::software;
use crate::test_key::TestKey;
use crate::user::{Notice, Unattended};

/// keymark's subcommand that is a worker. Nobody but keymark calls it.
pub const SUBCOMMAND: &str = "worker";

/// The line to a worker.
struct KeyLine {
    process: KeymarkProcess,
    met: Met,
}

impl Line for KeyLine {
    fn begin(&mut self) -> Result<Met, Error> {
        Ok(std::mem::replace(&mut self.met, Met::Before))
    }

    fn tell(&mut self, order: &Order) -> Result<(), Error> {
        self.process.send(order)
    }

    fn hear(&mut self, _: Option<Duration>) -> Result<Word, Error> {
        // As long as a calculation takes.
        let waits = (&Unattended as &dyn Notice, Ending::Finishes);
        self.process.receive(Awaited::Work, None, waits)
    }
}

/// Starts a process that opens the key for itself and does operations with it.
pub fn start(access: &Access, used: KeyUse) -> Result<WorkerProcess, Error> {
    match (&access.errand, &access.module) {
        (Some(errand), _) => start_with(errand, used),
        (None, Some(module)) => module.worker(used),
        (None, None) => {
            let reason = "its device talks to one program at a time";
            Err(Error::call("opening a key in another process", reason, ""))
        }
    }
}

/// What it does with which key goes through a socket, where neither other users nor a
/// listing of processes see it.
fn start_with(errand: &Errand, used: KeyUse) -> Result<WorkerProcess, Error> {
    let failed = |error| Error::call("starting keymark as a worker", error, "");
    let mut command = program::command(&std::env::current_exe().map_err(failed)?);
    // As for keymark's own threads, which it is compared with. No more is passed on, as a PIN may be in it.
    for name in program::SETTINGS {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.arg(SUBCOMMAND);
    let mut process = KeymarkProcess::start(command, "the worker process", None)?;
    process.send(&(errand, used))?;
    let met = Met::Anew;
    Ok(WorkerProcess::new(KeyLine { process, met }, 1))
}

/// Is such a worker, until keymark is gone.
pub fn serve() -> Result<(), Error> {
    let accepted = accept().during("running as a worker")?;
    let mut socket = &accepted.socket;
    let (errand, used): (Errand, KeyUse) = worker::read(&mut socket)?;
    worker::serve(&accepted.socket, &accepted.socket, open(&errand, used))
}

/// Opens the key in this process.
pub fn open(errand: &Errand, used: KeyUse) -> Result<Box<dyn KeyHandle>, Error> {
    match errand {
        Errand::Software(sealed) => {
            let key = TestKey::unsealed(sealed)?;
            software::open(&key, used.capability.operation, used.library, used.scheme)
        }
        #[cfg(feature = "tpm")]
        Errand::Tpm(way, saved) => crate::tpm::open(*way, used.capability, saved.clone()),
    }
}
