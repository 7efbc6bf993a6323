//! What holds of SQLite's archive, with a real PostgreSQL server.

use std::path::Path;

use keymark_testkit::postgresql::Server;

use super::super::*;
use super::{replay, started};
use keymark_bench::case::CaseId;
use keymark_bench::record::{Record, RunState};
use keymark_bench::runner::Observer;
use keymark_testkit::assert_says;
use keymark_testkit::record::{block, head, mixed as record};

fn kept(archive: &Archive, id: &str) -> Record {
    archive.load(&id.parse().unwrap()).unwrap()
}

#[test]
fn a_team_archive_keeps_finds_and_refuses_as_a_file_does() {
    let server = Server::start();
    let address = server.address("owner", "keymark");
    let mut archive = Archive::open(&address).unwrap();
    assert_eq!(archive.runs().unwrap(), []);

    let whole = record("20261121-045027-0001");
    let mut writer = archive.begin(&head(&whole)).unwrap();
    replay(&mut writer, &whole);
    writer.finish(RunState::Finished).unwrap();
    assert_eq!(kept(&archive, "last"), whole);
    let mut writer = archive.begin(&head(&record("killed"))).unwrap();
    writer.block(CaseId(0), &block(0, &[1, 2]));
    drop(writer);
    let killed = kept(&Archive::open(&address).unwrap(), "killed");
    assert_eq!(
        (killed.state, &killed.cases[0].blocks),
        (RunState::Unfinished, &vec![block(0, &[1, 2])])
    );

    archive.insert(&whole).unwrap();
    let other = Record {
        state: RunState::Interrupted,
        ..whole.clone()
    };
    assert!(matches!(
        archive.insert(&other),
        Err(ArchiveError::Exists { .. })
    ));
    let later = started("later", 59, RunState::Finished);
    archive.insert(&later).unwrap();
    let file = tempfile::tempdir().unwrap();
    let mut local = Archive::open(&file.path().join("runs.sqlite3")).unwrap();
    for id in [&whole.id.0, "killed", "later"] {
        local.insert(&kept(&archive, id)).unwrap();
    }
    assert_eq!(local.runs().unwrap(), archive.runs().unwrap());
    assert_eq!(local.last_means().unwrap(), archive.last_means().unwrap());
    let words = CaseWords::new(["rsa2048"]);
    let ids = |archive: &Archive| -> Vec<_> {
        let past = archive.history(&words).unwrap().into_iter();
        past.map(|past| (past.run, past.mean)).collect()
    };
    assert_eq!(ids(&local), ids(&archive));
    assert_eq!(ids(&archive).len(), 2);
    let search = RunSearch {
        algorithm: Some("RSA40".to_owned()),
        ..RunSearch::default()
    };
    let window = Window { skip: 0, take: 9 };
    assert_eq!(
        local.search(&search, window).unwrap(),
        archive.search(&search, window).unwrap()
    );
    let between = |archive: &Archive| archive.between_runs(&[&whole], &[]).unwrap();
    assert_eq!(between(&local), between(&archive));

    refuses(server, &archive, &address);
}

/// What was tampered with, what is none of ours, and nobody.
fn refuses(server: Server, archive: &Archive, address: &Path) {
    let ask = |statement: &str| server.psql("keymark", statement).unwrap();
    ask("DELETE FROM keymark.sample WHERE number = 0");
    assert!(matches!(
        archive.load(&"last".parse().unwrap()),
        Err(ArchiveError::Damaged { .. })
    ));
    ask("UPDATE keymark.archive SET version = 7");
    assert_says(&Archive::open(address).unwrap_err(), ["has version 7"]);
    ask("CREATE DATABASE other");
    server
        .psql("other", "CREATE TABLE bookmarks (url text)")
        .unwrap();
    let foreign = Archive::open(&server.address("owner", "other")).unwrap_err();
    assert!(matches!(foreign, ArchiveError::Foreign(_)), "{foreign:?}");
    let nowhere = Archive::open(&server.address("owner", "nowhere")).unwrap_err();
    assert_says(&nowhere, ["database \"nowhere\" does not exist"]);
    drop(server);
    let gone = Archive::open(address).unwrap_err();
    assert!(matches!(gone, ArchiveError::Unreachable { .. }), "{gone:?}");
}
