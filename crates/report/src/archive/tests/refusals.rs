use std::fs;

use keymark_bench::case::CaseId;
use keymark_bench::record::RunState;
use keymark_bench::runner::Observer;
use rusqlite::ErrorCode;

use super::super::*;
use super::{archive, only};
use crate::testing::{block, head, record};

#[test]
fn a_full_disk_ends_the_writing_but_not_the_run() {
    let (_directory, mut archive) = archive();
    let whole = record("20261121-045027-0001");
    let pages: u32 = archive
        .connection
        .query_row("PRAGMA page_count", (), |row| row.get(0))
        .unwrap();
    archive
        .connection
        .pragma_update(None, "max_page_count", pages + 2)
        .unwrap();
    let mut writer = archive.begin(&head(&whole)).unwrap();
    writer.block(CaseId(0), &block(0, &[1]));
    writer.block(CaseId(0), &block(1, &[1; 10_000]));
    assert!(
        matches!(writer.error(), Some(ArchiveError::Full(_))),
        "{:?}",
        writer.error()
    );
    writer.block(CaseId(0), &block(2, &[1]));
    let error = writer.finish(RunState::Finished).unwrap_err();
    assert!(error.to_string().contains("no room left"), "{error}");
    let kept = only(&archive);
    assert_eq!(kept.state, RunState::Unfinished);
    assert_eq!(kept.cases[0].blocks, [block(0, &[1])]);
}

#[test]
fn a_locked_archive_is_said_to_be() {
    let (_directory, mut archive) = archive();
    archive.connection.busy_timeout(Duration::ZERO).unwrap();
    let other = Connection::open(archive.path()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = archive.begin(&record("a")).unwrap_err();
    assert!(matches!(error, ArchiveError::Locked(_)), "{error:?}");
    other.execute_batch("ROLLBACK").unwrap();
    archive.begin(&record("a")).unwrap();
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
    let foreign =
        |error: ArchiveError| assert!(matches!(error, ArchiveError::Foreign(_)), "{error:?}");

    fs::write(
        &path,
        "A comparison of cryptographic keycards. ".repeat(100),
    )
    .unwrap();
    foreign(Archive::open(&path).unwrap_err());
    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .starts_with("A comparison")
    );

    fs::remove_file(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE bookmarks (url); PRAGMA user_version = 4")
        .unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    foreign(Archive::open(&path).unwrap_err());
    assert_eq!(fs::read(&path).unwrap(), before);

    foreign(Archive::open(directory.path()).unwrap_err());
}

#[test]
fn an_archive_of_a_newer_keymark_is_refused() {
    let (_directory, archive) = archive();
    archive
        .connection
        .pragma_update(None, "user_version", 5)
        .unwrap();
    let error = Archive::open(archive.path()).unwrap_err().to_string();
    assert!(
        error.contains("is of version 5, this keymark reads up to 4; update keymark"),
        "{error}"
    );
}

#[test]
fn a_damaged_archive_is_said_to_be() {
    let (_directory, mut archive) = archive();
    archive.insert(&record("a")).unwrap();
    archive
        .connection
        .execute("UPDATE run SET plan = '{'", ())
        .unwrap();
    let error = archive.load(&RunSelector::Last(0)).unwrap_err();
    assert!(matches!(error, ArchiveError::Damaged { .. }), "{error:?}");
}

#[cfg(unix)]
#[test]
fn missing_permission_is_told_from_a_read_only_directory() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, archive) = archive();
    let path = archive.path().to_owned();
    drop(archive);
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(directory.path().join("probe"), "").is_ok() {
        return; // root may do anything
    }
    let error = Archive::open(&path).unwrap_err();
    assert!(matches!(error, ArchiveError::ReadOnly(_)), "{error:?}");
    let error = Archive::open(&directory.path().join("new")).unwrap_err();
    assert!(matches!(error, ArchiveError::NoPermission(_)), "{error:?}");
}

#[test]
fn each_code_has_its_own_error() {
    let failure = |code| {
        let error = rusqlite::ffi::Error {
            code,
            extended_code: 0,
        };
        ArchiveError::of_sqlite(Path::new("/x"), rusqlite::Error::SqliteFailure(error, None))
    };
    assert!(matches!(
        failure(ErrorCode::NotADatabase),
        ArchiveError::Foreign(_)
    ));
    assert!(matches!(
        failure(ErrorCode::DatabaseBusy),
        ArchiveError::Locked(_)
    ));
    assert!(matches!(
        failure(ErrorCode::DiskFull),
        ArchiveError::Full(_)
    ));
    assert!(matches!(
        failure(ErrorCode::ReadOnly),
        ArchiveError::ReadOnly(_)
    ));
    assert!(matches!(
        failure(ErrorCode::CannotOpen),
        ArchiveError::ReadOnly(_)
    ));
    assert!(matches!(
        failure(ErrorCode::PermissionDenied),
        ArchiveError::NoPermission(_)
    ));
    assert!(matches!(
        failure(ErrorCode::DatabaseCorrupt),
        ArchiveError::Damaged { .. }
    ));
    let io = |kind: std::io::ErrorKind| ArchiveError::of_io(Path::new("/x"), kind.into());
    assert!(matches!(
        io(std::io::ErrorKind::PermissionDenied),
        ArchiveError::NoPermission(_)
    ));
    assert!(matches!(
        io(std::io::ErrorKind::StorageFull),
        ArchiveError::Full(_)
    ));
    assert!(matches!(
        io(std::io::ErrorKind::ReadOnlyFilesystem),
        ArchiveError::ReadOnly(_)
    ));
}
