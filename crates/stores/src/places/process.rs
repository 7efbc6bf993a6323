//! Processes of this machine, as `/proc` has them: a number and a start, since numbers are given again.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use procfs::process::{Process as Entry, Stat, all_processes};
use serde::{Deserialize, Serialize};

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub number: u32,
    /// Time when it was started, in ticks since the machine's start.
    pub started: u64,
}

/// `/proc` counts in hundredths of a second on all that Debian supports (`USER_HZ`, time(7)).
pub const TICK: Duration = Duration::from_millis(10);

impl From<&Stat> for Process {
    fn from(stat: &Stat) -> Self {
        Self {
            number: stat.pid.cast_unsigned(),
            started: stat.starttime,
        }
    }
}

impl Process {
    /// The process that has the number now; none if it has ended, waited for or not.
    pub fn of(number: u32) -> Option<Self> {
        living(&entry(number)?).as_ref().map(Self::from)
    }

    /// The process that has the number, and everything below it.
    pub fn with_descendants(number: u32) -> Vec<Self> {
        let all: Vec<Stat> = all().collect();
        let mut tree: Vec<Self> = all.iter().map(Self::from).collect();
        tree.retain(|process| process.number == number);
        let mut at = 0;
        while let Some(parent) = tree.get(at).map(|process| process.number) {
            let children = all
                .iter()
                .filter(|stat| stat.ppid.cast_unsigned() == parent);
            tree.extend(children.map(Self::from));
            at += 1;
        }
        tree
    }

    /// Returns the members of a process group (setpgid(2)), also children of processes that have ended.
    pub fn in_group(number: u32) -> Vec<Self> {
        let members = all().filter(|stat| stat.pgrp.cast_unsigned() == number);
        members.map(|stat| Self::from(&stat)).collect()
    }

    /// Returns whether it has not ended.
    pub fn lives(self) -> bool {
        Self::of(self.number) == Some(self)
    }

    /// Processor time until now, with that of children that were waited for.
    pub fn spent(self) -> Option<Duration> {
        let stat = entry(self.number)?.stat().ok()?;
        let children = u64::try_from(stat.cutime + stat.cstime).ok()?;
        let ticks = stat.utime + stat.stime + children;
        Some(TICK * u32::try_from(ticks).ok()?)
    }

    /// Signals it, unless it has ended: another process may have its number then.
    pub fn signal(self, signal: Signal) {
        let Ok(number) = i32::try_from(self.number) else {
            return;
        };
        if number > 1 && self.lives() {
            // It may be gone by now.
            let _ = kill(Pid::from_raw(number), signal);
        }
    }
}

fn all() -> impl Iterator<Item = Stat> {
    let entries = all_processes().into_iter().flatten().flatten();
    entries.filter_map(|entry| living(&entry))
}

fn entry(number: u32) -> Option<Entry> {
    Entry::new(number.cast_signed()).ok()
}

fn living(entry: &Entry) -> Option<Stat> {
    entry
        .stat()
        .ok()
        .filter(|stat| !matches!(stat.state, 'Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use keymark_testkit::waiting::until;

    use super::*;

    #[test]
    fn a_zombie_has_ended() {
        let mut child = Command::new("true").spawn().unwrap();
        until("the end", || Process::of(child.id()).is_none());
        child.wait().unwrap();
    }

    #[test]
    fn descendants_are_told_and_nobody_else_is() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 600 & echo; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0];
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut line).unwrap();
        let tree = Process::with_descendants(shell.id());
        assert_eq!(tree.len(), 2, "{tree:?}");
        let earlier = Process {
            started: tree[0].started - 1,
            ..tree[0]
        };
        earlier.signal(Signal::SIGKILL);
        assert!(
            shell.try_wait().unwrap().is_none(),
            "another had the number"
        );
        for process in &tree {
            process.signal(Signal::SIGKILL);
        }
        assert!(!shell.wait().unwrap().success());
    }
}
