//! Workers of `raw` that are processes: keymark started once more, which opens the key by its access.

use std::time::Duration;

use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::worker::{self, Line, Met, Order, Word, WorkerProcess};
use keymark_stores::access::Access;
use keymark_stores::places::keymark_process::{Awaited, KeymarkProcess, Patron, accept};
use keymark_stores::scheme::Scheme;
use keymark_stores::software;
use keymark_stores::software::library::Library;
use keymark_stores::test_key::{SealedKey, TestKey};
#[cfg(feature = "tpm")]
use keymark_stores::tpm::TpmErrand;
use serde::{Deserialize, Serialize};

use crate::program;

/// keymark's subcommand that is a worker. Nobody but keymark calls it.
pub const SUBCOMMAND: &str = "worker";

/// What sets how fast the libraries are: for a worker as for keymark's own threads, which it is compared with.
/// No more of the environment is passed on, as a PIN may be in it.
const SETTINGS: [&str; 7] = [
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
    "LIBGCRYPT_FORCE_FIPS_MODE",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_armcap",
    "OPENSSL_ia32cap",
];

/// The first message to a worker: what it does with which key. It goes through a socket, where neither other
/// users nor a listing of processes see it.
#[derive(Serialize, Deserialize)]
struct Errand {
    operation: Operation,
    library: Option<Library>,
    scheme: Option<Scheme>,
    key: Way,
}

/// How the worker gets at the key.
#[derive(Serialize, Deserialize)]
enum Way {
    /// It is the key itself.
    File(SealedKey),
    /// A TPM's, which the worker connects to for itself.
    #[cfg(feature = "tpm")]
    Tpm(TpmErrand),
}

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
        self.process.receive(Awaited::Work, None, &Patient)
    }
}

/// Waits as long as a calculation takes.
struct Patient;

impl Patron for Patient {
    fn tell(&self, _: &str) {}

    fn has_ended(&self) -> bool {
        false
    }
}

/// Starts a worker for a key.
pub(super) fn start(
    key: &Access,
    capability: Capability,
    (library, scheme): (Option<Library>, Option<Scheme>),
) -> Result<WorkerProcess, Error> {
    let failed = |error| Error::call("starting keymark as a worker", error, "");
    let way = match key {
        Access::File(key) => Way::File(key.sealed()?),
        #[cfg(feature = "openpgp-card")]
        Access::Card(_) => {
            let reason = "a card talks to one program at a time";
            return Err(Error::call("opening a key in another process", reason, ""));
        }
        #[cfg(feature = "pkcs11")]
        Access::Module(access) => return access.worker(capability, scheme),
        #[cfg(feature = "tpm")]
        Access::Tpm(access) => Way::Tpm(access.errand(capability)),
    };
    let mut command = program::command(&std::env::current_exe().map_err(failed)?);
    for name in SETTINGS {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.arg(SUBCOMMAND);
    let mut process = KeymarkProcess::start(command, "the worker process", None)?;
    process.send(&Errand {
        operation: capability.operation,
        library,
        scheme,
        key: way,
    })?;
    let met = Met::Anew;
    Ok(WorkerProcess::new(KeyLine { process, met }, 1))
}

/// Is such a worker, until keymark is gone.
pub fn serve() -> Result<(), Error> {
    let accepted = accept().map_err(|error| Error::call("being a worker", error, ""))?;
    let mut socket = &accepted.socket;
    let Errand {
        operation,
        library,
        scheme,
        key,
    } = worker::read(&mut socket)?;
    let handle = match key {
        Way::File(key) => {
            let key = TestKey::unsealed(&key);
            key.and_then(|key| match scheme {
                None => software::open(&key, operation, library),
                Some(scheme) => software::open_by(&key, operation, scheme),
            })
        }
        #[cfg(feature = "tpm")]
        Way::Tpm(errand) => errand.open(),
    };
    worker::serve(&accepted.socket, &accepted.socket, handle)
}
