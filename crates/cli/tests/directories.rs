//! The directory for temporary files: what keymark makes of it, and what it leaves alone there.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use keymark_testkit::place::{Place, text};

const KEYMARK: &str = env!("CARGO_BIN_EXE_keymark");

fn bench(place: &Place, stack: &str, directory: &OsStr) -> Output {
    let run = [
        "bench",
        "--algorithm",
        "ed25519",
        "--runs",
        "2",
        "--warmup",
        "0",
    ];
    let mut keymark = place.keymark(&[&run[..], &["--no-save", "--stack", stack]].concat());
    keymark.env("TMPDIR", directory).output().unwrap()
}

#[test]
fn where_no_socket_can_be_only_stacks_with_sockets_are_refused() {
    let place = Place::new(KEYMARK);
    let odd = place.temporary().as_os_str().as_bytes().to_vec();
    let odd = [odd.as_slice(), b"/\xff"].concat();
    let odd = OsStr::from_bytes(&odd);
    let long = place.temporary().join("x".repeat(100)).into_os_string();
    for (directory, reason) in [(odd, "UTF-8"), (&long, "the system allows 107")] {
        std::fs::create_dir(directory).unwrap();
        for stack in ["agent", "gnupg", "ssh"] {
            let refused = bench(&place, stack, directory);
            let said = text(&refused.stderr);
            assert!(!refused.status.success(), "{said}");
            assert!(
                said.contains(reason) && said.contains("set TMPDIR"),
                "{said}"
            );
        }
        let left_out = bench(&place, "raw,agent", directory);
        let said = text(&left_out.stderr);
        assert!(
            left_out.status.success() && said.contains("agent to software is left out"),
            "{said}"
        );
        let raw = bench(&place, "raw", directory);
        assert!(raw.status.success() && !text(&raw.stderr).contains(reason));
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
    }
}

#[test]
fn a_users_own_directory_of_a_like_name_is_left_alone() {
    let place = Place::new(KEYMARK);
    let own = place.temporary().join("keymark-notes");
    std::fs::create_dir(&own).unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(own.join("lock"), "").unwrap();
    // As a program of the user's that works in it.
    let mut reader = std::process::Command::new("tail")
        .arg("-f")
        .arg(own.join("lock"))
        .spawn()
        .unwrap();
    let run = bench(&place, "raw", place.temporary().as_os_str());
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert!(own.join("lock").exists());
    assert!(reader.try_wait().unwrap().is_none(), "it still runs");
    reader.kill().unwrap();
    reader.wait().unwrap();
}
