use std::fs;

use keymark_bench::case::CaseId;
use keymark_bench::record::RunState;
use keymark_bench::runner::Observer;
use keymark_testkit::assert_says;
use rusqlite::Connection;

use super::super::*;
use super::{archive, only};
use keymark_testkit::record::{block, head, mixed as record};

#[test]
fn a_full_disk_ends_the_writing_but_not_the_run() {
    let (_directory, mut archive) = archive();
    let whole = record("20261121-045027-0001");
    let pages: u32 = archive.database.value("PRAGMA page_count", &[]).unwrap();
    let limit = format!("PRAGMA max_page_count = {}", pages + 2);
    archive.database.execute(&limit, &[]).unwrap();
    let mut writer = archive.begin(&head(&whole)).unwrap();
    writer.block(CaseId(0), &block(0, &[1]));
    writer.block(CaseId(0), &block(1, &[1; 10_000]));
    let failure = writer.error().and_then(ArchiveError::failure);
    assert_eq!(failure, Some(ArchiveFailure::Full));
    writer.block(CaseId(0), &block(2, &[1]));
    let error = writer.finish(RunState::Finished).unwrap_err();
    assert_says(&error, ["no space left"]);
    let kept = only(&archive);
    assert_eq!(kept.state, RunState::Unfinished);
    assert_eq!(kept.cases[0].blocks, [block(0, &[1])]);
}

/// Locks the archive like another keymark.
fn locked(archive: &Archive) -> Connection {
    let other = Connection::open(archive.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

#[test]
fn a_lock_delays_the_writing_and_loses_nothing() {
    let (_directory, mut archive) = archive();
    let reading = Archive::open(archive.path()).unwrap();
    let whole = record("20261121-045027-0001");
    let other = locked(&archive);
    let mut writer = archive.begin(&head(&whole)).unwrap();
    writer.block(CaseId(0), &block(0, &[1, 2]));
    assert!(!writer.is_up_to_date() && writer.error().is_none());
    assert!(reading.runs().unwrap().is_empty());
    other.execute_batch("ROLLBACK").unwrap();
    writer.block(CaseId(1), &block(0, &[3]));
    assert!(writer.is_up_to_date());
    let other = locked(&reading);
    writer.block(CaseId(0), &block(1, &[4]));
    writer.finished(CaseId(0), &whole.cases[0]);
    assert!(!writer.is_up_to_date());
    other.execute_batch("ROLLBACK").unwrap();
    writer.finish(RunState::Finished).unwrap();
    let kept = only(&archive);
    assert_eq!(kept.state, RunState::Finished);
    assert_eq!(kept.cases[0].blocks, [block(0, &[1, 2]), block(1, &[4])]);
    assert_eq!(kept.cases[1].blocks, [block(0, &[3])]);
    assert_eq!(kept.cases[0].ending, whole.cases[0].ending);
}

#[test]
fn an_archive_that_stays_locked_is_said_to_be() {
    let (_directory, mut archive) = archive();
    let other = locked(&archive);
    let whole = record("a");
    let mut writer = archive.begin(&head(&whole)).unwrap();
    writer.block(CaseId(0), &block(0, &[1]));
    let error = writer.finish_within(RunState::Finished, Duration::ZERO);
    let error = error.unwrap_err();
    assert_eq!(error.failure(), Some(ArchiveFailure::Locked), "{error:?}");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(archive.runs().unwrap().is_empty());
}

#[test]
fn many_may_open_a_new_archive_at_once() {
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.sqlite3");
        std::thread::scope(|scope| {
            let opening: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| Archive::open(&path).map(drop)))
                .collect();
            for opened in opening {
                opened.join().unwrap().unwrap();
            }
        });
    }
}

#[test]
fn what_is_no_archive_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let foreign = |error: ArchiveError| {
        assert_eq!(error.failure(), Some(ArchiveFailure::Foreign), "{error:?}");
    };

    let text = "A comparison of cryptographic keycards. ".repeat(100);
    fs::write(&path, &text).unwrap();
    foreign(Archive::open(&path).unwrap_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), text);

    fs::remove_file(&path).unwrap();
    let bookmarks = "CREATE TABLE bookmarks (url); PRAGMA user_version = 4";
    let other = Connection::open(&path).unwrap();
    other.execute_batch(bookmarks).unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    foreign(Archive::open(&path).unwrap_err());
    assert_eq!(fs::read(&path).unwrap(), before);

    foreign(Archive::open(directory.path()).unwrap_err());

    // SQLite takes these for an empty file.
    for length in [1, 99, 511] {
        let short = directory.path().join(length.to_string());
        fs::write(&short, vec![b'x'; length]).unwrap();
        for open in [Archive::open, Archive::open_to_read] {
            foreign(open(&short).unwrap_err());
        }
        assert_eq!(fs::read(&short).unwrap(), vec![b'x'; length]);
    }
}

#[test]
fn an_archive_of_another_version_is_refused_and_left_as_it_is() {
    let (_directory, archive) = archive();
    for version in [0, 2, 9] {
        let set = archive
            .sqlite()
            .pragma_update(None, "user_version", version);
        set.unwrap();
        let expected = format!("has version {version}, but this keymark reads version 1 only");
        for opened in [Archive::open, Archive::open_to_read] {
            let error = opened(archive.path()).unwrap_err().to_string();
            assert_says(&error, [&expected]);
        }
    }
}
