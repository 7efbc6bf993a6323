//! Runs of a series, each in its own process, because the layout of memory and the state of programs is

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use keymark_bench::Record;
use keymark_records::exchange;
use keymark_stacks::private_dir::PrivateDir;
use keymark_stacks::process::Process;
use keymark_stores::places::program;
use signal_hook::iterator::Signals;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::signals::{self, SIGNALS};

/// Octets of a record, at most.
const RECORD: usize = 1 << 30;
/// Interval between checks for a signal during a pause.
const LOOK: Duration = Duration::from_millis(50);

/// Signals that keymark passes on to the running child.
pub(super) struct ForwardedSignals {
    signals: Signals,
    told: bool,
}

impl ForwardedSignals {
    pub(super) fn listen() -> Result<Self, Failure> {
        let signals = signals::to_hand_on()?;
        Ok(Self {
            signals,
            told: false,
        })
    }

    /// Waits that long; whether keymark was told to end meanwhile, or before.
    pub(super) fn wait(&mut self, pause: Duration) -> bool {
        let mut left = pause;
        loop {
            let mut pending = self.signals.pending();
            self.told |= pending.any(|number| SIGNALS.contains(&number));
            if self.told || left.is_zero() {
                return self.told;
            }
            let nap = left.min(LOOK);
            std::thread::sleep(nap);
            left -= nap;
        }
    }

    /// Runs the program to its end, which it is told to come to when keymark is: by Ctrl-C once, since twice ends it
    /// at once.
    fn run(&mut self, command: &mut Command) -> std::io::Result<ExitStatus> {
        let mut child = command.spawn()?;
        let process = Process::of(child.id());
        signals::until_ended(&mut child, &mut self.signals, |signal| {
            self.told = true;
            if let Some(process) = process.filter(|_| !signals::is_by_terminal(signal)) {
                process.signal(signal);
            }
        })
    }
}

/// A keymark that measures, and the arguments of each run.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

impl Program {
    /// Makes one run with this seed, and returns its record, if any, and how it ended.
    pub(super) fn measure(
        &self,
        seed: u64,
        signals: &mut ForwardedSignals,
    ) -> Result<(Option<Record>, Exit), Failure> {
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
            .arg("--format=json")
            .stdout(Stdio::null());
        let status = signals.run(&mut command).map_err(failed)?;
        let path = self.path.display();
        let refused = |exit| {
            // It has said why.
            let message = format!("no series: {path} cannot make its runs");
            Err(Failure { message, exit })
        };
        let (exit, measured) = match status.code() {
            Some(0) => (Exit::Fine, true),
            Some(1) => (Exit::Failed, true),
            Some(2) => return refused(Exit::Usage),
            Some(3) => return refused(Exit::NothingUsable),
            Some(130) => (Exit::Interrupted, true),
            // By a signal that keymark does not catch, or by what is no keymark.
            Some(_) | None => (Exit::Failed, false),
        };
        if measured
            && archive.exists()
            && let Some(record) = self.record(&archive, place.path())?
        {
            return Ok((Some(record), exit));
        }
        if exit == Exit::Interrupted {
            return Ok((None, exit));
        }
        output::error(&format!("{path} ended without making a run"));
        Ok((None, Exit::Failed))
    }

    /// The only run of the archive, if there is one.
    fn record(&self, archive: &Path, place: &Path) -> Result<Option<Record>, Failure> {
        let mut export = Command::new(&self.path);
        export.args(["export", "last", "--format", "record", "--archive"]);
        let step = program::ProgramRun::start();
        let output = step.and_then(|step| step.run(export.arg(archive), program::WORK, RECORD));
        let output = output.map_err(|error| format!("{}: {error}", self.path.display()))?;
        if !output.status.success() {
            return Ok(None);
        }
        let file = place.join("run.json");
        Ok(Some(exchange::json::parse(&file, &output.stdout)?))
    }
}
