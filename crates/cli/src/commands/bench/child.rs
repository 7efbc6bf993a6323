//! One run of a series, in a process of its own: where its pages lie and what its programs did before is
//! drawn anew (Kalibera & Jones 2013). It measures into an archive of its own, so that a keymark of another
//! version can do it, and hands the run over as the record that keymarks exchange.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use keymark_bench::Record;
use keymark_report::exchange;
use keymark_stacks::private_dir::PrivateDir;
use keymark_stacks::process::Process;
use nix::sys::signal::Signal;
use signal_hook::iterator::{Handle, Signals};

use crate::exit::{Exit, Failure};
use crate::signals::{self, SIGNALS};

/// What keymark is told by signals while children work, and the child that is told it, too.
pub(super) struct ForwardedSignals {
    told: Receiver<()>,
    child: Arc<Mutex<Option<Process>>>,
    handle: Handle,
    listening: Option<JoinHandle<()>>,
}

impl ForwardedSignals {
    pub(super) fn listen() -> Result<Self, Failure> {
        let mut signals = Signals::new(SIGNALS).map_err(signals::uncaught)?;
        let handle = signals.handle();
        let (tell, told) = channel();
        let child: Arc<Mutex<Option<Process>>> = Arc::default();
        let its = Arc::clone(&child);
        let listening = std::thread::spawn(move || {
            for number in signals.forever() {
                let signal = Signal::try_from(number).unwrap_or(Signal::SIGTERM);
                // Of Ctrl-C the terminal has told it already; twice ends it at once.
                let by_terminal = signal == Signal::SIGINT && std::io::stdin().is_terminal();
                let child = *its.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(child) = child.filter(|_| !by_terminal) {
                    child.signal(signal);
                }
                if tell.send(()).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            told,
            child,
            handle,
            listening: Some(listening),
        })
    }

    /// Waits that long; whether keymark was told to end meanwhile, or before.
    pub(super) fn wait(&self, pause: Duration) -> bool {
        match self.told.recv_timeout(pause) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    /// Runs the program to its end, which it is told to come to when keymark is.
    fn run(&self, command: &mut Command) -> std::io::Result<ExitStatus> {
        let set = |child| *self.child.lock().unwrap_or_else(PoisonError::into_inner) = child;
        let mut child = command.spawn()?;
        set(Process::of(child.id()));
        let status = child.wait();
        set(None);
        status
    }
}

impl Drop for ForwardedSignals {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
    }
}

/// What a child has measured, and how it ended.
pub(super) struct Measured {
    pub(super) record: Option<Record>,
    pub(super) exit: Exit,
}

/// A keymark that measures, and the arguments of each run.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

impl Program {
    /// One run with this seed.
    pub(super) fn measure(
        &self,
        seed: u64,
        signals: &ForwardedSignals,
    ) -> Result<Measured, Failure> {
        let place = PrivateDir::new()?;
        let archive = place.path().join("run.sqlite3");
        let failed = |error| Failure::usage(format!("{}: {error}", self.path.display()));
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .arg("--seed")
            .arg(seed.to_string())
            .arg("--archive")
            .arg(&archive)
            // Tables of single runs are not what the user waits for.
            .arg("--json")
            .stdout(Stdio::null());
        let status = signals.run(&mut command).map_err(failed)?;
        let (exit, measured) = match status.code() {
            Some(0) => (Exit::Fine, true),
            Some(1) => (Exit::Failed, true),
            Some(2) => (Exit::Usage, false),
            Some(3) => (Exit::NothingUsable, false),
            Some(130) => (Exit::Interrupted, true),
            // By a signal that keymark does not catch, or by what is no keymark.
            Some(_) | None => (Exit::Failed, false),
        };
        let record = if measured && archive.exists() {
            self.record(&archive, place.path())?
        } else {
            None
        };
        Ok(Measured { record, exit })
    }

    /// The only run of the archive, if there is one.
    fn record(&self, archive: &Path, place: &Path) -> Result<Option<Record>, Failure> {
        let mut export = Command::new(&self.path);
        export.args(["export", "last", "--format", "json", "--archive"]);
        let failed = |error| Failure::failed(format!("{}: {error}", self.path.display()));
        let output = export.arg(archive).output().map_err(failed)?;
        if !output.status.success() {
            return Ok(None);
        }
        let read = exchange::json::parse(&place.join("run.json"), &output.stdout);
        read.map(Some).map_err(Failure::failed)
    }
}
