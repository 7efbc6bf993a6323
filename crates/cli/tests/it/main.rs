//! The real binary as its users call it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod archives;
mod audit;
mod audit_corpus;
mod capacity;
mod cards;
// What the benchmark has of its own: it has no harness that could run tests.
#[allow(dead_code, reason = "the benchmark measures, these tests do not")]
#[path = "../../benches/claims/mod.rs"]
mod claims;
mod command_line;
mod directories;
mod documents;
mod git;
mod hostile;
mod hostile_server;
mod interruption;
mod kills;
mod libraries;
mod machine;
mod mcu;
mod pkcs11;
mod processes;
mod programs;
mod run;
mod series;
mod services;
mod sharing;
mod site;
mod sop;
mod ssh;
mod team;
mod terminal;
mod tls;
#[cfg(feature = "tpm")]
mod tpm;
mod trace;
mod virtual_cards;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use keymark_testkit::place::{Place, Transcript, ended, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

const KEYMARK: &str = env!("CARGO_BIN_EXE_keymark");

/// Asserts that each row's case did that number of operations, and that none failed.
#[track_caller]
fn assert_measured(rows: &[Value], operations: u64) {
    for row in rows {
        let done = (&row["n"], &row["failed"]);
        assert_eq!(done, (&operations.into(), &0.into()), "{row}");
    }
}

/// Asserts that a load was answered rightly.
#[track_caller]
fn assert_under_load(row: &Value) {
    assert!(row["transactions"].as_u64() > Some(0), "{row}");
    assert_eq!(row["failed"], 0, "{row}");
}

/// A figure of a row.
#[track_caller]
fn number(row: &Value, name: &str) -> f64 {
    let number = row[name].as_f64();
    number.unwrap_or_else(|| panic!("{name}: {row}"))
}

/// The verdict about the last run.
fn verdict(place: &Place) -> Value {
    let shown = place.stdout("show last --format json");
    let mut last: Value = serde_json::from_str(shown.lines().last().unwrap()).unwrap();
    last["verdict"].take()
}

/// Starts a program that nobody listens to.
fn quiet(command: &mut Command) -> Child {
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Starts a program whose output is read at its end.
fn captured(command: &mut Command) -> Child {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Starts a program, and returns the object in the first line that it writes.
fn telling(command: &mut Command) -> (Child, Value) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut told = BufReader::new(child.stdout.as_mut().unwrap());
    told.read_line(&mut line).unwrap();
    (child, serde_json::from_str(&line).unwrap())
}

/// Waits for the end of a program, which has that status.
#[track_caller]
fn end_of(child: Child, status: i32) -> Transcript {
    let output = ended(child.wait_with_output().unwrap(), status);
    Transcript {
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// Kills a program that is still at work.
#[track_caller]
fn kill_at_work(mut child: Child) {
    assert!(child.try_wait().unwrap().is_none(), "it is at work");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Ends a server of keymark's as Ctrl-C does.
#[track_caller]
fn interrupt(child: Child) {
    tell(&child, Signal::SIGINT);
    end_of(child, 0);
}

/// A program that ends with the value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Who has been waited for has no number any more.
        if matches!(self.0.try_wait(), Ok(None)) {
            tell(&self.0, Signal::SIGTERM);
            let _ = self.0.wait();
        }
    }
}

/// Sends a program a signal.
fn tell(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}
