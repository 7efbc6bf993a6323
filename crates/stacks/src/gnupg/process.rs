//! The stack `gnupg`: one `gpg` process an operation.
//!
//! gpg runs in a minimal environment and by its whole path: given a bare name and an environment of its own, Rust's
//! standard library forks and executes instead of `posix_spawn`, which costs several per cent of a short gpg
//! process.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::case::{Case, StackName};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::parts::PartSums;
use keymark_bench::sample::CpuTime;
use keymark_bench::workload::{
    Calculates, Crew, Input, KeyHandle, Performed, Stack, Verifiable, Verifier, Workload,
};
use keymark_stores::store::{KeyStore, unsupported};
use keymark_stores::user::Pin;
use wait4::Wait4;

use super::homes::GnupgHomes;
use super::key_home::KeyHome;
use super::messages::messages;
use super::meter::Meter;
use super::signatures::SignedMessages;
use super::status;

/// The stack.
#[derive(Debug)]
pub struct GnupgStack {
    homes: Arc<GnupgHomes>,
    store: Arc<dyn KeyStore>,
}

/// What gpg is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Sign,
    Decrypt,
}

impl Task {
    fn of(case: &Case) -> Result<Self, Error> {
        match case.operation {
            Operation::Sign => Ok(Self::Sign),
            Operation::Decrypt => Ok(Self::Decrypt),
            Operation::Authenticate | Operation::Decapsulate | Operation::Handshake => {
                Err(unsupported("gpg", case.capability()))
            }
        }
    }

    /// What follows gpg's common options; the file comes last.
    fn arguments(self, signer: &str) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Sign => &["--local-user", signer, "--output", "-", "--sign"],
            Self::Decrypt => &["--decrypt"],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// The call as users know it.
    const fn call(self) -> &'static str {
        match self {
            Self::Sign => "gpg --sign",
            Self::Decrypt => "gpg --decrypt",
        }
    }

    /// The status line without which it was not done.
    const fn sign_of_success(self) -> &'static str {
        match self {
            Self::Sign => "SIG_CREATED",
            Self::Decrypt => "DECRYPTION_OKAY",
        }
    }
}

impl GnupgStack {
    /// Runs gpg in homes with keys of the store.
    #[must_use]
    pub fn new(homes: Arc<GnupgHomes>, store: Arc<dyn KeyStore>) -> Self {
        Self { homes, store }
    }
}

impl Stack for GnupgStack {
    fn name(&self) -> StackName {
        StackName::GNUPG
    }

    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        let task = Task::of(case)?;
        let home = self.homes.home_of(case, self.store.as_ref())?;
        home.check_workers(case)?;
        let messages = messages(&home, case.operation, case.input_bytes)?;
        let key = home.key(case.operation)?;
        let handle = |worker| -> Box<dyn KeyHandle> {
            let scratch = home
                .home
                .path()
                .join(format!("out-{}-{worker}", case.operation));
            Box::new(GpgProcess {
                arguments: task.arguments(&key.exactly()),
                task,
                operation: case.operation,
                status: scratch.with_extension("status"),
                output: scratch,
                meter: home.meter(case),
                cpu: None,
                home: Arc::clone(&home),
                command: None,
                pin: None,
            })
        };
        let inputs = messages.iter().map(|message| Input {
            bytes: message.file.as_os_str().as_encoded_bytes().to_vec(),
        });
        let inputs = inputs.collect();
        // A message grows by packets and, if it does not compress, by little else.
        let output_capacity = case.input_bytes as usize + case.input_bytes as usize / 64 + 8192;
        let handles = (0..case.concurrency()).map(handle).collect();
        let texts = messages.into_iter().map(|message| message.plaintext);
        let texts = texts.collect();
        let verifier: Arc<dyn Verifier> = match task {
            Task::Sign => Arc::new(SignedMessages::new(Arc::clone(&home), key, texts)?),
            Task::Decrypt => Arc::new(Plaintexts(texts)),
        };
        Ok(Workload {
            crew: Crew::Threads(handles),
            inputs,
            verifier,
            output_capacity,
        })
    }
}

/// One worker's gpg processes.
struct GpgProcess {
    home: Arc<KeyHome>,
    task: Task,
    operation: Operation,
    arguments: Vec<String>,
    output: PathBuf,
    status: PathBuf,
    command: Option<Command>,
    /// What the card wants to know for this operation.
    pin: Option<Pin>,
    meter: Option<Arc<Meter>>,
    /// Processor time of the last process.
    cpu: Option<CpuTime>,
}

impl GpgProcess {
    fn file(&self, path: &Path) -> Result<File, Error> {
        File::create(path)
            .map_err(|error| Error::call(format!("creating {}", path.display()), error, ""))
    }
}

impl KeyHandle for GpgProcess {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        use std::os::unix::ffi::OsStrExt;
        let mut command = self.home.home.gpg();
        command
            .stdout(self.file(&self.output)?)
            .stderr(self.file(&self.status)?);
        // Ctrl-C is keymark's to handle: the operation under way is finished.
        command.process_group(0);
        self.pin = self.home.pin_for(self.operation)?;
        if self.pin.is_some() {
            command.args(["--pinentry-mode", "loopback", "--passphrase-fd", "0"]);
            command.stdin(Stdio::piped());
        }
        command
            .args(&self.arguments)
            .arg(std::ffi::OsStr::from_bytes(&input.bytes));
        self.command = Some(command);
        self.home.ask_for_touch(self.operation);
        if let Some(meter) = &self.meter {
            meter.begin();
        }
        Ok(())
    }

    fn calculates(&self) -> Calculates {
        Calculates::Others
    }

    fn parts(&mut self, latency: Duration, into: &mut PartSums) {
        if let Some(meter) = &self.meter {
            meter.end(latency, self.cpu, into);
        }
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        // The command stays where it is: what it holds is freed outside the timed region.
        let Some(command) = &mut self.command else {
            return Err(Error::call("gpg", "it was not armed", ""));
        };
        let mut child = command
            .spawn()
            .map_err(|error| Error::call(self.task.call(), error, ""))?;
        if let (Some(pin), Some(mut input)) = (&self.pin, child.stdin.take()) {
            // Who does not read it says why below.
            let _ = input.write_all(pin.expose().as_bytes());
        }
        let used = child
            .wait4()
            .map_err(|error| Error::call("wait4", error, ""))?;
        if !used.status.success() {
            self.home.pin_was_refused(self.pin.as_ref());
            let said = fs::read_to_string(&self.status).unwrap_or_default();
            let reason = format!("{}: {}", used.status, status::complaint(&said));
            let advice = self.home.home.key_advice();
            return Err(Error::call(self.task.call(), reason, advice));
        }
        self.cpu = Some(CpuTime::new(used.rusage.utime, used.rusage.stime));
        Ok(Performed {
            length: 0,
            cpu: self.cpu,
        })
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        let failed = |error: std::io::Error| {
            Error::call(format!("reading {}", self.output.display()), error, "")
        };
        let said = fs::read_to_string(&self.status).map_err(failed)?;
        let expected = self.task.sign_of_success();
        if !status::has(&said, expected) {
            return Err(Error::call(
                self.task.call(),
                format!("no {expected}: {}", status::complaint(&said)),
                "",
            ));
        }
        let bytes = fs::read(&self.output).map_err(failed)?;
        let Some(room) = output.get_mut(..bytes.len()) else {
            return Err(Error::call(
                self.task.call(),
                format!("{} bytes of output are too many", bytes.len()),
                "",
            ));
        };
        room.copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

/// Decrypted text is compared with the text that was encrypted.
struct Plaintexts(Vec<Vec<u8>>);

impl Verifier for Plaintexts {
    fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        let check = |result: &Verifiable<'_>| {
            if self.0[result.input] == result.output {
                Ok(())
            } else {
                Err("the decrypted text is not the encrypted text".to_owned())
            }
        };
        results.iter().map(check).collect()
    }
}
