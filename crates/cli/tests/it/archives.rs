//! Archives with something wrong in them, by the real binary: one bad run keeps no other back.

use std::fs;

use keymark_records::archive::{Archive, Unsent};
use keymark_records::exchange;
use keymark_testkit::place::{Place, SHORT};
use keymark_testkit::{assert_says, assert_silent};
use rusqlite::Connection;

use crate::KEYMARK;

/// A place with runs of these names.
fn with_runs(names: &[&str]) -> Place {
    let made = Place::new(KEYMARK);
    made.stdout(SHORT);
    let mut record = made.record();
    let place = Place::new(KEYMARK);
    for name in names {
        record["id"] = (*name).into();
        place.import(&record);
    }
    place
}

#[test]
fn a_damaged_run_is_named_and_hides_no_other() {
    let place = with_runs(&["good", "odd", "flipped"]);
    Connection::open(place.archive())
        .unwrap()
        .execute_batch(
            "PRAGMA ignore_check_constraints = true;
             UPDATE run SET state = 'odd' WHERE id = 'odd';
             UPDATE sample SET end_ns = end_ns + 1 WHERE number = 0 AND block IN
                 (SELECT block.id FROM block JOIN case_ ON case_ = case_.id WHERE run = 'flipped')",
        )
        .unwrap();
    let listed = place.ends("runs", 4);
    assert_says(&listed.stdout, ["good", "flipped"]);
    assert_silent(&listed.stdout, ["odd"]);
    assert_says(&listed.stderr, ["error: run odd of archive"]);
    assert_says(&place.stdout("show good"), ["ed25519"]);
    for run in ["odd", "flipped"] {
        let refused = place.refused(&format!("export {run} --format record"), 1);
        assert_says(&refused, [format!("error: run {run} of archive")]);
    }
    let (whole, copy) = (place.archive(), place.path("copy.sqlite3"));
    let (whole, copy) = (whole.display(), copy.display());
    let copied = place.ends(&format!("import {whole} --archive {copy}"), 5);
    assert_says(&copied.stdout, ["copied 1 run"]);
    let named = ["run flipped was not copied", "run odd of archive"];
    assert_says(&copied.stderr, named);
    let listed = place.stdout(&format!("runs --archive {copy}"));
    assert_says(&listed, ["good"]);
}

#[test]
fn a_run_is_removed_by_name_if_that_is_agreed_to() {
    let place = with_runs(&["a", "b", "c"]);
    let refused = place.refused("runs rm a", 2);
    assert_says(&refused, ["nothing was removed", "--yes"]);
    place.refused("runs rm a nowhere --yes", 1);
    assert_says(&place.stdout("runs"), ["a ", "b ", "c "]);
    assert_says(&place.stdout("runs rm a c --yes"), ["removed a, c"]);
    let listed = place.stdout("runs");
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn an_unsent_run_that_is_damaged_keeps_no_other_back() {
    let place = with_runs(&["a", "b", "c"]);
    let unsent = place.path("data/keymark/unsent");
    fs::create_dir_all(&unsent).unwrap();
    let to = place.path("team.sqlite3");
    for name in ["a", "b", "c"] {
        let file = place.path(name);
        let exported = place.stdout(&format!("export {name} --format record"));
        fs::write(&file, exported).unwrap();
        let record = exchange::import(&file).unwrap();
        let mut kept = Unsent::new(&unsent, &record.id, &to).unwrap();
        kept.archive.insert(&record).unwrap();
    }
    let torn = unsent.join("b/runs.sqlite3");
    let whole = fs::read(&torn).unwrap();
    for length in [1, 600, whole.len() / 2] {
        fs::write(&torn, &whole[..length]).unwrap();
        let pushed = place.ends("push", 1);
        let number = if length == 1 { 2 } else { 0 };
        assert_says(&pushed.stdout, [format!("sent {number} runs")]);
        assert_says(&pushed.stderr, ["unsent/b"]);
    }
    let to = Archive::open(&to).unwrap();
    let mut sent: Vec<String> = to.runs().unwrap().into_iter().map(|run| run.id.0).collect();
    sent.sort();
    assert_eq!(sent, ["a", "c"]);
}

#[test]
fn an_address_that_is_not_understood_makes_no_file() {
    let place = with_runs(&["a"]);
    let before = fs::read_dir(place.directory()).unwrap().count();
    for address in [
        "postgresql:jane:hunter2@db/team",
        "PostgreSQL:jane:hunter2@db/team",
        "mysql://jane:hunter2@db/team",
        "password=hunter2",
    ] {
        for command in ["runs --archive", "import"] {
            let refused = place.refused(&format!("{command} {address}"), 1);
            assert_says(&refused, ["is not understood"]);
            assert_silent(&refused, ["hunter2"]);
        }
    }
    assert_eq!(fs::read_dir(place.directory()).unwrap().count(), before);
}

/// A name of an archive that was typed wrong finds no run, and makes no file.
#[test]
fn who_only_reads_makes_no_archive() {
    let place = Place::new(KEYMARK);
    for (command, status) in [
        ("runs", 0),
        ("runs rm last --yes", 1),
        ("show last", 1),
        ("compare last~1 last", 1),
        ("export last --format csv", 1),
        ("share last -o shared.json", 1),
        ("twin make last -o twin.toml", 1),
        ("advise card", 0),
        ("capacity --service-time 40ms --rate 5/s", 0),
        ("bench --device software --algorithm ed25519 --dry-run", 0),
    ] {
        let ended = place.ends(command, status);
        assert!(!place.archive().exists(), "{command}");
        if command.contains("last") {
            assert_says(&ended.stderr, ["no measured run"]);
        }
    }
}
