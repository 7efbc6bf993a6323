//! The directory for temporary files: what keymark makes of it, and what it leaves alone there.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use keymark_testkit::place::{Ends, Place, SHORT, Transcript};
use keymark_testkit::{assert_says, assert_silent};

use crate::KEYMARK;

fn bench(place: &Place, stack: &str, directory: &OsStr, status: i32) -> Transcript {
    let run = "bench --algorithm ed25519 --samples 2 --warmup 0 --no-save --stack";
    let mut keymark = place.keymark(&format!("{run} {stack}"));
    keymark.env("TMPDIR", directory).ends(status)
}

#[test]
fn where_no_socket_can_be_only_stacks_with_sockets_are_refused() {
    let place = Place::new(KEYMARK);
    let odd = place.temporary().as_os_str().as_bytes().to_vec();
    let odd = [odd.as_slice(), b"/\xff"].concat();
    let odd = OsStr::from_bytes(&odd);
    let long = place.temporary().join("x".repeat(100)).into_os_string();
    for (directory, reason) in [(odd, "UTF-8"), (&long, "107")] {
        std::fs::create_dir(directory).unwrap();
        for stack in ["agent", "gpg", "ssh"] {
            let refused = bench(&place, &format!("{stack} --format json"), directory, 3);
            assert_says(&refused.stderr, [reason, "set TMPDIR"]);
            assert_eq!(refused.stdout, "");
        }
        let left_out = bench(&place, "raw,agent", directory, 0);
        assert_says(&left_out.stderr, ["agent on software:"]);
        assert_silent(&bench(&place, "raw", directory, 0).stderr, [reason]);
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
    }
}

#[test]
fn a_users_own_directory_of_a_like_name_is_left_alone() {
    let place = Place::new(KEYMARK);
    let own = place.temporary().join("keymark-notes");
    std::fs::create_dir(&own).unwrap();
    set_mode(&own, 0o700);
    std::fs::write(own.join("lock"), "").unwrap();
    // As a program of the user's that works in it.
    let mut reader = Command::new("tail");
    let mut reader = reader.arg("-f").arg(own.join("lock")).spawn().unwrap();
    bench(&place, "raw", place.temporary().as_os_str(), 0);
    assert!(own.join("lock").exists());
    assert!(reader.try_wait().unwrap().is_none(), "it still runs");
    reader.kill().unwrap();
    reader.wait().unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// An unprivileged user.
fn as_nobody(command: &mut Command) -> &mut Command {
    if nix::unistd::Uid::effective().is_root() {
        command.uid(65534).gid(65534);
    }
    command
}

#[test]
fn an_archive_is_its_owners_alone() {
    let place = Place::new(KEYMARK);
    let archive = place.path("data/keymark/runs.sqlite3");
    place
        .keymark(SHORT)
        .env("KEYMARK_ARCHIVE", &archive)
        .ends(0);
    assert_eq!(mode(&archive), 0o600);
    assert_eq!(mode(&place.path("data/keymark")), 0o700);
    // What SQLite puts next to it while it is open.
    let open = rusqlite::Connection::open(&archive).unwrap();
    open.execute("UPDATE run SET state = state", ()).unwrap();
    for beside in ["-wal", "-shm"] {
        let beside = place.path(&format!("data/keymark/runs.sqlite3{beside}"));
        assert_eq!(mode(&beside), 0o600, "{}", beside.display());
    }
}

#[test]
fn an_archive_that_cannot_be_written_is_read() {
    let place = Place::new(KEYMARK);
    let data = place.path("a ?#%41 place");
    let archive = data.join("runs.sqlite3");
    place
        .keymark(SHORT)
        .env("KEYMARK_ARCHIVE", &archive)
        .ends(0);
    let read = |arguments: &str, status| {
        let mut command = place.keymark(arguments);
        as_nobody(command.env("KEYMARK_ARCHIVE", &archive))
            .ends(status)
            .said()
    };
    let before = std::fs::read(&archive).unwrap();
    set_mode(place.directory(), 0o755);
    set_mode(&place.temporary(), 0o777);
    let report = place.temporary().join("report.html");
    let report = report.to_string_lossy();
    for (of_file, of_directory) in [(0o444, 0o555), (0o444, 0o777), (0o666, 0o555)] {
        set_mode(&archive, of_file);
        set_mode(&data, of_directory);
        for arguments in ["runs", "show last", "export last --format csv"] {
            assert_says(&read(arguments, 0), ["rsa2048"]);
        }
        read(&format!("export last -o {report}"), 0);
    }
    set_mode(&archive, 0o444);
    read("import /dev/null", 1);
    assert_eq!(std::fs::read(&archive).unwrap(), before);
    // Runs that are in the log alone are not passed over in silence: here as a program leaves them that was killed.
    set_mode(&archive, 0o644);
    set_mode(&data, 0o755);
    let open = rusqlite::Connection::open(&archive).unwrap();
    open.execute("UPDATE run SET state = 'interrupted'", ())
        .unwrap();
    let log = data.join("runs.sqlite3-wal");
    let kept = [&archive, &log].map(|file| std::fs::read(file).unwrap());
    drop(open);
    std::fs::write(&archive, &kept[0]).unwrap();
    std::fs::write(&log, &kept[1]).unwrap();
    set_mode(&data, 0o555);
    assert_says(&read("runs", 1), ["killed"]);
    set_mode(&data, 0o755);
}
