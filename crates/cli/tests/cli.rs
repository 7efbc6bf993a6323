//! The command line, pinned case by case: in `cmd`, where nothing is in the archive, and in
//! `published`, where the figures of an article are put there.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::path::Path;

/// Runs the cases with an archive of their own, which is not there yet.
fn pinned(cases: &str, archive: &str) {
    let archive = Path::new(env!("CARGO_TARGET_TMPDIR")).join(archive);
    for suffix in ["", "-wal", "-shm"] {
        let mut file = archive.clone().into_os_string();
        file.push(suffix);
        // What an earlier test run left.
        let _ = std::fs::remove_file(file);
    }
    trycmd::TestCases::new()
        .env("KEYMARK_ARCHIVE", archive.to_str().unwrap())
        .env("COLUMNS", "100")
        // No cards, whatever pcscd there is.
        .env("PCSCLITE_CSOCK_NAME", "/nonexistent")
        .case(cases);
}

#[test]
fn the_command_line_behaves_as_pinned() {
    pinned("tests/cmd/*.trycmd", "trycmd-empty.sqlite3");
}

#[test]
fn published_figures_go_the_whole_way() {
    pinned("tests/published/*.trycmd", "trycmd-published.sqlite3");
}
