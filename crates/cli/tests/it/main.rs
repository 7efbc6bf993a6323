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

use std::process::Child;

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
