pub(crate) mod any;
mod flipped;
mod refusals;
mod roles;
mod server;
mod sides;

use std::cell::{Cell, RefCell};

use keymark_bench::case::{CaseId, Pacing, StackName};
use keymark_bench::record::{CaseRecord, Record, RunId, RunState};
use keymark_bench::runner::Observer;
use keymark_bench::series::{InSeries, SeriesId};
use keymark_bench::stop::Stopped;
use keymark_testkit::assert_says;
use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::exchange::share::tests::telling;
use any::records;
use keymark_testkit::record::{block, head, mixed as record};

fn archive() -> (TempDir, Archive) {
    let directory = tempfile::tempdir().unwrap();
    let archive = Archive::open(&directory.path().join("runs.sqlite3")).unwrap();
    (directory, archive)
}

/// Each test with an archive in a file, and with one on a server.
macro_rules! with_either {
    ($($test:ident),* $(,)?) => {
        mod in_a_file {
            $(#[test]
            fn $test() {
                let (_directory, mut archive) = super::super::tests::archive();
                super::$test(&mut archive);
            })*
        }

        #[test]
        fn on_a_server() {
            let server = keymark_testkit::postgresql::Server::start();
            for (number, test) in [$($test),*].into_iter().enumerate() {
                let name = format!("archive{number}");
                server.psql("postgres", &format!("CREATE DATABASE {name}")).unwrap();
                let mut archive = Archive::open(&server.address("owner", &name)).unwrap();
                archive.set_identity(Identity::Kept, Vec::new);
                test(&mut archive);
            }
        }
    };
}
use with_either;

impl Archive {
    /// Connects another program to the file.
    fn sqlite(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }
}

with_either!(
    a_run_written_block_by_block_reads_back_whole,
    runs_are_found_from_the_end_and_by_their_beginning,
    runs_are_listed_in_brief_newest_first,
    a_name_is_taken_once,
    the_newest_run_that_has_a_case_tells_what_it_costs,
    any_record_survives_the_archive,
    what_is_of_somebody_comes_back_whole,
    an_import_that_was_broken_off_is_completed_by_the_next,
    a_run_that_was_broken_off_is_completed_from_its_copy,
);

fn only(archive: &Archive) -> Record {
    archive.load(&RunSelector::Last(0)).unwrap()
}

/// Reports the record to the writer as a runner does.
fn replay(writer: &mut RunWriter<'_>, record: &Record) {
    let ids = || (0..).map(CaseId).zip(&record.cases);
    writer.measuring(&record.harness.unwrap(), record.cases.len());
    for round in 0..3 {
        for (id, case) in ids() {
            let blocks = case.blocks.iter().filter(|block| block.round == round);
            blocks.for_each(|block| writer.block(id, block));
        }
    }
    ids().for_each(|(id, case)| writer.finished(id, case));
}

fn a_run_written_block_by_block_reads_back_whole(archive: &mut Archive) {
    let record = record("20261121-045027-0001");
    let mut writer = archive.begin(&head(&record)).unwrap();
    replay(&mut writer, &record);
    assert!(writer.error().is_none());
    writer.finish(RunState::Finished).unwrap();
    assert_eq!(only(archive), record);
}

/// A run that says whose it is. What was measured on a server is written down when it is over.
fn of_somebody() -> Record {
    let mut record = telling();
    for case in record
        .cases
        .iter_mut()
        .filter(|case| case.server_load.is_some())
    {
        case.ending = Some(Stopped::RuleMet.into());
    }
    record
}

/// Written block by block, and inserted.
fn what_is_of_somebody_comes_back_whole(archive: &mut Archive) {
    let whole = of_somebody();
    let mut writer = archive.begin(&head(&whole)).unwrap();
    replay(&mut writer, &whole);
    writer.finish(whole.state).unwrap();
    assert_eq!(only(archive), whole);
    archive.insert(&whole).unwrap();
    let other = Record {
        id: RunId("other".to_owned()),
        ..whole
    };
    archive.insert(&other).unwrap();
    assert_eq!(archive.load(&"other".parse().unwrap()).unwrap(), other);
    assert_eq!(archive.runs().unwrap().len(), 2);
}

fn an_import_that_was_broken_off_is_completed_by_the_next(archive: &mut Archive) {
    let whole = record("a");
    let blocks = |of: &Record| of.cases.iter().map(|case| case.blocks.len()).sum::<usize>();
    let mut part = whole.clone();
    for (left, case) in part.cases.iter_mut().enumerate() {
        case.blocks.truncate(left);
        case.ending = None;
    }
    part.state = RunState::Unfinished;
    assert!(blocks(&part) < blocks(&whole));
    archive.insert_in_parts(&part, 1).unwrap();
    archive.insert_in_parts(&whole, 1).unwrap();
    assert_eq!(only(archive), whole);
    archive.insert(&whole).unwrap();
    // Nor is it made less again.
    archive.insert(&part).unwrap();
    assert_eq!(only(archive), whole);
}

fn a_run_that_was_broken_off_is_completed_from_its_copy(archive: &mut Archive) {
    let whole = record("a");
    let mut writer = archive.begin(&head(&whole)).unwrap();
    writer.measuring(&whole.harness.unwrap(), whole.cases.len());
    for block in &whole.cases[0].blocks {
        writer.block(CaseId(0), block);
    }
    writer.finished(CaseId(0), &whole.cases[0]);
    writer.block(CaseId(1), &whole.cases[1].blocks[0]);
    drop(writer);
    archive.insert(&whole).unwrap();
    assert_eq!(only(archive), whole);
    // Of one of which nothing was measured yet.
    let other = Record {
        id: RunId("b".to_owned()),
        ..whole
    };
    drop(archive.begin(&head(&other)).unwrap());
    archive.insert(&other).unwrap();
    assert_eq!(archive.load(&"b".parse().unwrap()).unwrap(), other);
}

fn started(id: &str, second: u32, state: RunState) -> Record {
    let started = format!("2026-11-21T04:50:{second:02}Z").parse().unwrap();
    Record {
        started,
        state,
        ..record(id)
    }
}

fn runs_are_found_from_the_end_and_by_their_beginning(archive: &mut Archive) {
    for (id, second, state) in [
        ("20261121-02", 2, RunState::Finished),
        ("20261121-01", 1, RunState::Interrupted),
        ("20261121-011", 3, RunState::Finished),
        ("published-x", 9, RunState::Published),
    ] {
        archive.insert(&started(id, second, state)).unwrap();
    }
    let found = |name: &str| {
        let record = archive.load(&name.parse().unwrap());
        record.map(|record| record.id.0)
    };
    assert_eq!(found("last").unwrap(), "20261121-011");
    assert_eq!(found("last~2").unwrap(), "20261121-01");
    assert_eq!(found("20261121-02").unwrap(), "20261121-02");
    assert_eq!(
        found("20261121-01").unwrap(),
        "20261121-01",
        "a whole name goes before a beginning"
    );
    assert_eq!(found("pub").unwrap(), "published-x");
    let error = |name: &str| found(name).unwrap_err().to_string();
    assert_says(
        &error("2026"),
        ["3 runs begin with '2026' (20261121-01, 20261121-02, 20261121-011)"],
    );
    assert_says(&error("last~3"), ["it has 3"]);
    assert_says(&error("2025"), ["'keymark runs' lists"]);
    assert_says(&error("%"), ["no run '%'"]);
}

fn runs_are_listed_in_brief_newest_first(archive: &mut Archive) {
    assert_eq!(archive.runs().unwrap(), []);
    for (id, second, state) in [
        ("a", 1, RunState::Finished),
        ("b", 2, RunState::Interrupted),
    ] {
        archive.insert(&started(id, second, state)).unwrap();
    }
    let runs = archive.runs().unwrap();
    let ids: Vec<&str> = runs.iter().map(|line| &*line.id.0).collect();
    assert_eq!(ids, ["b", "a"]);
    let run = &runs[0];
    let counts = (run.state, run.cases, run.samples);
    assert_eq!(counts, (RunState::Interrupted, 3, 8));
    assert_eq!(run.devices, [keymark_bench::case::DeviceName::software()]);
    assert_eq!(run.algorithms, ["rsa2048", "rsa4096", "ed25519"]);
}

fn a_name_is_taken_once(archive: &mut Archive) {
    let first = record("a");
    archive.insert(&first).unwrap();
    archive.insert(&first).unwrap();
    let other = Record {
        state: RunState::Interrupted,
        ..first.clone()
    };
    let exists = Some(ArchiveFailure::Exists);
    assert_eq!(archive.insert(&other).unwrap_err().failure(), exists);
    let begun = archive.begin(&head(&first)).map(drop);
    assert_eq!(begun.unwrap_err().failure(), exists);
    assert_eq!(only(archive), first);
}

fn the_newest_run_that_has_a_case_tells_what_it_costs(archive: &mut Archive) {
    let old = started("old", 1, RunState::Finished);
    archive.insert(&old).unwrap();
    let mut new = started("new", 2, RunState::Finished);
    new.cases[0].blocks = vec![block(0, &[1_000, 3_000])];
    new.cases[1].blocks.clear();
    archive.insert(&new).unwrap();
    let means = archive.last_means().unwrap();
    let mean = |case: &CaseRecord| means.get(&case.case.key()).copied();
    assert_eq!(mean(&old.cases[0]), Some(Duration::from_nanos(2_000)));
    // The third was wrong and does not count.
    assert_eq!(mean(&old.cases[1]), Some(Duration::from_nanos(5_500_000)));
    assert_eq!(mean(&old.cases[2]), None, "its only operation failed");

    for second in 10..15 {
        let mut later = started(&format!("later-{second}"), second, RunState::Finished);
        for case in &mut later.cases {
            case.case.stack = StackName::AGENT;
        }
        archive.insert(&later).unwrap();
    }
    let means = archive.last_means().unwrap();
    assert_eq!(means.get(&old.cases[0].case.key()), None, "five runs ago");
}

#[test]
fn the_default_path_follows_the_variable_then_xdg() {
    let data = || Some(PathBuf::from("/home/x/.local/share/keymark"));
    let path = |named: Option<&str>| choose_path(named.map(Into::into), data).unwrap();
    assert_eq!(path(Some("/tmp/a.sqlite3")), Path::new("/tmp/a.sqlite3"));
    let usual = "/home/x/.local/share/keymark/runs.sqlite3";
    assert_eq!(path(None), Path::new(usual));
    assert_eq!(path(Some("")), path(None));
    assert_eq!(choose_path(None, || None), None);
}

fn any_record_survives_the_archive(archive: &mut Archive) {
    let config = ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let (archive, number) = (RefCell::new(archive), Cell::new(0));
    proptest!(config, |(mut record in records())| {
        number.set(number.get() + 1);
        record.id.0 += &format!("-{}", number.get());
        let mut archive = archive.borrow_mut();
        archive.insert(&record).unwrap();
        prop_assert_eq!(archive.load(&RunSelector::Id(record.id.0.clone())).unwrap(), record);
    });
}

/// Runs the query of `1.sql` and docs/output.md.
#[test]
fn the_view_of_latencies_says_what_each_sample_is_of() {
    let (_directory, mut archive) = archive();
    let mut whole = record("a");
    whole.cases[0].case.load.pacing = Pacing::Thinking(Duration::from_millis(1250));
    archive.insert(&whole).unwrap();
    let ask = "SELECT count(*) || ' ' || device || ' ' || stack || ' ' || workers || ' ' || worker_kind || ' '
                      || coalesce(rate, '-') || ' ' || coalesce(think_s, '-') || ' '
                      || coalesce(parameters ->> 'protection', '-')
               FROM latency WHERE latency_s > 0 GROUP BY \"case\" ORDER BY \"case\"";
    let lines: Vec<String> = archive.database.rows(ask, &[], |row| row.get(0)).unwrap();
    let of = |case: usize| {
        let blocks = whole.cases[case].blocks.iter();
        blocks.map(|block| block.samples.len()).sum::<usize>()
    };
    let expected = [
        format!("{} software raw 1 thread - 1.25 -", of(0)),
        format!("{} software gpg 1 thread - - -", of(1)),
        format!("{} software agent 4 thread 50.0 - cached", of(2)),
    ];
    assert_eq!(lines, expected);
}
