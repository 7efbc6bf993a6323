//! Child processes: this test program itself, and those that others have left.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The test program that is running, to run that one test alone: where the environment of a process
/// is what the test is about. A name that no test has is also a success.
pub fn this_test_program(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    command
}

/// Returns the number of processes, zombies aside, with the path among their arguments.
pub fn naming(path: &Path) -> usize {
    let needle = path.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|arguments| arguments.windows(needle.len()).any(|part| part == needle))
        .count()
}

/// A port of loopback that nobody had a moment ago.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Writes a program in shell. Another process writes it: one that this program's other threads start at that
/// moment would hold a file open that was written here, and the system runs no file that is.
pub fn write_script(path: &Path, lines: &str) {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"",
    ]);
    let status = command.arg(path).arg(lines).status().unwrap();
    assert!(status.success(), "{}: {status}", path.display());
}

/// Puts the installed programs of GnuPG into a directory, with a gpg in front of which lines of shell decide
/// first.
pub fn gnupg_with(directory: &Path, lines: &str) {
    for program in ["gpg-agent", "gpgconf", "gpg-connect-agent"] {
        let path = std::env::var_os("PATH").unwrap();
        let installed = std::env::split_paths(&path)
            .map(|place| place.join(program))
            .find(|file| file.is_file());
        std::os::unix::fs::symlink(installed.unwrap(), directory.join(program)).unwrap();
    }
    let installed = "PATH=/usr/local/bin:/usr/bin:/bin exec gpg \"$@\"";
    write_script(&directory.join("gpg"), &format!("{lines}\n{installed}"));
}

/// Compiles C in a directory next to this test program, once.
pub fn compiled(name: &str, arguments: &[&str]) -> PathBuf {
    let place = std::env::current_exe().unwrap().with_extension("c");
    std::fs::create_dir_all(&place).unwrap();
    let made = place.join(std::process::id().to_string());
    let mut compiler = Command::new("cc");
    compiler
        .args(["-std=gnu11", "-o"])
        .arg(&made)
        .args(arguments);
    assert!(compiler.status().unwrap().success(), "{compiler:?}");
    // Another process of this program may have it open.
    let file = place.join(name);
    std::fs::rename(made, &file).unwrap();
    file
}

/// The C library of a package of this workspace. Cargo does not build a cdylib for the tests of its package; this does, in
/// the same target directory and profile.
pub fn built_library(package: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let test = std::env::current_exe().unwrap();
        let profile = test.parent().and_then(Path::parent).unwrap();
        let mut build = Command::new(env!("CARGO"));
        build
            .args(["build", "--offline", "--quiet", "--package", package])
            .arg("--target-dir")
            .arg(profile.parent().unwrap())
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success());
        profile.join(format!("lib{}.so", package.replace('-', "_")))
    };
    BUILT.get_or_init(build).clone()
}
