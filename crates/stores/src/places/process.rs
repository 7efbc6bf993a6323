//! Processes of this machine, as `/proc` has them: a number and a start, since numbers are given again.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub number: u32,
    /// When it was started, in ticks since the machine's start.
    pub started: u64,
}

/// What `/proc` says of a process besides.
struct Said {
    process: Process,
    parent: u32,
    group: u32,
}

impl Process {
    /// The process that has the number now; none if it has ended, waited for or not.
    pub fn of(number: u32) -> Option<Self> {
        said(number).map(|said| said.process)
    }

    /// The process that has the number, and everything below it.
    pub fn with_descendants(number: u32) -> Vec<Self> {
        let all: Vec<Said> = all().collect();
        let mut tree: Vec<Self> = all
            .iter()
            .map(|said| said.process)
            .filter(|process| process.number == number)
            .collect();
        let mut at = 0;
        while let Some(parent) = tree.get(at).map(|process| process.number) {
            let children = all.iter().filter(|said| said.parent == parent);
            tree.extend(children.map(|said| said.process));
            at += 1;
        }
        tree
    }

    /// Those of the process group of that number (setpgid(2)), children of processes that have ended as well.
    pub fn in_group(number: u32) -> Vec<Self> {
        let members = all().filter(|said| said.group == number);
        members.map(|said| said.process).collect()
    }

    /// Whether it has not ended.
    pub fn lives(self) -> bool {
        Self::of(self.number) == Some(self)
    }

    /// Signals it, unless it has ended: who has its number then is somebody else.
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

/// Those of all users.
fn all() -> impl Iterator<Item = Said> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| said(entry.file_name().to_str()?.parse().ok()?))
}

fn said(number: u32) -> Option<Said> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // proc_pid_stat(5): the program's name, in parentheses, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let has_ended = matches!(*fields.first()?, "Z" | "X");
    let said = Said {
        process: Process {
            number,
            started: fields.get(19)?.parse().ok()?,
        },
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
    };
    (!has_ended).then_some(said)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_zombie_has_ended() {
        let mut child = Command::new("true").spawn().unwrap();
        let ended = (0..1_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            Process::of(child.id()).is_none()
        });
        assert!(ended);
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
