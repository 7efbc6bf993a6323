//! `kill -9` at any moment of a run with every stack: nothing is left behind after the next start, and nothing
//! that was finished is lost. A few kills here, `make faults` for many.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::process::Stdio;
use std::time::Duration;

use keymark_report::archive::Archive;
use keymark_testkit::place::{Place, text};
use keymark_testkit::process::naming;
use keymark_testkit::waiting::until;
use rusqlite::Connection;

const KEYMARK: &str = env!("CARGO_BIN_EXE_keymark");
/// Kills, unless the environment says how many.
const KILLS: u32 = 6;
/// Longest time until a kill: from before the first directory to the middle of measuring.
const LATEST_MS: u32 = 4_000;
const LOOK: Duration = Duration::from_millis(20);
/// Blocks that are not there with all their samples.
const TORN: &str = "SELECT count(*) FROM block
                    WHERE samples <> (SELECT count(*) FROM sample WHERE block = block.id)";

/// Samples in the archive; none before there is one.
fn samples(place: &Place) -> u64 {
    let runs = place
        .archive()
        .exists()
        .then(|| Archive::open(&place.archive()));
    let runs = runs.and_then(|archive| archive.ok()?.runs().ok());
    runs.unwrap_or_default().iter().map(|run| run.samples).sum()
}

/// Runs and kills, `wait` after the start. Returns the samples that the archive had just before.
fn killed_after(place: &Place, wait: Duration) -> u64 {
    let run = "bench --device software,virtual --algorithm ed25519,cv25519 --stack raw,agent,gnupg,ssh \
               --precision 0.001% --max-time 60s";
    let arguments: Vec<&str> = run.split_whitespace().collect();
    let mut keymark = place.keymark(&arguments);
    let keymark = keymark.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = keymark.spawn().unwrap();
    let (mut waited, mut seen) = (Duration::ZERO, 0);
    while waited < wait {
        std::thread::sleep(LOOK);
        waited += LOOK;
        seen = samples(place);
    }
    assert!(child.try_wait().unwrap().is_none(), "it still measures");
    child.kill().unwrap();
    child.wait().unwrap();
    seen
}

fn next_start(place: &Place) {
    let next = "bench --algorithm ed25519 --stack raw --runs 1 --no-save";
    let next = place.output(&next.split_whitespace().collect::<Vec<_>>());
    assert!(next.status.success(), "{}", text(&next.stderr));
}

#[test]
fn a_kill_at_any_moment_leaves_and_loses_nothing() {
    let kills = std::env::var("KEYMARK_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let place = Place::new(KEYMARK);
    let mut measured = 0;
    for number in 0..kills {
        // Moments spread evenly, whatever their number (a Weyl sequence by the golden section).
        let share = (f64::from(number) * 0.618_033_988_75).fract();
        let wait = Duration::from_millis((share * f64::from(LATEST_MS)) as u64);
        let seen = killed_after(&place, wait);
        next_start(&place);
        assert!(
            place.leftovers().is_empty(),
            "{wait:?}: {:?}",
            place.leftovers()
        );
        until("no process is left", || naming(&place.temporary()) == 0);
        measured = samples(&place);
        assert!(measured >= seen, "{wait:?}: {measured} samples of {seen}");
    }
    assert!(measured > 0, "something was measured");
    let archive = Connection::open(place.archive()).unwrap();
    let ask = |question: &str| archive.query_row(question, (), |row| row.get(0));
    assert_eq!(ask(TORN), Ok(0));
    let check: String = archive
        .query_row("PRAGMA integrity_check", (), |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}
