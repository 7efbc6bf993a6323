//! Modules that nobody knows are looked at in a process that may hang or crash: keymark, started once more.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use cryptoki::context::Pkcs11;
use keymark_bench::clock::{Clock as _, MonotonicClock};
use keymark_bench::error::Error;
use keymark_cryptoki::Calls;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::module::{ModuleFile, initialize, no_module, not_loaded, one_instance};
use super::own::NewToken;
use super::says::{self, ModuleSays};
use crate::user::{PinSource, Pins};

/// keymark's subcommand that looks at a module. Nobody but keymark calls it.
pub const SUBCOMMAND: &str = "pkcs11-module";

/// How long a module may take to say what it has.
const LIMIT: Duration = Duration::from_secs(10);
/// How long it may then take to end.
const FAREWELL: Duration = Duration::from_millis(500);
/// Before what is said: modules write to the output as well.
const MARK: &str = "keymark's look at a module: ";
/// More is not said of any module.
const LONGEST: usize = 4 << 20;

/// Whether a module finds the cards that are in readers. OpenSC selects applications on all of them to see what
/// they are, which takes from other programs what they have selected and verified there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readers {
    /// The user has named the module or its token.
    Shown,
    /// It is only being listed.
    Hidden,
}

/// What the process says.
#[derive(Serialize, Deserialize)]
struct Told(Result<ModuleSays, Error>);

/// Looks at a module in this process, and says what it says on `to`. If `from` has PINs, they become those of
/// its first blank token.
///
/// # Errors
/// When nobody listens.
pub fn serve(file: &ModuleFile, mut from: impl Read, mut to: impl Write) -> Result<(), Error> {
    let mut asked = Zeroizing::new(Vec::new());
    let told = from
        .read_to_end(&mut asked)
        .map_err(|error| Error::call("looking at a module", error, ""))
        .and_then(|_| look_here(file, &asked));
    let says = told.as_ref().map(|(says, _)| says.clone());
    let text = serde_json::to_string(&Told(says.map_err(Clone::clone)));
    let failed = |error: &dyn ToString| Error::call("looking at a module", error.to_string(), "");
    let text = text.map_err(|error| failed(&error))?;
    writeln!(to, "\n{MARK}{text}").map_err(|error| failed(&error))?;
    to.flush().map_err(|error| failed(&error))?;
    if let Ok((_, module)) = told {
        // Nobody waits for a module that does not like to end.
        let _ = module.finalize();
    }
    Ok(())
}

fn look_here(file: &ModuleFile, asked: &[u8]) -> Result<(ModuleSays, Pkcs11), Error> {
    let path = &file.path;
    let module = Pkcs11::new(path).map_err(|error| not_loaded(path, &error))?;
    initialize(file, &module)?;
    if !asked.is_empty() {
        let token: NewToken = serde_json::from_slice(asked)
            .map_err(|error| Error::call("initialising a token", error, ""))?;
        token.make(&module)?;
    }
    let calls = Calls::of(path).map_err(|reason| no_module(path, &reason))?;
    one_instance(path, &calls)?;
    Ok((says::ask(&module, &calls)?, module))
}

/// Looks at all of them at once, each in a process of its own, which gets no PIN to see. The answers come
/// in the order of the files.
pub(super) fn look(
    files: &[ModuleFile],
    pins: &Pins,
    readers: Readers,
) -> Vec<Result<ModuleSays, Error>> {
    let clock = MonotonicClock::new();
    let begin = clock.now();
    let started: Vec<_> = files
        .iter()
        .map(|file| start(command(file, pins, readers)?.stdin(Stdio::null())))
        .collect();
    let answers = started.into_iter().zip(files);
    answers
        .map(|(process, file)| {
            let remaining = || LIMIT.saturating_sub(clock.now().since(begin));
            process?.answer(&remaining, file)
        })
        .collect()
}

/// Initialises the module's first blank token in a process of its own, and looks at what there is then.
pub(super) fn initialize_token(file: &ModuleFile, token: &NewToken) -> Result<ModuleSays, Error> {
    let failed = |error: io::Error| Error::call("initialising a token", error, "");
    let clock = MonotonicClock::new();
    let begin = clock.now();
    let text = serde_json::to_vec(token).map_err(|error| failed(error.into()))?;
    let text = Zeroizing::new(text);
    let nobody = Pins {
        user: PinSource::Prompt,
        admin: PinSource::Prompt,
    };
    let mut process = start(command(file, &nobody, Readers::Hidden)?.stdin(Stdio::piped()))?;
    let told = process.0.stdin.take().map(|mut to| to.write_all(&text));
    told.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into()))
        .map_err(failed)?;
    process.answer(&|| LIMIT.saturating_sub(clock.now().since(begin)), file)
}

/// The process, which does not outlive this.
struct Looking(Child);

impl Drop for Looking {
    fn drop(&mut self) {
        // All that the module has started, too: they are a process group.
        if let Ok(number) = i32::try_from(self.0.id()) {
            let _ = killpg(Pid::from_raw(number), Signal::SIGKILL);
        }
        let _ = self.0.wait();
    }
}

fn not_started(error: io::Error) -> Error {
    Error::call("starting keymark to look at a module", error, "")
}

fn start(command: &mut Command) -> Result<Looking, Error> {
    command.spawn().map(Looking).map_err(not_started)
}

fn command(file: &ModuleFile, pins: &Pins, readers: Readers) -> Result<Command, Error> {
    let mut command = Command::new(std::env::current_exe().map_err(not_started)?);
    command
        .arg(SUBCOMMAND)
        .arg(&file.path)
        .stdout(Stdio::piped())
        // Modules complain there of what is no mistake of the user's.
        .stderr(Stdio::null())
        .process_group(0);
    match readers {
        Readers::Shown => {}
        // Where libpcsclite looks for pcscd.
        Readers::Hidden => {
            command.env("PCSCLITE_CSOCK_NAME", "/nonexistent");
        }
    }
    for variable in pins.variables() {
        command.env_remove(variable);
    }
    command.args(&file.reserved).envs(&file.environment);
    Ok(command)
}

/// How reading what is said came to its end.
enum Heard {
    All(String),
    /// The process closed its output.
    End,
    TooLate,
}

impl Looking {
    fn answer(
        mut self,
        remaining: &dyn Fn() -> Duration,
        file: &ModuleFile,
    ) -> Result<ModuleSays, Error> {
        let call = format!("looking at {}", file.path.display());
        let failed = |reason: &dyn ToString, advice: &str| {
            Error::call(call.clone(), reason.to_string(), advice)
        };
        let Some(output) = self.0.stdout.take() else {
            return Err(failed(&"no pipe", ""));
        };
        let mut output = File::from(std::os::fd::OwnedFd::from(output));
        let heard = listen(&mut output, remaining).map_err(|error| failed(&error, ""))?;
        match heard {
            Heard::All(text) => {
                // Until it has ended, or time is up.
                let _ = wait_for_end(&mut output, &|| FAREWELL);
                let told: Result<Told, _> = serde_json::from_str(&text);
                told.map_err(|error| failed(&error, ""))?.0
            }
            Heard::End => {
                let status = self.0.wait().map_err(|error| failed(&error, ""))?;
                Err(failed(
                    &ended(status),
                    "it is left out; its maker may know why",
                ))
            }
            Heard::TooLate => {
                let limit = LIMIT.as_secs();
                let reason = format!("it has not answered for {limit} seconds");
                Err(failed(&reason, "does the service that it talks to run?"))
            }
        }
    }
}

fn ended(status: ExitStatus) -> String {
    match status.signal().map(Signal::try_from) {
        Some(Ok(signal)) => format!("it crashed ({signal})"),
        _ => format!("it ended keymark's process ({status})"),
    }
}

/// The line behind the mark.
fn listen(output: &mut File, remaining: &dyn Fn() -> Duration) -> io::Result<Heard> {
    let mut heard = Vec::new();
    let mut part = [0; 4096];
    while heard.len() < LONGEST {
        if !ready(output, remaining())? {
            return Ok(Heard::TooLate);
        }
        match output.read(&mut part)? {
            0 => return Ok(Heard::End),
            length => heard.extend(&part[..length]),
        }
        let text = String::from_utf8_lossy(&heard);
        let said = text
            .split_once(MARK)
            .and_then(|(_, said)| said.split_once('\n'));
        if let Some((said, _)) = said {
            return Ok(Heard::All(said.to_owned()));
        }
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidData,
        "it does not stop talking",
    ))
}

fn wait_for_end(output: &mut File, remaining: &dyn Fn() -> Duration) -> io::Result<()> {
    let mut part = [0; 4096];
    while ready(output, remaining())? && output.read(&mut part)? > 0 {}
    Ok(())
}

/// Whether something can be read within that time.
fn ready(output: &File, within: Duration) -> io::Result<bool> {
    let timeout = PollTimeout::try_from(within).unwrap_or(PollTimeout::MAX);
    loop {
        match poll(
            &mut [PollFd::new(output.as_fd(), PollFlags::POLLIN)],
            timeout,
        ) {
            Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
            Ok(ready) => return Ok(ready > 0),
        }
    }
}
