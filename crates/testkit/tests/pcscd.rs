//! That a private pcscd leaves nothing. It takes the packages pcscd and vsmartcard-vpcd.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;

use keymark_testkit::pcscd::{PCSCD, PrivatePcscd};
use keymark_testkit::place::short_directory;
use keymark_testkit::process::{naming, this_test_program};
use keymark_testkit::waiting::until;

fn named_by_a_process(path: &Path) -> bool {
    naming(path) > 0
}

/// The content of its file, once none of ours is starting, which may put its own there until it is up.
fn pid_of_the_systems() -> Option<Vec<u8>> {
    let pcscd = File::open(PCSCD).unwrap();
    pcscd.lock().unwrap();
    std::fs::read("/run/pcscd/pcscd.pid").ok()
}

#[test]
fn nothing_is_left_and_the_place_can_be_used_again() {
    let directory = short_directory();
    let system = pid_of_the_systems();
    for _ in 0..2 {
        let pcscd = PrivatePcscd::start(directory.path()).unwrap();
        assert!(named_by_a_process(directory.path()));
        assert!(pcscd.socket().exists());
        let address = pcscd.vpcd_address();
        drop(pcscd);
        assert!(!named_by_a_process(directory.path()));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(TcpStream::connect(&address).is_err());
        assert_eq!(pid_of_the_systems(), system);
    }
}

const OWNER: &str = "KEYMARK_TEST_PCSCD_DIRECTORY";

/// Not a test by itself: the process that the next one kills.
#[test]
fn owner_of_one() {
    let Some(directory) = std::env::var_os(OWNER) else {
        return;
    };
    let _owned = PrivatePcscd::start(Path::new(&directory)).unwrap();
    println!("\nowns one");
    // Until it is killed, or nobody is left who would.
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn it_ends_with_an_owner_that_is_killed() {
    let directory = short_directory();
    let mut owner = this_test_program("owner_of_one")
        .env(OWNER, directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let owns = lines
        .map_while(Result::ok)
        .find(|line| line.starts_with("owns"));
    let running = named_by_a_process(directory.path());
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(owns.is_some());
    assert!(running);
    until("pcscd ends with its owner", || {
        !named_by_a_process(directory.path())
    });
}
