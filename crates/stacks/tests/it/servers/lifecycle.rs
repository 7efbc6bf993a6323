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
/// File with the numbers of its processes.
const PROCESSES: &str = "processes";

/// A program of its own, which is killed: started by the test below.
#[test]
fn owner_of_a_server() {
    let Ok(which) = std::env::var(OWNED) else {
        return;
    };
    let server = started(&which, &spec("nistp256", "x25519"));
    let numbers = server.process.processes();
    let numbers: Vec<_> = numbers
        .iter()
        .map(|process| process.number.to_string())
        .collect();
    fs::write(
        std::env::temp_dir().join(PROCESSES),
        numbers.join("\n") + "\n",
    )
    .unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn the_server_of_an_owner_who_was_killed_ends_and_its_directory_is_swept() {
    for which in BOTH {
        let place = short_directory();
        // root's workers are another user, who has to come to the directory.
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut owner = this_test_program("servers::lifecycle::owner_of_a_server")
            .env(OWNED, which)
            .env("TMPDIR", place.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let processes = found("a master and a worker", || {
            Some(started_in(place.path())).filter(|processes| processes.len() >= 2)
        });
        let directory = private(place.path()).unwrap();
        owner.kill().unwrap();
        owner.wait().unwrap();
        // Before anybody sweeps.
        until("master and workers have ended", || {
            naming(&directory) == 0 && processes.iter().all(|process| !process.lives())
        });
        swept(place.path(), &directory);
    }
}

fn started_in(place: &Path) -> Vec<Process> {
    let numbers = fs::read_to_string(place.join(PROCESSES)).unwrap_or_default();
    numbers
        .lines()
        .filter_map(|number| Process::of(number.parse().unwrap()))
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
