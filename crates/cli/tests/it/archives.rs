//! Archives with something wrong in them, by the real binary: one bad run keeps no other back.

use std::fs;

use keymark_records::archive::{Archive, Unsent};
use keymark_records::exchange;
use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, SHORT};
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

fn said(place: &Place, arguments: &str, status: i32) -> (String, String) {
    let ended = place.ends(arguments, status);
    (ended.stdout, ended.stderr)
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
    let (listed, refused) = said(&place, "runs", 4);
    assert_says(&listed, ["good", "flipped"]);
    assert!(!listed.contains("odd"), "{listed}");
    assert_says(&refused, ["error: run odd of archive"]);
    assert_says(&said(&place, "show good", 0).0, ["ed25519"]);
    for (run, status) in [("odd", 1), ("flipped", 1)] {
        let (_, refused) = said(&place, &format!("export {run} --format record"), status);
        assert_says(&refused, [format!("error: run {run} of archive")]);
    }
    let copy = place.path("copy.sqlite3");
    let command = format!(
        "import {} --archive {}",
        place.archive().display(),
        copy.display()
    );
    let (done, refused) = said(&place, &command, 5);
    assert_says(&done, ["copied 1 run"]);
    assert_says(
        &refused,
        ["run flipped was not copied", "run odd of archive"],
    );
    let (listed, _) = said(&place, &format!("runs --archive {}", copy.display()), 0);
    assert_says(&listed, ["good"]);
}

#[test]
fn a_run_is_removed_by_name_if_that_is_agreed_to() {
    let place = with_runs(&["a", "b", "c"]);
    let (_, refused) = said(&place, "runs rm a", 2);
    assert_says(&refused, ["nothing was removed", "--yes"]);
    said(&place, "runs rm a nowhere --yes", 1);
    assert_says(&said(&place, "runs", 0).0, ["a ", "b ", "c "]);
    let (done, _) = said(&place, "runs rm a c --yes", 0);
    assert_says(&done, ["removed a, c"]);
    let (listed, _) = said(&place, "runs", 0);
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
        fs::write(
            &file,
            place.stdout(&format!("export {name} --format record")),
        )
        .unwrap();
        let record = exchange::import(&file).unwrap();
        let mut kept = Unsent::new(&unsent, &record.id, &to).unwrap();
        kept.archive.insert(&record).unwrap();
    }
    let torn = unsent.join("b/runs.sqlite3");
    let whole = fs::read(&torn).unwrap();
    for length in [1, 600, whole.len() / 2] {
        fs::write(&torn, &whole[..length]).unwrap();
        let (done, refused) = said(&place, "push", 1);
        let number = if length == 1 { 2 } else { 0 };
        assert_says(&done, [format!("sent {number} runs")]);
        assert_says(&refused, ["unsent/b"]);
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
            let (_, refused) = said(&place, &format!("{command} {address}"), 1);
            assert_says(&refused, ["is not understood"]);
            assert!(!refused.contains("hunter2"), "{refused}");
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
