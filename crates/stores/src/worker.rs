//! Workers that are processes: keymark started once more, which opens a key by its locator.

use std::time::Duration;

use keymark_bench::worker::{self, Channel, Peer, Reply, Request, WorkerProcess};
use keymark_bench::workload::KeyHandle;
use keymark_bench::{During as _, Error};

use crate::access::{Access, KeyLocator, KeyUse};
use crate::places::keymark_process::{Awaited, EndPolicy, KeymarkProcess, accept};
use crate::places::program;
use crate::software;
use crate::test_key::TestKey;
use crate::user::{Notice, Unattended};

/// keymark's subcommand that is a worker. Nobody but keymark calls it.
pub const SUBCOMMAND: &str = "worker";

/// The connection to a worker.
struct KeyChannel {
    process: KeymarkProcess,
    peer: Peer,
}

impl Channel for KeyChannel {
    fn begin(&mut self) -> Result<Peer, Error> {
        Ok(std::mem::replace(&mut self.peer, Peer::Known))
    }

    fn send(&mut self, request: &Request) -> Result<(), Error> {
        self.process.send(request)
    }

    fn recv(&mut self, _: Option<Duration>) -> Result<Reply, Error> {
        // As long as a calculation takes.
        let waits = (&Unattended as &dyn Notice, EndPolicy::Finishes);
        self.process.receive(Awaited::Work, None, waits)
    }
}

/// Starts a process that opens the key for itself and does operations with it.
pub fn start(access: &Access, used: KeyUse) -> Result<WorkerProcess, Error> {
    match access {
        Access::KeyFile(key) => start_with(&KeyLocator::Software(key.sealed()?), used),
        Access::Locator(key) => start_with(key, used),
        Access::Module(module) => module.worker(used),
        Access::Card(..) => {
            let reason = "its device talks to one program at a time";
            Err(Error::call("opening a key in another process", reason, ""))
        }
    }
}

/// Starts a worker. Its key and work go through a socket, where neither other users nor a
/// listing of processes see it.
fn start_with(key: &KeyLocator, used: KeyUse) -> Result<WorkerProcess, Error> {
    let keymark = std::env::current_exe().during("starting keymark as a worker")?;
    let mut command = program::command(&keymark);
    // As for keymark's own threads, which it is compared with. No more is passed on, as a PIN may be in it.
    for name in program::SETTINGS {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.arg(SUBCOMMAND);
    let mut process = KeymarkProcess::start(command, "the worker process", None)?;
    process.send(&(key, used))?;
    let peer = Peer::New;
    Ok(WorkerProcess::new(KeyChannel { process, peer }, 1))
}

/// Is such a worker, until keymark is gone.
pub fn serve() -> Result<(), Error> {
    let (socket, _) = accept().during("running as a worker")?;
    let (key, used): (KeyLocator, KeyUse) = worker::read(&mut &socket)?;
    worker::serve(&socket, &socket, open(&key, used))
}

/// Opens the key in this process.
pub fn open(key: &KeyLocator, used: KeyUse) -> Result<Box<dyn KeyHandle>, Error> {
    match key {
        KeyLocator::Software(sealed) => {
            let key = TestKey::unsealed(sealed)?;
            software::open(&key, used.capability.operation, used.library, used.scheme)
        }
        #[cfg(feature = "tpm")]
        KeyLocator::Tpm(way, saved) => crate::tpm::open(*way, used.capability, saved.clone()),
    }
}
