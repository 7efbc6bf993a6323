//! The command line, pinned case by case in `cmd/*.trycmd`.

#[test]
fn the_command_line_behaves_as_pinned() {
    // An archive that no case writes to is shared by those that only look.
    trycmd::TestCases::new()
        .env(
            "KEYMARK_ARCHIVE",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/trycmd-empty.sqlite3"),
        )
        .env("COLUMNS", "100")
        .case("tests/cmd/*.trycmd");
}
