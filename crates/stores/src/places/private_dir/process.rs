//! Processes as they are taken down in private directories.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use keymark_bench::error::{During as _, Error};
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use crate::places::process::Process;

/// In a private directory and in those in it: the processes that use it, a line each.
pub const RECORD: &str = "processes";
/// Before the names of directories without a lock: who is making or removing them.
const UNFINISHED: &str = "new-keymark-";

/// Where numbers of processes mean the same.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct World {
    /// The kernel's name of its start.
    pub(super) boot: String,
    /// The inode of the PID namespace.
    pub(super) namespace: u64,
}

impl World {
    pub(super) fn here() -> io::Result<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        Ok(Self {
            boot: boot.trim().to_owned(),
            namespace: namespace()?,
        })
    }
}

fn namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/self/ns/pid")?.ino())
}

fn parse(line: &str) -> Option<Process> {
    let (number, started) = line.split_once(' ')?;
    Some(Process {
        number: number.parse().ok()?,
        started: started.parse().ok()?,
    })
}

/// Takes down that a process uses a private directory, or one in it: it ends with the directory at the
/// latest. One that has ended already needs no record.
pub fn record(directory: &Path, process: u32) -> Result<(), Error> {
    let Some(Process { number, started }) = Process::of(process) else {
        return Ok(());
    };
    let path = directory.join(RECORD);
    let written = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| file.write_all(format!("{number} {started}\n").as_bytes()));
    written.during(format_args!("writing {}", path.display()))
}

/// Ends the processes that were taken down in the directory and in those in it, and those below them: a server starts a
/// worker anew that has ended.
pub(super) fn end_recorded(directory: &Path) {
    let inner = fs::read_dir(directory).into_iter().flatten().flatten();
    let inner = inner
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path());
    for place in inner.chain([directory.to_owned()]) {
        let lines = fs::read_to_string(place.join(RECORD)).unwrap_or_default();
        let recorded = lines.lines().filter_map(parse);
        for process in recorded.filter(|process| process.lives()) {
            let below = Process::with_descendants(process.number);
            process.signal(Signal::SIGKILL);
            below
                .iter()
                .for_each(|process| process.signal(Signal::SIGKILL));
        }
    }
}

/// What the name of a directory begins with that this process is making or removing.
pub(super) fn unfinished_prefix() -> io::Result<String> {
    let own = Process::of(std::process::id()).ok_or(io::ErrorKind::NotFound)?;
    let Process { number, started } = own;
    Ok(format!("{UNFINISHED}{}-{number}-{started}-", namespace()?))
}

/// Whether the name is of a directory that a keymark was making or removing when it died.
pub(super) fn died_over(name: &str) -> bool {
    let maker = || {
        let mut numbers = name.strip_prefix(UNFINISHED)?.split('-');
        let place: u64 = numbers.next()?.parse().ok()?;
        let process = Process {
            number: numbers.next()?.parse().ok()?,
            started: numbers.next()?.parse().ok()?,
        };
        numbers.next().filter(|random| !random.is_empty())?;
        numbers.next().is_none().then_some((place, process))
    };
    // Elsewhere it may well live.
    maker().is_some_and(|(place, process)| namespace().ok() == Some(place) && !process.lives())
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeping() -> Child {
        Command::new("sleep").arg("600").spawn().unwrap()
    }

    #[test]
    fn who_was_taken_down_ends() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("g0");
        fs::create_dir(&inner).unwrap();
        let mut children = [sleeping(), sleeping()];
        record(dir.path(), children[0].id()).unwrap();
        record(&inner, children[1].id()).unwrap();
        end_recorded(dir.path());
        for child in &mut children {
            assert!(!child.wait().unwrap().success());
        }
    }

    #[test]
    fn who_has_the_number_of_one_that_ended_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = sleeping();
        let Process { number, started } = Process::of(child.id()).unwrap();
        let records = format!("{number} {}\n{number}\n1 0\n0 0\n-1 0\n", started - 1);
        fs::write(dir.path().join(RECORD), records).unwrap();
        end_recorded(dir.path());
        assert!(child.try_wait().unwrap().is_none(), "it lives");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_name_tells_whether_its_maker_lives() {
        let living = unfinished_prefix().unwrap() + "abcdef";
        assert!(!died_over(&living));
        let here = namespace().unwrap();
        assert!(died_over(&format!(
            "{UNFINISHED}{here}-{}-0-abcdef",
            std::process::id()
        )));
        assert!(!died_over(&format!("{UNFINISHED}{}-1-0-abcdef", here + 1)));
        for other in [
            "new-keymark-",
            "new-keymark-1-2-3",
            "new-keymark-1-2-3-4-5",
            "new",
        ] {
            assert!(!died_over(other), "{other}");
        }
    }
}
