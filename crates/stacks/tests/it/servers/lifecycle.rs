//! What is left: nothing.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use keymark_stores::places::private_dir;
use keymark_stores::places::process::Process;
use keymark_testkit::assert_says;
use keymark_testkit::place::short_directory;
use keymark_testkit::process::{naming, this_test_program};
use keymark_testkit::waiting::{found, until};

use super::client::{BOTH, EACH, all, s_client, spec, started};

/// Which server the owner that is killed has.
const OWNED: &str = "KEYMARK_TEST_OWNED_SERVER";

#[test]
fn nothing_is_left_of_a_server() {
    for software in all() {
        let server = started(software, &spec("nistp256", "x25519"));
        s_client(server.address, &[]);
        let processes = server.processes().unwrap();
        let least = if software == "caddy" { 1 } else { 2 };
        assert!(processes.len() >= least, "{software}: {processes:?}");
        let directory = fs::read_link(format!("/proc/{}/cwd", processes[0].number)).unwrap();
        assert!(directory.join("error.log").exists());
        drop(server);
        assert!(!directory.exists());
        assert!(processes.iter().all(|process| !process.lives()));
        assert_eq!(naming(&directory), 0);
    }
}

#[test]
fn keys_and_configuration_are_for_root_alone() {
    for software in EACH {
        let server = started(software, &spec("nistp256", "x25519"));
        let master = server.processes().unwrap()[0].number;
        let directory = fs::read_link(format!("/proc/{master}/cwd")).unwrap();
        let mode = |name: &str| {
            let meta = fs::metadata(directory.join(name)).unwrap();
            meta.permissions().mode() & 0o777
        };
        assert_eq!(mode("k0") & 0o077, 0);
        assert_eq!(mode("k0/key.pem"), 0o600);
        assert_eq!(mode("server.conf"), 0o600);
        // Others may not even list it.
        assert_eq!(mode("") & 0o067, 0);
        if nix::unistd::geteuid().is_root() {
            let workers = server.processes().unwrap().into_iter().skip(1);
            for worker in workers {
                let status = fs::read_to_string(format!("/proc/{}/status", worker.number)).unwrap();
                let line = status
                    .lines()
                    .find(|line| line.starts_with("Uid:"))
                    .unwrap();
                assert!(!line.split_whitespace().any(|word| word == "0"), "{line}");
            }
        }
    }
}

#[test]
fn a_server_is_drained_when_nobody_is_connected_any_more() {
    for software in EACH {
        let mut server = started(software, &spec("nistp256", "x25519"));
        // A client that says nothing, and one that has left.
        let silent = TcpStream::connect(server.address).unwrap();
        let error = server.drain(Duration::from_millis(300)).unwrap_err();
        assert_says(&error, ["1 connections are still open after 0.3 s"]);
        drop(silent);
        let took = server.drain(Duration::from_secs(20)).unwrap();
        assert!(took < Duration::from_secs(20), "{took:?}");
    }
}

/// A program of its own, which is killed: started by the test below.
#[test]
fn owner_of_a_server() {
    let Ok(which) = std::env::var(OWNED) else {
        return;
    };
    let server = started(&which, &spec("nistp256", "x25519"));
    println!("owned {}", server.processes().unwrap()[0].number);
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
