//! Archives of every version that was released.

use std::fs;
use std::path::Path;

use keymark_bench::case::{
    Arrangement, Case, DeviceName, KeyExchange, Library, Load, OpenSslWay, Pacing, Parameters,
    Provenance, Scheme, SshAgent, StackName, StoreKind, TlsVersion, Worker,
};
use keymark_bench::error::ReturnCode;
use keymark_bench::operation::Operation;
use keymark_bench::parts::{Part, PartSums, Parts};
use keymark_bench::plan::Selection;
use keymark_bench::record::{CaseRecord, PublishedMean, Record};
use keymark_bench::sample::Stretch;
use keymark_bench::series::{InSeries, SeriesId};
use keymark_stats::{Band, Seconds};

use super::super::*;
use super::{archive, only};
use crate::testing::{block, record, server_load};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

fn golden() -> Record {
    record("20261121-045027-0001")
}

/// The file was made once, when its version was released; it never changes again.
fn loads(file: &str) -> Record {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runs.sqlite3");
    fs::copy(Path::new(GOLDEN).join(file), &path).unwrap();
    only(&Archive::open(&path).unwrap())
}

#[test]
fn the_archive_of_version_1_still_loads() {
    assert_eq!(loads("archive-1.sqlite3"), golden());
}

#[test]
fn the_archive_of_version_2_still_loads() {
    let mut expected = golden();
    expected.cases[0].parts = Some(parts());
    assert_eq!(loads("archive-2.sqlite3"), expected);
}

/// What version 3 has over 2.
fn golden_3() -> Record {
    let mut record = golden();
    record.cases[0].parts = Some(parts());
    let refused = ReturnCode::status_word(0x6982);
    record.cases[1].ending.as_mut().unwrap().code = Some(refused);
    let asked = Case {
        stack: StackName::of("ssh"),
        parameters: Parameters::Ssh {
            agent: SshAgent::GpgAgent,
        },
        load: Load {
            pacing: Pacing::Thinking(Duration::from_millis(250)),
            ..Load::single()
        },
        ..record.cases[2].case.clone()
    };
    record.plan.cases[2] = asked.clone();
    record.cases[2] = CaseRecord {
        case: asked,
        blocks: vec![block(1, &[400])],
        ..record.cases[2].clone()
    };
    record
}

#[test]
fn the_archive_of_version_3_still_loads() {
    assert_eq!(loads("archive-3.sqlite3"), golden_3());
}

/// What version 4 has over 3.
fn golden_4() -> Record {
    let mut record = golden_3();
    record.plan.cases[0].load.worker = Worker::Process;
    record.cases[0].case.load.worker = Worker::Process;
    record.cases[2].blocks[0].queue = Some(Stretch {
        length_ns: 500_000_000,
        waiting: 3,
    });
    record
}

#[test]
fn the_archive_of_version_4_still_loads() {
    assert_eq!(loads("archive-4.sqlite3"), golden_4());
}

/// What version 5 has over 4.
fn golden_5() -> Record {
    let mut record = golden_4();
    let library = Library::Libgcrypt;
    record.plan.cases[0].parameters = Parameters::Library { library };
    record.cases[0].case.parameters = Parameters::Library { library };
    record.series = Some(InSeries {
        id: SeriesId("20261121-045000-0001-b".to_owned()),
        number: 2,
        runs: 5,
        pause: Duration::from_millis(2_750),
        against: Some(SeriesId("20261121-045000-0001-a".to_owned())),
    });
    record
}

#[test]
fn the_archive_of_version_5_still_loads() {
    assert_eq!(loads("archive-5.sqlite3"), golden_5());
}

/// What version 6 has over 5.
fn golden_6() -> Record {
    let mut record = golden_5();
    let way = OpenSslWay::Engine;
    record.plan.cases[1].parameters = Parameters::OpenSsl { way };
    record.cases[1].case.parameters = Parameters::OpenSsl { way };
    let scheme = Scheme::Pss;
    let mut other = record.cases[0].clone();
    other.case.parameters = Parameters::Scheme { scheme };
    record.plan.cases.push(other.case.clone());
    record.cases.push(other);
    record
}

#[test]
fn the_archive_of_version_6_still_loads() {
    assert_eq!(loads("archive-6.sqlite3"), golden_6());
}

/// What version 7 has over 6.
fn golden_7() -> Record {
    let mut record = golden_6();
    let case = Case {
        operation: Operation::Handshake,
        stack: StackName::of("nginx"),
        parameters: Parameters::Tls {
            version: TlsVersion::V1_3,
            key_exchange: KeyExchange::X25519MlKem768,
            arrangement: Arrangement::One,
        },
        ..record.cases[0].case.clone()
    };
    let load = CaseRecord {
        ending: record.cases[0].ending.clone(),
        server_load: Some(Box::new(server_load())),
        ..CaseRecord::new(case.clone())
    };
    record.plan.cases.push(case);
    record.cases.push(load);
    record
}

#[test]
fn the_archive_of_version_7_still_loads() {
    assert_eq!(loads("archive-7.sqlite3"), golden_7());
}

/// What version 8 has over 7.
fn golden_8() -> Record {
    let mut record = golden_7();
    let case = Case {
        device: DeviceName::new("cortex-m3"),
        store: StoreKind::REPORTED,
        provenance: Provenance::Predicted,
        stack: StackName::RAW,
        parameters: Parameters::None,
        load: Load::single(),
        ..record.cases[0].case.clone()
    };
    let predicted = CaseRecord {
        published: Some(PublishedMean {
            mean: Seconds(1.25),
            n: None,
            note: "90000000 cycles at 72 MHz".to_owned(),
            band: Some(Band {
                low: Seconds(1.0),
                high: Seconds(1.5),
            }),
        }),
        ..CaseRecord::new(case.clone())
    };
    record.plan.cases.push(case);
    record.cases.push(predicted);
    record
}

#[test]
fn the_archive_of_version_8_still_loads() {
    // Set when a version is released, to make its file.
    if std::env::var_os("KEYMARK_WRITE_GOLDEN").is_some() {
        let path = Path::new(GOLDEN).join("archive-8.sqlite3");
        if !path.exists() {
            Archive::open(&path).unwrap().insert(&golden_8()).unwrap();
        }
    }
    assert_eq!(loads("archive-8.sqlite3"), golden_8());
}

/// What the head of 1.sql and docs/output.md tell people to ask.
#[test]
fn the_view_of_latencies_is_read_in_archives_of_every_version() {
    let all = "SELECT (SELECT count(*) FROM latency WHERE worker >= 0 AND latency_s >= 0),
                      (SELECT count(*) FROM sample)";
    let read = |archive: &Archive| -> (u32, u32) {
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        archive.connection.query_row(all, (), row).unwrap()
    };
    for entry in fs::read_dir(GOLDEN).unwrap() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.sqlite3");
        fs::copy(entry.unwrap().path(), &path).unwrap();
        let (seen, samples) = read(&Archive::open(&path).unwrap());
        assert!(samples > 0);
        assert_eq!(seen, samples);
    }
    let (_directory, mut archive) = archive();
    archive.insert(&golden_6()).unwrap();
    let (seen, samples) = read(&archive);
    assert_eq!(seen, samples);
}

/// What was measured before libraries could be chosen is what is measured when none is.
#[test]
fn the_library_of_older_versions_is_the_one_that_is_built_in() {
    let old = loads("archive-1.sqlite3").cases[0].case.clone();
    assert_eq!(old.stack, StackName::RAW);
    assert!(Selection::default().admits(old.parameters));
    let chosen = golden_5().cases[0].case.clone();
    assert!(!Selection::default().admits(chosen.parameters));
    assert_ne!(old.key(), chosen.key());
}

#[test]
fn what_cases_differ_in_stands_in_columns() {
    let (_directory, mut archive) = archive();
    archive.insert(&golden_6()).unwrap();
    let workers = "SELECT group_concat(worker) FROM (SELECT worker FROM case_ ORDER BY number)";
    let workers: String = archive
        .connection
        .query_row(workers, (), |row| row.get(0))
        .unwrap();
    assert_eq!(workers, "process,thread,thread,process");
    let libraries = "SELECT group_concat(coalesce(library, '-'))
                     FROM (SELECT library FROM case_ ORDER BY number)";
    let libraries: String = archive
        .connection
        .query_row(libraries, (), |row| row.get(0))
        .unwrap();
    assert_eq!(libraries, "libgcrypt,-,-,-");
    let ways = "SELECT group_concat(coalesce(openssl_way, '-'))
                FROM (SELECT openssl_way FROM case_ ORDER BY number)";
    let ways: String = archive
        .connection
        .query_row(ways, (), |row| row.get(0))
        .unwrap();
    assert_eq!(ways, "-,engine,-,-");
    let row = |number: u32| {
        let columns = "SELECT protection, ssh_agent, rate, think_s, code, code_number
                       FROM case_ WHERE number = ?1";
        type Columns = (
            String,
            Option<String>,
            Option<f64>,
            Option<f64>,
            Option<String>,
            Option<u32>,
        );
        let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Columns> {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
            ))
        };
        archive
            .connection
            .query_row(columns, [number], read)
            .unwrap()
    };
    let none = || "none".to_owned();
    let refused = (
        none(),
        None,
        None,
        None,
        Some("6982".to_owned()),
        Some(0x6982),
    );
    assert_eq!(row(1), refused);
    let agent = Some("gpg-agent".to_owned());
    assert_eq!(row(2), (none(), agent, None, Some(0.25), None, None));
}

fn parts() -> Parts {
    let mut sums = PartSums::default();
    sums.add(Part::Card, Duration::from_millis(99));
    sums.add(Part::Verify, Duration::from_millis(800));
    sums.means()
}
