//! Properties of servers only: many writers, TLS, lost connections, full disks.

use std::path::Path;
use std::thread;

use keymark_testkit::postgresql::Server;

use super::super::*;
use super::{of_somebody, only, replay};
use keymark_bench::case::CaseId;
use keymark_bench::record::{Record, RunId, RunState};
use keymark_bench::runner::Observer;
use keymark_testkit::assert_says;
use keymark_testkit::record::{block, head, mixed as record};
use keymark_testkit::waiting::found;

const WRITERS: usize = 200;
/// Blocks whose samples are not all there, and samples without one.
const TORN: &str = "SELECT count(*) FROM keymark.block FULL JOIN
    (SELECT block, count(*) FROM keymark.sample GROUP BY 1) its ON block = id WHERE samples IS DISTINCT FROM coalesce(count, 0)";

fn owned(server: &Server) -> Archive {
    Archive::open(&server.address("owner", "keymark")).unwrap()
}

fn named(id: String) -> Record {
    Record {
        id: RunId(id),
        ..record("")
    }
}

#[test]
fn two_hundred_writers_at_once_lose_nothing() {
    let server = Server::start();
    let archive = owned(&server);
    let same = record("same");
    thread::scope(|scope| {
        for number in 0..WRITERS {
            let (server, same) = (&server, &same);
            scope.spawn(move || {
                let mut archive = owned(server);
                let whole = named(format!("run-{number:03}"));
                let mut writer = archive.begin(&head(&whole)).unwrap();
                replay(&mut writer, &whole);
                writer.finish(RunState::Finished).unwrap();
                // Some also bring the same run.
                if number % 20 == 0 {
                    match archive.insert_in_parts(same, 1) {
                        Err(error) if error.failure() != Some(ArchiveFailure::Locked) => {
                            panic!("{error}")
                        }
                        Ok(()) | Err(_) => {}
                    }
                }
            });
        }
    });
    assert_eq!(archive.runs().unwrap().len(), WRITERS + 1);
    for number in 0..WRITERS {
        let whole = named(format!("run-{number:03}"));
        let read = archive.load(&RunSelector::Id(whole.id.0.clone()));
        assert_eq!(read.unwrap(), whole);
    }
    owned(&server).insert(&same).unwrap();
    assert_eq!(archive.load(&"same".parse().unwrap()).unwrap(), same);
    assert_eq!(server.psql("keymark", TORN).as_deref(), Some("0"));
}

/// A run that is under way, with its copy here.
struct UnderWay<'a> {
    here: RunWriter<'a>,
    there: RunWriter<'a>,
}

impl UnderWay<'_> {
    fn block(&mut self, round: u32, samples: usize) {
        let block = block(round, &vec![1_000; samples]);
        self.here.block(CaseId(0), &block);
        self.there.block(CaseId(0), &block);
    }
}

fn unsent(place: &Path, server: &Server) -> Unsent {
    let run = RunId("a".to_owned());
    Unsent::new(place, &run, &server.address("owner", "keymark")).unwrap()
}

fn under_way<'a>(unsent: &'a mut Unsent, archive: &'a mut Archive) -> UnderWay<'a> {
    let head = head(&record("a"));
    UnderWay {
        here: unsent.archive.begin(&head).unwrap(),
        there: archive.begin(&head).unwrap(),
    }
}

/// Takes up what is here. A process that another test is starting may have the lock for a moment.
fn only_unsent(place: &Path) -> Unsent {
    found("nobody has what is unsent", || {
        Some(Unsent::all(place).unwrap().pop()?.unwrap())
    })
}

#[test]
fn a_full_disk_of_the_server_loses_nothing() {
    let server = Server::start();
    let place = tempfile::tempdir().unwrap();
    let mut kept = unsent(place.path(), &server);
    let mut archive = owned(&server);
    let mut run = under_way(&mut kept, &mut archive);
    run.block(0, 3);
    server.fill_disk();
    run.block(1, 50_000);
    let failure = run.there.error().and_then(ArchiveError::failure);
    assert_eq!(failure, Some(ArchiveFailure::Full));
    drop(run);
    let part = only(&owned(&server));
    assert_eq!(part.cases[0].blocks.len(), 1);
    drop(kept);
    let refused = only_unsent(place.path())
        .send(&mut owned(&server))
        .unwrap_err();
    assert_eq!(refused.failure(), Some(ArchiveFailure::Full), "{refused:?}");
    server.free_disk();
    only_unsent(place.path()).send(&mut owned(&server)).unwrap();
    let whole = only(&owned(&server));
    assert_eq!(whole.state, RunState::Unfinished, "nobody ended it");
    assert_eq!(whole.cases[0].blocks[1].samples.len(), 50_000);
    assert_eq!(server.psql("keymark", TORN).as_deref(), Some("0"));
}

#[test]
fn tls_is_spoken_with_whom_the_certificate_names() {
    let server = Server::start();
    let address = |host: &str, mode: &str, authority: &Path| {
        let (address, authority) = (server.address_at(host), authority.display());
        format!("{address}?sslmode={mode}&sslrootcert={authority}")
    };
    let own = server.certificate();
    let open = |address: String| Archive::open(Path::new(&address));
    let archive = open(address("localhost", "verify-full", &own)).unwrap();
    let encrypted = "SELECT count(*) FROM pg_stat_ssl WHERE ssl";
    assert_eq!(server.psql("keymark", encrypted).as_deref(), Some("1"));
    drop(archive);
    open(address("127.0.0.1", "verify-ca", &own)).unwrap();
    let other = open(address("127.0.0.1", "verify-full", &own)).unwrap_err();
    assert_says(&other, ["cannot reach archive", "IP address mismatch"]);
    let system = Path::new("/etc/ssl/certs/ca-certificates.crt");
    let unknown = open(address("localhost", "verify-full", system)).unwrap_err();
    assert_says(
        &unknown,
        ["cannot reach archive", "self-signed certificate"],
    );
    let nowhere = open(address("localhost", "verify-full", Path::new("/nowhere"))).unwrap_err();
    assert_says(
        &nowhere,
        ["cannot read certificates of /nowhere", "PGSSLROOTCERT"],
    );
}

#[test]
fn foreign_databases_and_odd_rows_are_refused() {
    let mut server = Server::start();
    let address = server.address("owner", "keymark");
    let mut archive = owned(&server);
    archive.set_identity(Identity::Kept, Vec::new);
    let whole = of_somebody();
    archive.insert(&whole).unwrap();
    let ask = |database: &str, statement: &str| server.psql(database, statement).unwrap();
    let change = "UPDATE keymark.identity SET whole = '{\"id\":1}'";
    ask("keymark", change);
    let damaged = archive.load(&RunSelector::Last(0)).unwrap_err();
    assert!(
        matches!(&damaged, ArchiveError::DamagedRun { run, .. } if *run == whole.id.0),
        "{damaged:?}"
    );
    ask("keymark", "UPDATE keymark.archive SET version = 7");
    assert_says(&Archive::open(&address).unwrap_err(), ["has version 7"]);
    ask("postgres", "CREATE DATABASE other");
    ask("other", "CREATE TABLE bookmarks (url text)");
    let foreign = Archive::open(&server.address("owner", "other")).unwrap_err();
    assert_eq!(
        foreign.failure(),
        Some(ArchiveFailure::Foreign),
        "{foreign:?}"
    );
    let nowhere = Archive::open(&server.address("owner", "nowhere")).unwrap_err();
    assert_says(&nowhere, ["database \"nowhere\" does not exist"]);
    server.stop();
    let gone = Archive::open(&address).unwrap_err();
    assert_eq!(
        gone.failure(),
        Some(ArchiveFailure::Unreachable),
        "{gone:?}"
    );
}
