//! The command line, pinned case by case: in `cmd`, where nothing is in the archive, and in
//! `published`, where the figures of an article are put there.

use keymark_testkit::place::short_directory;

/// Runs the cases with an archive of their own, which is not there yet. Where lines are broken depends on the length
/// of its path, which is the same everywhere.
fn pinned(cases: &str, archive: &str) {
    let directory = short_directory();
    trycmd::TestCases::new()
        .env(
            "KEYMARK_ARCHIVE",
            directory.path().join(archive).to_str().unwrap(),
        )
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
