//! What is left of a server whose owner was killed: nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use keymark_stores::places::private_dir;
use keymark_stores::places::process::Process;
use keymark_testkit::place::short_directory;
use keymark_testkit::process::{naming, this_test_program};
use keymark_testkit::waiting::{found, until};

use super::client::{BOTH, spec, started};

/// Which server the owner that is killed has.
const OWNED: &str = "KEYMARK_TEST_OWNED_SERVER";

/// A program of its own, which is killed: started by the test below.
#[test]
fn owner_of_a_server() {
    let Ok(which) = std::env::var(OWNED) else {
        return;
    };
    let server = started(&which, &spec("nistp256", "x25519"));
    println!("owned {}", server.process.processes().unwrap()[0].number);
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn the_server_of_an_owner_who_was_killed_ends_and_its_directory_is_swept() {
    for which in BOTH {
        let place = short_directory();
        // root's workers are somebody else, who has to come to the directory.
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut owner = this_test_program("servers::lifecycle::owner_of_a_server")
            .env(OWNED, which)
            .env("TMPDIR", place.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let directory = found("a private directory", || private(place.path()));
        let processes = found("workers are taken down", || {
            // A watchdog, a master, a worker.
            Some(recorded(&directory)).filter(|processes| processes.len() >= 3)
        });
        owner.kill().unwrap();
        owner.wait().unwrap();
        // Before anybody sweeps.
        until("master and workers have ended", || {
            naming(&directory) == 0 && processes.iter().all(|process| !process.lives())
        });
        swept(place.path(), &directory);
    }
}

/// Processes that were taken down in the directory and live.
fn recorded(directory: &Path) -> Vec<Process> {
    let record = fs::read_to_string(directory.join("processes")).unwrap_or_default();
    let numbers = record.lines().filter_map(|line| line.split_once(' '));
    numbers
        .filter_map(|(number, _)| Process::of(number.parse().unwrap()))
        .collect()
}

fn private(place: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(place).unwrap().flatten();
    let entry = entries.find(|entry| entry.file_name().to_string_lossy().starts_with("keymark-"));
    entry.map(|entry| entry.path())
}

/// The next start sweeps: another process, whose directory for temporary files is that one.
fn swept(place: &Path, directory: &Path) {
    let status = this_test_program("servers::lifecycle::sweeper")
        .env("TMPDIR", place)
        .env(OWNED, "sweep")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    until("no process is left", || naming(directory) == 0);
    assert!(!directory.exists());
}

#[test]
fn sweeper() {
    if std::env::var(OWNED).is_ok() {
        assert_eq!(private_dir::sweep(), 1);
    }
}
