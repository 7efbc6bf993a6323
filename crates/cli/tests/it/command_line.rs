//! The command line, pinned case by case: in `cmd`, where nothing is in the archive, and in
//! `published`, where the figures of an article are put there.

use std::fs;
use std::path::Path;

use keymark_testkit::place::{Place, short_directory};
use keymark_testkit::{assert_says, assert_silent};

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

/// Every string of the sources, with its line breaks joined, without tests and definitions of the command line.
fn messages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = walkdir::WalkDir::new(root).into_iter().flatten();
    let mut found = Vec::new();
    for source in sources {
        let path = source.path().display().to_string();
        let is_source = path.contains("/src/") && path.ends_with(".rs");
        if !is_source || path.contains("/args/") || path.contains("tests") {
            continue;
        }
        let text = fs::read_to_string(source.path()).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let mut words = code.split('"').map(|piece| {
            let lines = piece.lines().map(|line| line.trim().trim_end_matches('\\'));
            lines.collect::<Vec<_>>().join(" ")
        });
        words.next();
        found.extend(words.map(|text| (path.clone(), text)));
    }
    found
}

#[test]
fn commands_in_messages_have_their_options() {
    let all = keymark::args::command();
    let (mut faults, mut options) = (Vec::new(), 0);
    for (path, text) in messages() {
        for quoted in text.split('\'').skip(1).step_by(2) {
            let mut words = quoted.split_whitespace().peekable();
            let is_command = words.next_if_eq(&"keymark").is_some();
            let mut command = &all;
            while let Some(found) = words.peek().and_then(|word| command.find_subcommand(word)) {
                command = found;
                words.next();
            }
            if command.get_name() == all.get_name() {
                if let Some(unknown) = words
                    .peek()
                    .filter(|word| is_command && !word.contains('{'))
                {
                    faults.push(format!("{path}: '{quoted}': there is no command {unknown}"));
                }
                continue;
            }
            for option in words.filter_map(|word| word.strip_prefix("--")) {
                let name = option.split('=').next().unwrap_or_default();
                let mut known = command.get_arguments().chain(all.get_arguments());
                options += 1;
                if !known.any(|argument| argument.get_long() == Some(name)) {
                    faults.push(format!("{path}: '{quoted}' has no --{name}"));
                }
            }
        }
    }
    assert!(
        options > 20,
        "only {options} options were found in messages"
    );
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn an_unknown_option_is_refused_without_a_misleading_tip() {
    let place = Place::new(env!("CARGO_BIN_EXE_keymark"));
    for (line, tip) in [
        ("show --theme dark", None),
        ("bench --published lwn", None),
        ("bench --algoritm rsa2048", Some("--algorithm")),
    ] {
        let said = place.refused(line, 2);
        match tip {
            Some(tip) => assert_says(&said, [tip]),
            None => assert_silent(&said, ["tip:", "--pause"]),
        }
    }
}
