//! The stack `gpg`: one `gpg` process an operation.
//!
//! gpg runs in a minimal environment and by its whole path: given a bare name and an environment of its own, Rust's
//! standard library forks and executes instead of `posix_spawn`, which costs several per cent of a short gpg
//! process.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use keymark_bench::workload::{
    Calculates, Crew, Input, KeyHandle, Performed, Stack, Verifiable, Verifier, Workload,
};
use keymark_bench::{Case, During as _, Error, Operation};
use keymark_stores::store::{KeyStore, unsupported};
use keymark_stores::user::Pin;

use super::homes::GnupgHomes;
use super::key_home::{KeyHome, metered};
use super::signatures::SignedMessages;
use super::status;
use crate::programs::{OperationProcess, create, write_private};

/// The stack.
#[derive(Debug, derive_more::Constructor)]
pub struct GnupgStack {
    homes: Arc<GnupgHomes>,
    store: Arc<dyn KeyStore>,
}

/// Task of GnuPG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Sign,
    Decrypt,
}

impl Task {
    /// Returns the task of a case.
    pub(super) fn of(case: &Case, program: &str) -> Result<Self, Error> {
        Self::known(case.operation).ok_or_else(|| unsupported(program, case.capability()))
    }

    /// Returns the task of an operation: a key authenticates for ssh only.
    pub(super) const fn known(operation: Operation) -> Option<Self> {
        match operation {
            Operation::Sign => Some(Self::Sign),
            Operation::Decrypt => Some(Self::Decrypt),
            Operation::Authenticate | Operation::Decapsulate | Operation::Handshake => None,
        }
    }
}

impl Stack for GnupgStack {
    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        let task = Task::of(case, "gpg")?;
        let home = self.homes.home_of(case, self.store.as_ref())?;
        home.check_workers(case)?;
        let messages = messages(&home, case.operation, case.input_bytes)?;
        let key = home.key(case.operation)?;
        let (call, arguments, success) = match task {
            Task::Sign => {
                let words = ["--local-user", &key.exactly(), "--output", "-", "--sign"];
                ("gpg --sign", words.map(str::to_owned).into(), "SIG_CREATED")
            }
            Task::Decrypt => {
                let words = vec!["--decrypt".to_owned()];
                ("gpg --decrypt", words, "DECRYPTION_OKAY")
            }
        };
        let handle = |worker| -> Box<dyn KeyHandle> {
            let file = format!("out-{}-{worker}", case.operation);
            let process = GpgProcess {
                arguments: arguments.clone(),
                success,
                operation: case.operation,
                process: OperationProcess::new(call, home.home.path().join(file)),
                home: Arc::clone(&home),
                pin: None,
            };
            metered(Box::new(process), case, &home)
        };
        let inputs = messages.iter().map(Message::input).collect();
        // A message grows by packets and, if it does not compress, by little else.
        let output_capacity = case.input_bytes as usize + case.input_bytes as usize / 64 + 8192;
        let handles = (0..case.workers()).map(handle).collect();
        let verifier: Arc<dyn Verifier> = match task {
            Task::Sign => Arc::new(SignedMessages::new(Arc::clone(&home), key, messages)?),
            Task::Decrypt => Arc::new(move |result: &Verifiable<'_>| {
                messages[result.input].compare(result.output)
            }),
        };
        Ok(Workload {
            crew: Crew::Threads(handles),
            inputs,
            verifier,
            output_capacity,
        })
    }
}

/// Processes of gpg of one worker.
struct GpgProcess {
    home: Arc<KeyHome>,
    operation: Operation,
    /// Arguments after gpg's common options; the file comes last.
    arguments: Vec<String>,
    /// Keyword of the status line that reports success.
    success: &'static str,
    process: OperationProcess,
    /// PIN for this operation.
    pin: Option<Pin>,
}

impl KeyHandle for GpgProcess {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        let mut command = self.home.home.gpg();
        command.stdout(create(&self.process.output)?);
        self.pin = self.home.pin_for(self.operation)?;
        if self.pin.is_some() {
            command.args(["--pinentry-mode", "loopback", "--passphrase-fd", "0"]);
            command.stdin(Stdio::piped());
        }
        command
            .args(&self.arguments)
            .arg(OsStr::from_bytes(&input.bytes));
        self.process.arm(command)
    }

    fn calculates(&self) -> Calculates {
        Calculates::Others
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        let (pin, call) = (self.pin.as_ref(), self.process.call);
        let told = pin.map(|pin| pin.expose().as_bytes());
        self.process.run(told, |status, said| {
            self.home.pin_was_refused(pin);
            let reason = format!("{status}: {}", status::complaint(said));
            status::failed(call, reason, said, self.home.home.advice())
        })
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        let said = self.process.said();
        let (expected, call) = (self.success, self.process.call);
        if !status::has(&said, expected) {
            let reason = format!("no {expected}: {}", status::complaint(&said));
            return Err(Error::call(call, reason, ""));
        }
        self.process.collect(output)
    }
}

/// Messages a key is asked about in turn.
const MESSAGES: usize = 4;

/// A message and, for decryption, its encrypted form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Signed or decrypted text.
    pub plaintext: Vec<u8>,
    /// The file that gpg is given.
    pub file: PathBuf,
}

impl Message {
    /// The file's name, as the input of a workload.
    pub(crate) fn input(&self) -> Input {
        Input {
            bytes: self.file.as_os_str().as_encoded_bytes().to_vec(),
        }
    }

    /// Compares decrypted text with the text that was encrypted.
    pub(crate) fn compare(&self, decrypted: &[u8]) -> Result<(), String> {
        if self.plaintext == decrypted {
            Ok(())
        } else {
            Err("the decrypted text is not the encrypted text".to_owned())
        }
    }
}

/// Messages of `input_bytes` printable bytes, in files of the home; encrypted to its key if they are to
/// be decrypted.
pub fn messages(
    home: &KeyHome,
    operation: Operation,
    input_bytes: u32,
) -> Result<Vec<Message>, Error> {
    let size = (operation, input_bytes);
    messages_in(home.home.path(), size, |from, to| {
        let recipient = &*home.key(operation)?.exactly();
        let (to, from) = (to.to_string_lossy(), from.to_string_lossy());
        let arguments = [
            "--trust-model",
            "always",
            "-r",
            recipient,
            "--output",
            &*to,
            "--encrypt",
            &*from,
        ];
        home.home.run("gpg --encrypt", &arguments).map(drop)
    })
}

/// Messages in files of a directory, which `encrypt` encrypts from one file into another if they are to be decrypted. Files
/// that another case of this run has written serve again: its check covers them.
pub(crate) fn messages_in(
    directory: &Path,
    (operation, input_bytes): (Operation, u32),
    encrypt: impl Fn(&Path, &Path) -> Result<(), Error>,
) -> Result<Vec<Message>, Error> {
    let message = |number| {
        let name = directory.join(format!("{operation}-{input_bytes}-{number}"));
        let plaintext = written(&name, input_bytes)?;
        if operation.signs() {
            return Ok(Message {
                plaintext,
                file: name,
            });
        }
        let file = name.with_extension("pgp");
        if !file.exists() {
            encrypt(&name, &file)?;
        }
        Ok(Message { plaintext, file })
    };
    (0..MESSAGES).map(message).collect()
}

/// Returns the text in a file, which is written first if it is not there.
fn written(name: &Path, length: u32) -> Result<Vec<u8>, Error> {
    if let Ok(plaintext) = fs::read(name) {
        return Ok(plaintext);
    }
    let plaintext = text(length as usize)?;
    write_private(name, &plaintext)?;
    Ok(plaintext)
}

/// Printable text, so that a signed file looks like one.
fn text(length: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; length];
    openssl::rand::rand_bytes(&mut bytes).during("RAND_bytes")?;
    Ok(bytes.into_iter().map(|byte| b'a' + byte % 26).collect())
}
