//! Ctrl-C and kill -9, with real signals, in the middle of a run with real agents.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// Polls, 10 ms apart, before a condition counts as never met.
const POLLS: usize = 6_000;

/// A keymark with a temporary directory and an archive of its own.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        // Short, because sockets live below it.
        let directory = tempfile::Builder::new()
            .prefix("km")
            .tempdir_in("/tmp")
            .unwrap();
        std::fs::create_dir(directory.path().join("t")).unwrap();
        Self { directory }
    }

    fn temporary(&self) -> PathBuf {
        self.directory.path().join("t")
    }

    fn keymark(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keymark"));
        command
            .args(arguments)
            .env("TMPDIR", self.temporary())
            .env(
                "KEYMARK_ARCHIVE",
                self.directory.path().join("runs.sqlite3"),
            )
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.keymark(arguments).output().unwrap()
    }

    /// A run that would take a minute, once it has saved samples.
    fn measuring(&self) -> Child {
        let arguments = [
            "bench",
            "--algorithm",
            "ed25519",
            "--stack",
            "agent,gnupg",
            "--precision",
            "0.001%",
            "--max-time",
            "60s",
        ];
        let child = self.keymark(&arguments).spawn().unwrap();
        until("samples are saved", || {
            self.run()["samples"]
                .as_u64()
                .is_some_and(|samples| samples > 0)
        });
        child
    }

    /// The only run, as `keymark runs` lists it.
    fn run(&self) -> serde_json::Value {
        let listed = self.output(&["runs", "--json"]).stdout;
        let line = String::from_utf8(listed)
            .unwrap()
            .lines()
            .next()
            .unwrap_or("{}")
            .to_owned();
        serde_json::from_str(&line).unwrap()
    }

    fn leftovers(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.temporary())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }
}

fn until(what: &str, met: impl Fn() -> bool) {
    for _ in 0..POLLS {
        if met() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}: never");
}

/// Processes, zombies aside, with the path among their arguments.
fn processes_naming(path: &Path) -> usize {
    let needle = path.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|arguments| String::from_utf8_lossy(arguments).contains(needle))
        .count()
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn ctrl_c_ends_cleanly_with_what_was_measured_saved_and_shown() {
    let place = Place::new();
    let child = place.measuring();
    assert!(processes_naming(&place.temporary()) > 0, "an agent runs");
    signal(&child, Signal::SIGINT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(
        shown.contains("ended early, before all was measured") && shown.contains("ed25519"),
        "{shown}"
    );
    assert!(
        text(&output.stderr).contains("saved as"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(place.run()["state"], "interrupted");
    assert!(place.run()["samples"].as_u64().unwrap() > 0);
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
    until("agents are gone", || {
        processes_naming(&place.temporary()) == 0
    });
}

#[test]
fn a_killed_run_keeps_its_blocks_and_leaves_no_agent_and_the_next_start_tidies_up() {
    let place = Place::new();
    let mut child = place.measuring();
    let before = place.run()["samples"].as_u64().unwrap();
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    // The agent's tie to keymark: it ends without anybody's help.
    until("agents are gone", || {
        processes_naming(&place.temporary()) == 0
    });
    let run = place.run();
    assert_eq!(run["state"], "unfinished");
    assert!(
        run["samples"].as_u64().unwrap() >= before,
        "nothing that was saved is lost"
    );
    let shown = place.output(&["show", "last"]);
    assert!(
        text(&shown.stdout).contains("keymark was killed"),
        "{}",
        text(&shown.stdout)
    );

    assert_eq!(place.leftovers().len(), 1, "the directory is still there");
    let next = place.output(&[
        "bench",
        "--algorithm",
        "ed25519",
        "--stack",
        "raw",
        "--runs",
        "1",
    ]);
    assert!(next.status.success(), "{}", text(&next.stderr));
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
}

#[test]
fn a_run_that_nobody_reads_any_more_ends_cleanly() {
    let place = Place::new();
    let mut child = place
        .keymark(&[
            "bench",
            "--json",
            "--algorithm",
            "ed25519,rsa2048,rsa3072,rsa4096",
            "--operation",
            "sign",
            "--stack",
            "raw,agent,gnupg",
            "--runs",
            "20",
        ])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
    assert_eq!(place.run()["state"], "interrupted");
    until("agents are gone", || {
        processes_naming(&place.temporary()) == 0
    });
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_agents_still_go() {
    for second in [Signal::SIGINT, Signal::SIGTERM] {
        let place = Place::new();
        let mut child = place.measuring();
        signal(&child, Signal::SIGINT);
        signal(&child, second);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        until("agents are gone", || {
            processes_naming(&place.temporary()) == 0
        });
    }
}
