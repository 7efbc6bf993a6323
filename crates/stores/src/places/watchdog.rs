//! A process group that ends with keymark, whatever ends keymark.
//!
//! A shell leads the group, reads a pipe of keymark's and kills the group when that ends. Workers whose master has
//! died are also in it. A parent-death signal would reach the master alone, and `pre_exec` is unsafe.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keymark_bench::{During as _, Error};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, setpgid};

use crate::places::process::Process;
use crate::places::program;

const SHELL: &str = "/bin/sh";
const STEP: Duration = Duration::from_millis(5);
/// Its input is a pipe whose other end this keymark alone holds; `0` is its own group (kill(1)).
const UNTIL_INPUT_ENDS: &str = "read -r _; kill -KILL 0";

/// A shell that leads a group and ends everything in it, and itself, when its input ends: with the value, or with
/// keymark. Programs are started into its group and stay keymark's own children; workers that they fork are also in it,
/// even those that have lost their master.
#[derive(Debug)]
pub struct Watchdog {
    shell: Child,
    group: Pid,
}

impl Watchdog {
    /// Starts one. Its shell is called by the name, such as that of a private directory, by which its processes are
    /// found.
    pub fn start(name: &Path) -> Result<Self, Error> {
        Self::named(name).during(SHELL)
    }

    /// Starts one, as [`Watchdog::start`] does, for callers that say themselves what has failed.
    pub fn named(name: &Path) -> io::Result<Self> {
        let shell = program::command(Path::new(SHELL))
            .args(["-c", UNTIL_INPUT_ENDS])
            .arg(name)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C is keymark's to handle.
            .process_group(0)
            .spawn()?;
        let group = Pid::from_raw(i32::try_from(shell.id()).map_err(io::Error::other)?);
        // QEMU's user mode returns before the shell leads its group, and no program can join it then. A running shell refuses
        // the call: it leads its group.
        let _ = setpgid(group, group);
        Ok(Self { shell, group })
    }

    /// Starts a program in the group.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        command.process_group(self.group.as_raw()).spawn()
    }

    /// Returns the group but the watchdog itself; nothing once it has ended, when its number may be another process's.
    pub fn watched(&self) -> Vec<Process> {
        if self.shell.stdin.is_none() {
            return Vec::new();
        }
        let mut members = Process::in_group(self.shell.id());
        members.retain(|process| process.number != self.shell.id());
        members
    }

    /// Waits until nothing is left of the group but the watchdog, within that time.
    pub fn await_end(&self, limit: Duration) {
        let mut waited = Duration::ZERO;
        while waited < limit && !self.watched().is_empty() {
            std::thread::sleep(STEP);
            waited += STEP;
        }
    }

    /// Ends all that is left of the group.
    pub fn end(&mut self) {
        if self.shell.stdin.take().is_none() {
            return;
        }
        // It may have been stopped with its group. Until it was waited for, the number is the group's.
        let _ = killpg(self.group, Signal::SIGKILL);
        let _ = self.shell.wait();
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::waiting::until;

    use super::*;

    #[test]
    fn who_has_lost_its_parent_ends_with_the_group() {
        let directory = tempfile::tempdir().unwrap();
        let mut watchdog = Watchdog::start(directory.path()).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600 & exit"]);
        watchdog.spawn(&mut command).unwrap().wait().unwrap();
        let orphans = watchdog.watched();
        assert_eq!(orphans.len(), 2, "{orphans:?}");
        watchdog.end();
        until("the end", || orphans.iter().all(|orphan| !orphan.lives()));
    }
}
