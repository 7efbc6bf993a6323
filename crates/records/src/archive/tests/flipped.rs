//! Bits that a disk or a copy has changed.

use std::fs;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::*;
use super::{started, with_either};
use keymark_bench::record::RunState;

const FLIPS: u32 = 300;

/// A run is what it was, or it is said that it is not.
#[test]
fn no_bit_that_is_flipped_changes_a_run_unseen() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runs.sqlite3");
    let runs = ["a", "b"].map(|id| started(id, 1, RunState::Finished));
    let mut archive = Archive::open(&path).unwrap();
    for run in &runs {
        archive.insert(run).unwrap();
    }
    drop(archive);
    let whole = fs::read(&path).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(29);
    let mut found = 0;
    for _ in 0..FLIPS {
        let mut flipped = whole.clone();
        let (at, bit) = (rng.random_range(0..flipped.len()), rng.random_range(0..8));
        flipped[at] ^= 1 << bit;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("runs.sqlite3");
        fs::write(&path, flipped).unwrap();
        for run in &runs {
            let read = Archive::open(&path)
                .and_then(|archive| archive.load(&RunSelector::Id(run.id.0.clone())));
            match read {
                Ok(read) => assert_eq!(read, *run, "bit {bit} of octet {at}"),
                Err(_) => found += 1,
            }
        }
    }
    assert!(found > 0, "no flip was in anything that is read");
}

/// Columns and rows that an export has.
const CHANGES: [&str; 16] = [
    "UPDATE sample SET end_ns = end_ns + 1 WHERE number = 0",
    "UPDATE sample SET end_ns = -1",
    "UPDATE sample SET user_us = 1, system_us = 1 WHERE number = 0",
    "UPDATE block SET round = round + 1",
    "UPDATE block SET reference_ns = 1",
    "DELETE FROM sample WHERE number = 0",
    "DELETE FROM block WHERE id = (SELECT max(id) FROM block)",
    "DELETE FROM case_ WHERE number = 1",
    r#"UPDATE case_ SET "case" = '{"device":"d","algorithm":"rsa2048","operation":"sign","replica":0}' WHERE number = 0"#,
    "UPDATE case_ SET ending = '[1]'",
    "UPDATE case_ SET number = number + 10 WHERE number = 2",
    "UPDATE run SET plan = '{}'",
    "UPDATE run SET keymark = 'another'",
    "UPDATE run SET state = 'interrupted'",
    "UPDATE run SET harness = NULL",
    "UPDATE run SET started_utc = '2025-01-01T00:00:00.000000000Z'",
];

with_either!(a_changed_run_is_named);

fn a_changed_run_is_named(archive: &mut Archive) {
    for (number, change) in CHANGES.iter().enumerate() {
        let id = format!("run-{number:02}");
        archive
            .insert(&started(&id, 1, RunState::Finished))
            .unwrap();
        archive.database.execute(change, &[]).unwrap();
        let refused = archive.load(&RunSelector::Id(id.clone())).unwrap_err();
        assert!(
            matches!(&refused, ArchiveError::DamagedRun { run, .. } if *run == id),
            "{change}: {refused:?}"
        );
    }
    assert_eq!(archive.runs().unwrap().len(), CHANGES.len());
}
