use keymark_testkit::waiting::until;
use proptest::prelude::*;

use super::*;

fn write(place: &str) -> TestKeyWrite {
    let facts = |text: &str| serde_json::json!({ "attributes": text });
    TestKeyWrite {
        place: place.to_owned(),
        before: facts("010800002000"),
        test_key: facts("162b06"),
    }
}

fn token() -> TokenId {
    TokenId::new("0006:0a1b2c3d")
}

fn place() -> (tempfile::TempDir, Journals) {
    let directory = tempfile::tempdir().unwrap();
    let journals = Journals::within(directory.path().join("keymark/journal"));
    (directory, journals)
}

#[test]
fn what_a_dead_keymark_has_begun_is_found_and_what_a_live_one_has_is_not() {
    use std::os::unix::fs::PermissionsExt;
    let (_directory, journals) = place();
    let mut journal = journals.begin("20261121-0415", &token()).unwrap();
    journal.begin(write("SIG")).unwrap();
    journal.begin(write("DEC")).unwrap();
    journal.written("SIG").unwrap();
    journal.undone("SIG").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(journal.path()), mode(&journals.0)), (0o600, 0o700));
    assert!(journals.left().journals.is_empty(), "it is still running");
    drop(journal);
    let mut left = journals.left();
    assert!(left.unreadable.is_empty());
    let mut found = left.journals.remove(0);
    assert_eq!(found.content().run, "20261121-0415");
    assert_eq!(found.content().token, token());
    assert_eq!(
        found.content().open(),
        [(write("DEC"), WriteProgress::Begun)]
    );
    found.undone("DEC").unwrap();
    drop(found);
    assert!(journals.left().journals.is_empty(), "nothing is open");
    assert_eq!(fs::read_dir(&journals.0).unwrap().count(), 0);
}

#[test]
fn a_token_with_a_test_key_of_another_run_or_that_one_writes_to_is_left_to_it() {
    let (_directory, journals) = place();
    let mut first = journals.begin("first", &token()).unwrap();
    let refused = || journals.begin("second", &token()).unwrap_err().to_string();
    let writing = refused();
    assert!(writing.contains("run first is writing to it"), "{writing}");
    assert_eq!(fs::read_dir(&journals.0).unwrap().count(), 1);
    assert!(journals.begin("second", &TokenId::new("0006:1")).is_ok());
    first.begin(write("SIG")).unwrap();
    let path = first.path().to_owned();
    drop(first);
    // A program that another test starts holds all files, and so the lock, until it is executed.
    let left = "run first left a test key on it; 'keymark devices restore 0a1b2c3d'";
    until("the end of the lock", || refused().contains(left));
    fs::remove_file(path).unwrap();
    assert!(journals.begin("third", &token()).is_ok());
}

#[test]
fn a_line_that_was_being_written_is_no_line() {
    let (_directory, journals) = place();
    let mut journal = journals.begin("run", &token()).unwrap();
    journal.begin(write("SIG")).unwrap();
    journal.file.write_all(b"{\"undone\":{\"pla").unwrap();
    drop(journal);
    // A program that another test starts holds all files, and so the lock, until it is executed.
    until("the end of the lock", || {
        !journals.left().journals.is_empty()
    });
    let mut left = journals.left().journals;
    left[0].undone("SIG").unwrap();
    let text = fs::read_to_string(left[0].path()).unwrap();
    assert!(Content::parse(&text).unwrap().open().is_empty(), "{text}");
}

/// The test in a process of its own, whose files end in the middle of a line.
#[test]
fn a_line_that_does_not_fit_leaves_none_of_it() {
    const DIRECTORY: &str = "KEYMARK_TEST_SHORT_FILES";
    const NAME: &str = "journal::tests::a_line_that_does_not_fit_leaves_none_of_it";
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        let journals = Journals::within(directory.into());
        let mut journal = journals.begin("run", &token()).unwrap();
        let mut places = (0..100).map(|number| number.to_string());
        places
            .find(|place| journal.begin(write(place)).is_err())
            .unwrap();
        // A shorter line, which still fits.
        journal.written("0").unwrap();
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact \"$1\"";
    let ran = std::process::Command::new("sh")
        .args(["-c", limited])
        .arg(std::env::current_exe().unwrap())
        .arg(NAME)
        .env(DIRECTORY, directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}");
    let left = Journals::within(directory.path().to_owned()).left();
    assert!(left.unreadable.is_empty(), "{:?}", left.unreadable);
    let open = left.journals[0].content().open();
    assert_eq!(open[0], (write("0"), WriteProgress::Written));
}

#[test]
fn what_is_no_journal_is_said_and_kept() {
    let (_directory, journals) = place();
    fs::create_dir_all(&journals.0).unwrap();
    let path = journals.0.join("x.journal");
    for text in [
        "",
        "{}\n",
        "{\"journal\":{\"format\":2,\"run\":\"\",\"token\":\"\"}}\n",
    ] {
        fs::write(&path, text).unwrap();
        let left = journals.left();
        assert_eq!(
            (left.journals.len(), left.unreadable.len()),
            (0, 1),
            "{text}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_journal_cut_anywhere_says_no_more_than_it_did(cut in 0..400usize) {
        let lines = [
            JournalLine::Journal { format: FORMAT, run: "run".to_owned(), token: token() },
            JournalLine::Write(write("SIG")),
            JournalLine::Written { place: "SIG".to_owned() },
            JournalLine::Undone { place: "SIG".to_owned() },
        ];
        let text: String = lines.iter()
            .map(|line| serde_json::to_string(line).unwrap() + "\n")
            .collect();
        let cut = cut.min(text.len());
        let whole = text[..cut].matches('\n').count();
        match Content::parse(&text[..cut]) {
            Ok(content) => prop_assert_eq!(content.open().len(), usize::from((2..4).contains(&whole))),
            Err(_) => prop_assert_eq!(whole, 0),
        }
    }
}
