//! Child processes: this test program itself, and those that others have left.

use std::path::Path;
use std::process::Command;

/// The test program that is running, to run that one test alone: where the environment of a process
/// is what the test is about. A name that no test has is a success as well.
///
/// # Panics
/// When the program cannot be found.
#[must_use]
pub fn this_test_program(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    command
}

/// How many processes, zombies aside, have the path among their arguments.
///
/// # Panics
/// Without `/proc`.
#[must_use]
pub fn naming(path: &Path) -> usize {
    let needle = path.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|arguments| arguments.windows(needle.len()).any(|part| part == needle))
        .count()
}
