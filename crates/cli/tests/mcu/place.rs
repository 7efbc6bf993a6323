//! A keymark with an archive of its own, and files for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_keymark"))
            .args(arguments)
            .env("KEYMARK_ARCHIVE", self.path("runs.sqlite3"))
            .env("PCSCLITE_CSOCK_NAME", "/nonexistent")
            .output()
            .unwrap()
    }

    /// Runs it to success.
    pub fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it to this exit status; gives what it said.
    pub fn refused(&self, arguments: &[&str], status: i32) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        said
    }
}

pub fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub fn kernel(name: &str) -> String {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcu/kernels/elf");
    kernels.join(name).to_str().unwrap().to_owned()
}

/// A shipped part's file with something replaced.
pub fn own_part(place: &Place, name: &str, from: &str, to: &str) -> String {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/mcu/stm32f103.toml");
    let text = std::fs::read_to_string(shipped).unwrap();
    assert!(text.contains(from), "{from}");
    let file = place.path(name);
    std::fs::write(&file, text.replace(from, to)).unwrap();
    file.to_str().unwrap().to_owned()
}
