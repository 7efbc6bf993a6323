//! Workers of `raw` that are processes: keymark started once more, which opens the key by its access.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};

use keymark_bench::case::Parameters;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::worker::{self, WorkerProcess};
use keymark_stores::access::Access;
#[cfg(feature = "pkcs11")]
use keymark_stores::pkcs11::ModuleErrand;
use keymark_stores::software;
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

/// The first message to a worker: what it does with which key. It goes through a pipe, where neither other
/// users nor a listing of processes see it.
#[derive(Serialize, Deserialize)]
struct Errand {
    operation: Operation,
    parameters: Parameters,
    key: Way,
}

/// How the worker gets at the key.
#[derive(Serialize, Deserialize)]
enum Way {
    /// It is the key itself.
    File(SealedKey),
    /// A token behind a PKCS#11 module, which the worker loads for itself.
    #[cfg(feature = "pkcs11")]
    Module(ModuleErrand),
    /// A TPM's, which the worker connects to for itself.
    #[cfg(feature = "tpm")]
    Tpm(TpmErrand),
}

/// A process that is ended and waited for when dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // One that has ended cannot be killed; all there is to do then is to wait for it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a worker for a key.
pub(super) fn start(
    key: &Access,
    capability: Capability,
    parameters: Parameters,
) -> Result<WorkerProcess, Error> {
    let failed = |error| Error::call("starting keymark as a worker", error, "");
    let mut command = program::command(&std::env::current_exe().map_err(failed)?);
    for name in SETTINGS {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let way = match key {
        Access::File(key) => Way::File(key.sealed()?),
        #[cfg(feature = "openpgp-card")]
        Access::Card(_) => {
            let reason = "a card talks to one program at a time";
            return Err(Error::call("opening a key in another process", reason, ""));
        }
        #[cfg(feature = "pkcs11")]
        Access::Module(access) => {
            command.env_clear().envs(access.environment());
            Way::Module(access.errand(capability, parameters.scheme())?)
        }
        #[cfg(feature = "tpm")]
        Access::Tpm(access) => Way::Tpm(access.errand(capability)),
    };
    let mut process = command
        .arg(SUBCOMMAND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Ctrl-C is keymark's to hear; it ends its workers when their block is over.
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let (Some(mut to), Some(from)) = (process.stdin.take(), process.stdout.take()) else {
        return Err(Error::call("starting keymark as a worker", "no pipes", ""));
    };
    let process = Ended(process);
    let errand = Errand {
        operation: capability.operation,
        parameters,
        key: way,
    };
    worker::write(&mut to, &errand)?;
    Ok(WorkerProcess::new(to, from, process))
}

/// Is such a worker, until keymark is gone.
///
/// # Errors
/// When something other than keymark talks to it.
pub fn serve(mut from: impl Read + Send, to: impl Write + Send) -> Result<(), Error> {
    let Errand {
        operation,
        parameters,
        key,
    } = worker::read(&mut from)?;
    let handle = match key {
        Way::File(key) => {
            let key = TestKey::unsealed(&key);
            key.and_then(|key| match parameters.scheme() {
                None => software::open(&key, operation, parameters.library()),
                Some(scheme) => software::open_by(&key, operation, scheme),
            })
        }
        #[cfg(feature = "pkcs11")]
        Way::Module(errand) => errand.open(),
        #[cfg(feature = "tpm")]
        Way::Tpm(errand) => errand.open(),
    };
    worker::serve(from, to, handle)
}
